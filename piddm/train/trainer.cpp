#include "piddm/train/trainer.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>

#include "piddm/core/interrupt.h"
#include "piddm/core/log.h"
#include "piddm/core/progress.h"
#include "piddm/model/network.h"
#include "piddm/model/weights.h"
#include "piddm/train/gpu_step.h"

namespace piddm {

namespace {

const std::string kBestPart = "best";             // weights of the best step in a checkpoint
const std::string kObjectivePart = "objective-";  // before the names of its parts in a checkpoint

constexpr double kRise = 0.2;               // share of the steps in which one_cycle rises
constexpr double kLeastImprovement = 1e-3;  // relative gain that counts
constexpr int kKeptCheckpoints = 2;

constexpr int64_t kRecords = 3;  // of a step: a line of metrics, a snapshot, the held-out loss

/// What a checkpoint keeps of the loop itself.
struct LoopState {
  double seconds = 0, last_loss = 0;
  bool stopped = false;
  double best_value = 0;
  int64_t best_step = 0, without_gain = 0;
  int threads = at::get_num_threads();
  json line = json::object();
  int64_t written = kRecords;

  template <class V>
  void fields(V&& f) {
    f("seconds", seconds, "of training so far");
    f("last_loss", last_loss, "loss of the last step");
    f("stopped", stopped, "whether training stopped early");
    f("best_value", best_value, "lowest held-out loss");
    f("best_step", best_step, "and its step");
    f("without_gain", without_gain, "looks since then");
    f("threads", threads, "of the process that trained");
    f("line", line, "of the last step for the metrics; {} where it has none");
    f("written", written, "records of the last step that are in the run folder: line, snapshot, held-out loss");
  }
};

/// While it lives, the network has its moving average for weights.
class AverageInPlace {
 public:
  explicit AverageInPlace(Adam& adam) : adam_(adam) { adam_.swap_ema(); }
  ~AverageInPlace() { adam_.swap_ema(); }
  AverageInPlace(const AverageInPlace&) = delete;
  AverageInPlace& operator=(const AverageInPlace&) = delete;

 private:
  Adam& adam_;
};

class Trainer {
 public:
  Trainer(torch::nn::Module& network, Objective& objective, const TrainOptions& options, RunFolder& run,
          const SnapshotWriter& snapshot)
      : network_(network),
        objective_(objective),
        options_(options),
        run_(run),
        snapshot_(snapshot),
        precision_(network, options.precision),
        adam_(network, options.adam),
        store_(run.checkpoints(kKeptCheckpoints)) {
    restore();
    if (adam_.fits_gpu_step()) gpu_.emplace(objective, adam_, options.graph);
  }

  TrainSummary run(const std::string& label) {
    Progress progress(label, options_.steps, step_);
    keep_records();
    while (step_ < options_.steps && !loop_.stopped) {
      if (interrupt_requested()) stop_for_signal();
      one_step(progress);
    }
    save();
    finish();
    return summary();
  }

 private:
  using Clock = std::chrono::steady_clock;

  TrainSummary summary() const {
    return {step_, best_.empty() ? step_ : loop_.best_step, loop_.seconds, loop_.last_loss, loop_.stopped};
  }

  bool due(int64_t every) const { return every > 0 && step_ % every == 0; }

  void one_step(Progress& progress) {
    const auto begin = Clock::now();
    const double lr = learning_rate(options_, step_);
    try {
      if (gpu_) {
        gpu_->run(step_, lr);
        unread_ = true;
      } else {
        step_on_host(lr);
      }
    } catch (const Error& error) {
      stop_if_signalled(error);
      throw;
    }
    ++step_;
    loop_.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    if (objective_.keeps_state()) advance_objective();

    const bool recorded = due(options_.log_every) || step_ == options_.steps;
    if (recorded || step_ == 1) read_values();
    loop_.line = recorded ? line_of_step(lr) : json::object();
    progress.advance(1, fmt::format("loss {:.4g}", loop_.last_loss));
    loop_.written = 0;
    keep_records();
    if (due(options_.checkpoint_every)) save();
  }

  /// What step step_ leaves in the run folder. A file that cannot be written (a full disk, a size limit) does not cost
  /// the steps since the last checkpoint, and what it should have got is written when the run continues.
  void keep_records() {
    using Record = void (Trainer::*)();
    static constexpr Record records[kRecords] = {&Trainer::write_line, &Trainer::take_snapshot, &Trainer::validate};
    try {
      for (; loop_.written < kRecords; ++loop_.written) (this->*records[loop_.written])();
    } catch (const ResourceError&) {
      save();
      throw;
    } catch (const Error& error) {
      stop_if_signalled(error);
      throw;
    }
  }

  /// Loss, terms and gradient norm of step step_, the gradient in place; fails if one is not finite.
  StepValues differentiate() {
    adam_.zero_grad();
    objective_.prepare(step_);
    const auto loss = objective_.loss(step_);
    StepValues values{loss.total.item<double>(), 0, {}};
    for (const auto& [name, value] : loss.terms) values.terms.emplace_back(name, value.item<double>());
    if (!std::isfinite(values.loss)) fail(non_finite_term(values));
    loss.total.backward();
    values.gradient_norm = adam_.gradient_norm();
    if (!std::isfinite(values.gradient_norm)) fail(non_finite_gradient());
    return values;
  }

  /// None of them alone where only the sum of squares is too large.
  std::string non_finite_gradient() const {
    const auto name = adam_.non_finite_gradient();
    return name.empty() ? "the norm of the gradient" : "the gradient of '" + name + "'";
  }

  void step_on_host(double lr) {
    values_ = differentiate();
    loop_.last_loss = values_.loss;
    adam_.step(step_ + 1, lr, values_.gradient_norm);
  }

  /// On a GPU not before the step is known to have succeeded: a failed one leaves the state as it was.
  void advance_objective() {
    read_values();
    const auto begin = Clock::now();
    objective_.advance(step_ - 1);
    loop_.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  }

  /// Waits for the GPU, if there is anything to wait for; fails if a step since the last call was not finite.
  void read_values() {
    if (!unread_) return;
    const auto begin = Clock::now();
    unread_ = false;
    const auto failed = gpu_->failed();
    loop_.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    if (failed) fail_again(*failed);
    values_ = gpu_->values();
    loop_.last_loss = values_.loss;
  }

  /// The weights are still those before step `step`: doing it once more tells what was not finite.
  [[noreturn]] void fail_again(int64_t step) {
    step_ = step;
    loop_.written = kRecords;
    save();
    differentiate();
    fail("the loss or its gradient");
  }

  json line_of_step(double lr) const {
    json row = {{"step", step_}, {"loss", loop_.last_loss}};
    for (const auto& [name, value] : values_.terms) row[name] = value;
    row.update({{"lr", lr}, {"gradient_norm", values_.gradient_norm}, {"seconds", loop_.seconds}});
    return row;
  }

  void write_line() {
    if (!loop_.line.empty()) run_.append_metrics(loop_.line);
  }

  void take_snapshot() {
    if (std::count(options_.snapshots.begin(), options_.snapshots.end(), step_) == 0) return;
    read_values();
    auto so_far = summary();
    so_far.best_step = step_;  // the average of this step, whatever was best
    snapshot_(so_far, adam_.ema());
  }

  void validate() {
    if (!due(options_.validate_every)) return;
    read_values();
    const auto value = [&] {
      const AverageInPlace average(adam_);
      return objective_.validate();
    }();
    if (!value) return;
    if (!std::isfinite(*value)) fail("the held-out loss");
    run_.append_metrics({{"step", step_}, {"held_out", *value}});
    if (best_.empty() || *value < loop_.best_value * (1 - kLeastImprovement)) {
      loop_.best_value = *value;
      loop_.best_step = step_;
      best_ = adam_.ema();
      loop_.without_gain = 0;
    } else if (options_.patience > 0 && ++loop_.without_gain >= options_.patience) {
      loop_.stopped = true;
    }
  }

  static std::string non_finite_term(const StepValues& values) {
    for (const auto& [name, value] : values.terms)
      if (!std::isfinite(value)) return "the term '" + name + "'";
    return "the loss";
  }

  [[noreturn]] void fail(const std::string& what) {
    save();
    throw NumericsError(
        "step {}: {} is not finite; the last good state is {}/checkpoints/step-{}. A smaller train.adam.lr usually "
        "helps",
        step_, what, run_.path().string(), step_);
  }

  /// A signal may be noticed by a long computation inside the objective.
  void stop_if_signalled(const Error& error) {
    if (interrupt_requested() || error.code() == ExitCode::interrupted) stop_for_signal();
  }

  [[noreturn]] void stop_for_signal() {
    save();
    throw_interrupted(fmt::format("at step {}; saved in {}, continue with --resume", step_, run_.path().string()));
  }

  void save() {
    read_values();
    if (step_ == saved_) return;
    Checkpoint checkpoint{step_, adam_.state(), {}};
    if (!best_.empty()) checkpoint.parts[kBestPart] = best_;
    for (const auto& [name, part] : objective_.state()) checkpoint.parts[kObjectivePart + name] = part;
    checkpoint.state = write_fields(loop_);
    store_.save(checkpoint);
    saved_ = step_;
  }

  void restore() {
    const auto latest = store_.latest();
    if (!latest) return run_.truncate_metrics(0);  // killed before the first checkpoint: begin again
    const auto checkpoint = store_.load(*latest);
    store_.prune(*latest);
    adam_.load(checkpoint.parts);
    load_objective(checkpoint.parts);
    step_ = saved_ = checkpoint.step;
    if (const auto best = checkpoint.parts.find(kBestPart); best != checkpoint.parts.end()) best_ = best->second;
    read_fields(checkpoint.state, loop_, "checkpoint");
    if (const int now = at::get_num_threads(); loop_.threads != now) {
      spdlog::warn(
          "this run was begun with {} thread(s) and continues with {}: the result will differ in the last bits",
          loop_.threads, now);
      loop_.threads = now;
    }
    run_.truncate_metrics(step_);
  }

  void load_objective(const std::map<std::string, TensorMap>& parts) {
    if (!objective_.keeps_state()) return;
    ObjectiveState state;
    for (const auto& [name, part] : parts)
      if (name.rfind(kObjectivePart, 0) == 0) state[name.substr(kObjectivePart.size())] = part;
    objective_.load(state);
  }

  void finish() { load_weights(network_, best_.empty() ? adam_.ema() : best_, "moving average"); }

  torch::nn::Module& network_;
  Objective& objective_;
  TrainOptions options_;
  RunFolder& run_;
  const SnapshotWriter& snapshot_;
  PrecisionScope precision_;
  Adam adam_;
  CheckpointStore store_;
  std::optional<GpuStep> gpu_;
  bool unread_ = false;  ///< whether the GPU has made steps that nobody has looked at
  StepValues values_;

  int64_t step_ = 0, saved_ = -1;
  LoopState loop_;
  TensorMap best_;
};

}  // namespace

TrainOptions TrainOptions::continued_with(const TrainOptions& later) const {
  auto out = later;
  out.batch = batch;
  out.schedule = schedule;
  return out;
}

void check_training(const TrainOptions& options, const std::string& path) {
  check_bounds(options, path);
  for (const int64_t step : options.snapshots)
    require<UsageError>(step <= options.steps, "{}.snapshots: must be between 1 and {}.steps = {}, got {}", path, path,
                        options.steps, step);
}

double learning_rate(const TrainOptions& o, int64_t step) {
  if (o.schedule == ScheduleKind::constant) return o.adam.lr;
  const auto cosine = [](double from, double to, double share) {
    return to + (from - to) * 0.5 * (1 + std::cos(std::numbers::pi * share));
  };
  const double peak = kRise * static_cast<double>(o.steps), s = static_cast<double>(step);
  if (s < peak) return cosine(o.adam.lr / 25, o.adam.lr, s / peak);
  return cosine(o.adam.lr, o.adam.lr / 1e4, (s - peak) / (static_cast<double>(o.steps) - peak));
}

TrainSummary train(torch::nn::Module& network, Objective& objective, const TrainOptions& options, RunFolder& run,
                   const std::string& label, const SnapshotWriter& snapshot) {
  check_training(options, "train");
  require<UsageError>(options.snapshots.empty() || snapshot, "train.snapshots: this training keeps none");
  return Trainer(network, objective, options, run, snapshot).run(label);
}

}  // namespace piddm
