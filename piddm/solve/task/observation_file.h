#pragma once
// Observations from a file:
//
//   fields    .npz or .safetensors with [N,H,W] arrays under the channels' names, physical units. A channel may be
//             missing (unknown), hold NaN where it is unknown, or be complete. sigma_<channel> ([N,H,W] or one number)
//             is the standard deviation of the noise of its values.
//   sensors   .csv, or .npz with an array "value": a list of values with their places (sensor_list.h)
//
// The task selects: forward takes the coefficient channels, inverse the solution channels (and coefficients that are
// given then), reconstruct every known entry of the fields. A file of fields in which nothing is unknown is taken as
// the truth, and the task hides what it asks for.

#include <filesystem>
#include <optional>

#include "piddm/solve/task/task.h"

namespace piddm {

struct ObservationFile {
  Observation observation;
  Tensor truth;                   ///< the whole samples, where the file has them; else undefined
  Task task = Task::reconstruct;  ///< as given, or what follows from the channels that are known
};

/// The first `n` samples of the file (0: all). Nothing known, wrong shapes, infinite values or a description that names
/// another PDE are DataErrors. `options` say what a task reveals of complete samples. Without a task everything in the
/// file counts, and the task follows: of coefficients alone forward, of solutions alone inverse (beside coefficients
/// given then), else reconstruct; a file of complete samples is then a UsageError.
ObservationFile read_observation(const std::filesystem::path& file, std::optional<Task> task, const Pde& pde,
                                 uint64_t seed, const ObserveOptions& options = {}, int64_t n = 0);

}  // namespace piddm
