#include "piddm/train/trainer.h"

#include <ATen/Parallel.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>

#include "piddm/core/interrupt.h"
#include "piddm/core/log.h"
#include "piddm/core/progress.h"
#include "piddm/model/weights.h"

namespace piddm {

namespace {

void check_options(const TrainOptions& o) {
  require<UsageError>(o.steps >= 1, "train.steps: must be at least 1, got {}", o.steps);
  require<UsageError>(o.batch >= 1, "train.batch: must be at least 1, got {}", o.batch);
  require<UsageError>(o.adam.lr > 0, "train.adam.lr: must be positive, got {}", o.adam.lr);
  require<UsageError>(o.adam.ema >= 0 && o.adam.ema < 1, "train.adam.ema: must be in [0,1), got {}", o.adam.ema);
  require<UsageError>(o.warmup > 0 && o.warmup < 1, "train.warmup: must be between 0 and 1, got {}", o.warmup);
  require<UsageError>(o.log_every >= 1 && o.checkpoint_every >= 1,
                      "train: log_every and checkpoint_every must be at least 1");
}

class Trainer {
 public:
  Trainer(torch::nn::Module& network, Objective& objective, const TrainOptions& options, RunFolder& run)
      : network_(network),
        objective_(objective),
        options_(options),
        run_(run),
        adam_(network, options.adam),
        store_(run.checkpoints(static_cast<int>(options.keep_checkpoints))) {
    restore();
  }

  TrainSummary run(const std::string& label) {
    Progress progress(label, options_.steps, step_);
    while (step_ < options_.steps && !stopped_) {
      if (interrupt_requested()) stop_for_signal();
      one_step(progress);
    }
    if (step_ != saved_) save();
    finish();
    return {step_, best_.empty() ? step_ : best_step_, seconds_, last_loss_, stopped_};
  }

 private:
  using Clock = std::chrono::steady_clock;

  void one_step(Progress& progress) {
    const auto begin = Clock::now();
    adam_.zero_grad();
    const auto loss = loss_of_step();
    const double value = loss.total.item<double>();
    if (!std::isfinite(value)) fail(non_finite_term(loss));
    loss.total.backward();
    const double norm = adam_.gradient_norm();
    if (!std::isfinite(norm)) fail("the gradient of '" + adam_.non_finite_gradient() + "'");
    const double lr = learning_rate(options_, step_);
    adam_.step(++step_, lr, norm);
    last_loss_ = value;
    seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();

    if (step_ % options_.log_every == 0 || step_ == options_.steps) record(loss, lr, norm);
    progress.advance(1, fmt::format("loss {:.4g}", last_loss_));
    if (options_.validate_every > 0 && step_ % options_.validate_every == 0) validate();
    if (step_ % options_.checkpoint_every == 0) save();
  }

  Loss loss_of_step() {
    try {
      return objective_.loss(step_);
    } catch (const Interrupted&) {  // noticed by a long computation inside the objective
      stop_for_signal();
    }
  }

  void record(const Loss& loss, double lr, double norm) {
    json row = {{"step", step_}, {"loss", last_loss_}};
    for (const auto& [name, value] : loss.terms) row[name] = value.item<double>();
    row["lr"] = lr;
    row["gradient_norm"] = norm;
    row["seconds"] = seconds_;
    run_.append_metrics(row);
  }

  void validate() {
    adam_.swap_ema();
    const auto value = objective_.validate();
    adam_.swap_ema();
    if (!value) return;
    if (!std::isfinite(*value)) fail("the held-out loss");
    run_.append_metrics({{"step", step_}, {"held_out", *value}});
    if (best_.empty() || *value < best_value_ * (1 - options_.min_improvement)) {
      best_value_ = *value;
      best_step_ = step_;
      best_ = adam_.ema();
      without_gain_ = 0;
    } else if (options_.patience > 0 && ++without_gain_ >= options_.patience) {
      stopped_ = true;
    }
  }

  static std::string non_finite_term(const Loss& loss) {
    for (const auto& [name, value] : loss.terms)
      if (!all_finite(value)) return "the term '" + name + "'";
    return "the loss";
  }

  [[noreturn]] void fail(const std::string& what) {
    if (step_ != saved_) save();
    throw NumericsError(
        "step {}: {} is not finite; the last good state is {}/checkpoints/step-{}. A smaller train.adam.lr usually "
        "helps",
        step_, what, run_.path().string(), step_);
  }

  [[noreturn]] void stop_for_signal() {
    if (step_ != saved_) save();
    throw Interrupted("interrupted at step {}; saved in {}, continue with --resume", step_, run_.path().string());
  }

  void save() {
    Checkpoint checkpoint{step_, adam_.state(), {}};
    if (!best_.empty()) checkpoint.parts["best"] = best_;
    checkpoint.state = {{"seconds", seconds_},
                        {"last_loss", last_loss_},
                        {"stopped", stopped_},
                        {"best_value", best_value_},
                        {"best_step", best_step_},
                        {"without_gain", without_gain_},
                        {"threads", at::get_num_threads()}};
    store_.save(checkpoint);
    saved_ = step_;
  }

  void restore() {
    const auto latest = store_.latest();
    if (!latest) return run_.truncate_metrics(0);  // killed before the first checkpoint: begin again
    const auto checkpoint = store_.load(*latest);
    adam_.load(checkpoint.parts);
    const auto& state = checkpoint.state;
    step_ = saved_ = checkpoint.step;
    seconds_ = state.at("seconds");
    last_loss_ = state.at("last_loss");
    stopped_ = state.at("stopped");
    best_value_ = state.at("best_value");
    best_step_ = state.at("best_step");
    without_gain_ = state.at("without_gain");
    if (checkpoint.parts.count("best")) best_ = checkpoint.parts.at("best");
    if (state.at("threads") != at::get_num_threads())
      spdlog::warn(
          "this run was begun with {} thread(s) and continues with {}: the result will differ in the last bits",
          state.at("threads").get<int>(), at::get_num_threads());
    run_.truncate_metrics(step_);
  }

  void finish() { load_weights(network_, best_.empty() ? adam_.ema() : best_, "moving average"); }

  torch::nn::Module& network_;
  Objective& objective_;
  TrainOptions options_;
  RunFolder& run_;
  Adam adam_;
  CheckpointStore store_;

  int64_t step_ = 0, saved_ = -1, best_step_ = 0, without_gain_ = 0;
  double seconds_ = 0, last_loss_ = 0, best_value_ = 0;
  bool stopped_ = false;
  TensorMap best_;
};

}  // namespace

double learning_rate(const TrainOptions& o, int64_t step) {
  if (o.schedule == ScheduleKind::constant) return o.adam.lr;
  const auto cosine = [](double from, double to, double share) {
    return to + (from - to) * 0.5 * (1 + std::cos(std::numbers::pi * share));
  };
  const double peak = o.warmup * static_cast<double>(o.steps), s = static_cast<double>(step);
  if (s < peak) return cosine(o.adam.lr / 25, o.adam.lr, s / peak);
  return cosine(o.adam.lr, o.adam.lr / 1e4, (s - peak) / (static_cast<double>(o.steps) - peak));
}

TrainSummary train(torch::nn::Module& network, Objective& objective, const TrainOptions& options, RunFolder& run,
                   const std::string& label) {
  check_options(options);
  return Trainer(network, objective, options, run).run(label);
}

}  // namespace piddm
