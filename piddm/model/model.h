#pragma once
// A trained model: network, process, normaliser and PDE together, and its folder on disk.
//
//   MODEL/config.json        everything but the weights: kind, pde, process, network, heads, normaliser, training,
//                            provenance; SHA-256 of the weights; a document of files/json_file.h
//   MODEL/model.safetensors  the weights, float32, complex ones as real pairs
//
// A run folder holds its finished model under RUN/model; load_model takes either.

#include <filesystem>
#include <string>

#include "piddm/core/rng.h"
#include "piddm/data/normalizer.h"
#include "piddm/model/network.h"
#include "piddm/pde/pde.h"
#include "piddm/process/process.h"

namespace piddm {

constexpr int64_t kMostCorrections = 100, kMostEvaluations = 16;

/// What turns the raw clean estimate of a student into its output; all off is the paper's plain student. Without heads
/// white noise leaks through the pointwise path of the FNO straight into u, where the residual amplifies it.
struct HeadOptions {
  int64_t evaluations = 1;    ///< of the network: Euler steps before the clean estimate; 1: the clean estimate at t = 1
  bool band_limited = false;  ///< latent reduced to the Fourier modes the network keeps
  int64_t band_modes = 0;     ///< or to fewer; 0: the network's
  /// u <- S (1 + lambda/lambda_c)^-1 S u, S the sine transform: smooth, and exactly zero on the wall.
  bool smooth = false;
  /// lambda_c = (pi smooth_modes)^2: an error in the network's output has a residual at most lambda_c times as large.
  double smooth_modes = 3;
  bool bounded = false;  ///< two-valued coefficient: a <- mid + half tanh(gain (a - mid)/half)
  double bounded_gain = 2;
  bool sharp = false;     ///< the bounded coefficient cut to the nearer of its two values; gradients as if it were not
  bool constant = false;  ///< scalar channels replaced by their spatial mean
  /// u moved towards the solution for the student's own coefficients by this many iterations of the PDE's fast solver
  /// (Pde::correct); 0: off.
  int64_t corrector = 0;
  bool constrained = false;  ///< the PDE's hard constraint imposed on the output

  template <class V>
  void fields(V&& f) {
    f("evaluations", evaluations, between(1, kMostEvaluations),
      "evaluations of the network: Euler steps and an estimate");
    f("band_limited", band_limited, "keep only the network's own Fourier modes of the latent");
    f("band_modes", band_modes, at_least(0), "modes per axis that band_limited keeps; 0: the network's");
    f("smooth", smooth, "smooth head for solutions that vanish on the wall");
    f("smooth_modes", smooth_modes, more_than(0), "cut-off mode of the smooth head");
    f("bounded", bounded, "bounded head for two-valued coefficients");
    f("bounded_gain", bounded_gain, more_than(0), "slope of the bounded head at the midpoint");
    f("sharp", sharp, "the bounded coefficient is cut to its two values, with the gradient of the bounded head");
    f("constant", constant, "scalar channels are constant in space");
    f("corrector", corrector, between(0, kMostCorrections),
      "iterations of preconditioned conjugate gradients on the sample's own coefficients; 0: off");
    f("constrained", constrained, "the output satisfies the PDE's hard constraint (walls, initial slices, means)");
  }
};

/// The noise that tells the draws of a posterior apart (posterior/noise.h).
struct DrawOptions {
  int64_t smooth = 4;
  int64_t modes = 16;
  int64_t white = 0;

  template <class V>
  void fields(V&& f) {
    f("smooth", smooth, between(0, 64), "channels of smooth noise");
    f("modes", modes, between(1, 1024), "cosine modes of it along each axis");
    f("white", white, between(0, 64), "channels of white noise");
  }
  int64_t channels() const { return smooth + white; }
};

/// posterior: the amortised student d(e, y), which answers observations y (posterior/posterior_student.h).
enum class ModelKind { teacher, student, posterior };
inline std::vector<std::string> enum_names(ModelKind) { return {"teacher", "student", "posterior"}; }

/// What methods and tables ask about how a model was trained.
struct Training {
  double lambda = 10;           ///< weight of the physics in its distillation; the paper's where it is not known
  double residual_lambda = 0;   ///< weight of the residual in a teacher's own training (PIDM); 0: trained without
  double seconds = 0;           ///< wall time of training on one device, its teacher's included; 0: not known
  json solve = json::object();  ///< options of the student's own method that suit this student

  template <class V>
  void fields(V&& f) {
    f("lambda", lambda, "weight of the physics in the distillation");
    f("residual_lambda", residual_lambda, "weight of the residual in the teacher's training");
    f("seconds", seconds, "wall time of training, the teacher's included; 0: not known");
    f("solve", solve, "options of the student's own method");
  }
};

struct Model {
  ModelKind kind = ModelKind::teacher;
  PdePtr pde;
  ProcessPtr process;
  Normalizer normalizer;
  NetworkPtr network;
  HeadOptions heads;  ///< of students and posteriors
  DrawOptions draw;   ///< of posteriors
  /// Students on another grid than their own (grid_transfer.h): the own one.
  std::optional<GridSize> latent_grid;
  Training training;
  json provenance = json::object();  ///< the experiment, machine and steps that made it: a record, not read by methods

  /// White noise of samples first..first+count-1, [count,C,H,W] float32 on the network's device, on the PDE's grid or
  /// `latent_grid`.
  Tensor latents(uint64_t seed, Stream stream, int64_t first, int64_t count) const;
  torch::Device device() const;

  /// What Network::bytes_per_sample says of samples of this PDE, of all the student's evaluations with a gradient.
  int64_t bytes_per_sample(bool gradient) const;
};

/// A ResourceError where a batch, the value of `option`, cannot fit into memory. It is there for slips of the pen: a
/// sample counts as a quarter of bytes_per_sample and `extra_bytes`, which the leanest forms of the networks get by
/// with.
void require_batch(const std::string& option, int64_t batch, const Model& model, bool gradient,
                   int64_t extra_bytes = 0);

void save_model(const std::filesystem::path& folder, const Model& model);

/// A model that another process replaces meanwhile is read whole, the old one or the new one. No network is built that
/// is more than twice as large as the weights there are.
Model load_model(const std::filesystem::path& path, torch::Device device = torch::kCPU);

/// The same model with a network of its own (weights copied).
Model clone_model(const Model& model);

}  // namespace piddm
