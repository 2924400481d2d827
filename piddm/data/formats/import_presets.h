#pragma once
// Whose files `data import` knows by name, and how their arrays become our channels.
//
//   fno           FNO's MAT files: Darcy coeff, sol [N,421,421]; Navier-Stokes a [N,x,y], u [N,x,y,t] (w is the frame
//                 at t = 1); Burgers a, u [N,8192] (only the state at t = 1: not our burgers)
//   diffusionpde  Darcy thresh_a_data, thresh_p_data; Poisson f_data, phi_data; Helmholtz f_data, psi_data; Burgers
//                 input [N,x], output [N,t,x]; Navier-Stokes a [N,x,y], u [N,x,y,10] (w is the last frame, t = 1)
//   eci           Navier-Stokes a [nw,x,y], f [nf,x,y], u [nw,nf,x,y,t]: every pair is a sample, w is the frame at
//                 t = 1, phi the phase of f; Darcy sol [N,x,y] (solutions only)
//   pidm          p_data.csv and K_data.csv, one flattened square field per row (its own Darcy problem: no PDE of ours)
//   pdebench      tensor [N,t,x] of 1-D problems; nu [N,x,y] and tensor [N,1,x,y] of Darcy (other constants than ours)
//   well          The Well: t0_fields/*, scalars/*; with time and two space axes the first and the last frame
//   piddm         a data set of ours in any of the formats (what import takes when no preset is named)

#include "piddm/core/registry.h"
#include "piddm/data/description.h"
#include "piddm/data/formats/channel_rule.h"

namespace piddm {

struct ImportPlan {
  std::string pde = {};  ///< of ours, "" where none fits
  std::vector<ChannelRule> rules = {};
  std::vector<std::string> notes = {};  ///< what a user should know
  DataDescription description = {};     ///< more to put into the data set's description
};

/// A DataError says which arrays a preset looks for when they are not there.
const Registry<ImportPlan(const ArraySet&)>& import_presets();

}  // namespace piddm
