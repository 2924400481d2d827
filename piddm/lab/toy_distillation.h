#pragma once
// Distillation of a toy's teacher into a one-step student d(e), and its latent refinement.
//
//   L = mean_i ( |d(e_i) - x_i|^2 + lambda F(d(e_i)) )         norms are sums over the entries of a sample
//   refinement: e <- argmin lambda F(d(e)), L-BFGS with strong Wolfe line search, each sample on its own

#include <filesystem>

#include "piddm/lab/toy_samplers.h"
#include "piddm/model/mlp.h"
#include "piddm/numerics/lbfgs.h"
#include "piddm/train/batches.h"
#include "piddm/train/trainer.h"

namespace piddm {

/// The student's answer d(e); a student has no time, t = 1 stands in its place.
Tensor student_output(Network& student, const Tensor& e);

class ToyDistillation : public Objective {
 public:
  /// Latents and targets [N,D,1,1], float32.
  ToyDistillation(Network& student, Tensor latents, Tensor targets, SampleLoss constraint, double lambda, int64_t batch,
                  uint64_t seed);
  Loss loss(int64_t step) override;

 private:
  Network& student_;
  Tensor latents_, targets_;
  SampleLoss constraint_;
  double lambda_;
  BatchOrder order_;
};

/// Trains in the run folder `run`, continued if there is one, and leaves the weights in the student.
TrainSummary distill_toy(Mlp& student, ToyDistillation& objective, const TrainOptions& options,
                         const std::filesystem::path& run, const std::string& label);

/// Latents for which lambda F(d(e)) is small.
Tensor refine_latents(Network& student, const SampleLoss& constraint, double lambda, const LbfgsOptions& options,
                      const Tensor& e);

}  // namespace piddm
