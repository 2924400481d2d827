#pragma once
// The Well's HDF5 layout: groups dimensions, boundary_conditions, scalars and t0_fields, fields [sample, time, x, y] in
// which the axes that an attribute (sample_varying, time_varying, dim_varying) calls constant are missing.
//
// We write one file per data set. Problems in x and t have one space dimension, fields [N,T,X]; in x and y two. What is
// constant is stored as constant: a scalar channel as scalars/name [N], a coefficient that does not depend on time
// without a time axis. Channels NAME and NAME0 of a problem in x and y are one field at two times. Our description goes
// along as the attribute "description", so that the way back needs no guess.

#include "piddm/data/dataset.h"
#include "piddm/data/formats/hdf5.h"
#include "piddm/data/formats/import_presets.h"

namespace piddm {

/// One channel for each scalar field and each scalar; a field of time and two dimensions gives its last frame, as NAME,
/// and its first, as NAME0.
ImportPlan import_well(const ArraySet& arrays);

/// Fields in `dtype` (The Well itself has float32 only).
Hdf5Content well_content(const Dataset& dataset, torch::ScalarType dtype);

}  // namespace piddm
