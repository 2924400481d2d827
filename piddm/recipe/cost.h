#pragma once
// How long steps of a recipe may take on this machine: counted network evaluations times the seconds one takes,
// measured once for each network and precision on a batch of a few samples. Meant to tell minutes from hours.

#include "piddm/experiment/experiment.h"
#include "piddm/solve/task/task.h"

namespace piddm {

/// Seconds a sample of one evaluation of the experiment's network: without a gradient, and forward and backward.
struct NetworkRates {
  double forward, gradient;
};
NetworkRates measure_rates(const Experiment& experiment, Precision precision, torch::Device device);

double expected_data_seconds(const Experiment& experiment, int64_t n);
double expected_training_seconds(const Experiment& experiment, bool pidm, torch::Device device);
double expected_distillation_seconds(const Experiment& experiment, torch::Device device);
double expected_sampling_seconds(const Experiment& experiment, const std::string& method, const json& options,
                                 Task task, int64_t n, torch::Device device);

/// Bytes the largest training batch of the experiment takes.
int64_t expected_bytes(const Experiment& experiment);

}  // namespace piddm
