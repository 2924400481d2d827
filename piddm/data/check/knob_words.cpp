#include "piddm/data/check/knob_words.h"

#include <cmath>

namespace piddm {

namespace {

constexpr double kSign = 1e-2, kSameRatio = 5e-4, kClearlyCloser = 0.2, kTwoValued = 1e-2;
constexpr int64_t kDrawn = 32;

const Channel& channel_of(const Reading& reading, const Knob& knob) {
  return reading.pde->channels()[static_cast<size_t>(knob.channel)];
}

bool is_sign(const Knob& knob, double value) { return knob.kind == Knob::Kind::factor && std::abs(value + 1) < kSign; }

Cause channel_cause(const Reading& reading, const Knob& knob, double value, const std::string& file) {
  const bool factor = knob.kind == Knob::Kind::factor, sign = is_sign(knob, value);
  const double exact = sign ? -1 : value;
  std::vector<std::string> names, settings;
  for (int64_t c = knob.channel; c < knob.channel + knob.count; ++c) {
    names.push_back(reading.pde->channels()[static_cast<size_t>(c)].name);
    settings.push_back(fmt::format("{}={:.8g}", names.back(), exact));
  }
  const auto name = listed(names);
  const bool one = knob.count == 1;
  const auto what = sign     ? fmt::format("the sign of {} is wrong", name)
                    : factor ? fmt::format("{} {} a factor: {} to be multiplied by {:.6g}", name, one ? "has" : "have",
                                           one ? "it has" : "they have", value)
                             : fmt::format("{} is shifted: {:.6g} has to be added", name, value);
  return mended_by_import(what, {{"channel", name}, {factor ? "factor" : "offset", exact}}, file,
                          fmt::format("--{} {}", factor ? "scale" : "shift", fmt::join(settings, ",")));
}

/// Whether an axis' length is that of the points but the last, or of one more: the other convention for its end.
std::string end_words(const Pde& pde, const Parameter& parameter, double value) {
  const size_t axis = parameter.name == "length_x" ? 0 : 1;
  const auto n = static_cast<double>(axis == 0 ? pde.grid().height() : pde.grid().width());
  const double ratio = value / parameter.value.get<double>();
  if (std::abs(ratio * n / (n - 1) - 1) < kSameRatio) return ", as if the last point were left out";
  if (std::abs(ratio * (n - 1) / n - 1) < kSameRatio) return ", as if one more point were stored";
  return {};
}

Cause parameter_cause(const Reading& reading, const Parameter& parameter, double value, const std::string& file) {
  const double declared = parameter.value.get<double>();
  auto what = fmt::format("{} is {:.6g}, not {:.6g}", parameter.name, value, declared);
  json evidence = {{"parameter", parameter.name}, {"declared", declared}, {"fitted", value}};
  if (parameter.length) {
    const auto& pde = *reading.pde;
    const size_t d = parameter.name == "length_x" ? 0 : 1;
    const auto axis = pde.axes()[d];
    const double step = axis.spacing(d == 0 ? pde.grid().height() : pde.grid().width());
    const double fitted = step * value / declared;
    evidence["spacing"] = {step, fitted};
    what += fmt::format(" (a {} of {:.6g}, not {:.6g}{})", axis.kind == AxisKind::time ? "time step" : "spacing",
                        fitted, step, end_words(pde, parameter, value));
  }
  auto cause = mended_by_import(what, evidence, file, fmt::format("--param {}={:.6g}", parameter.name, value));
  cause.advice = "declare it, or " + cause.advice;
  return cause;
}

double size_of(const Tensor& x) { return x.square().mean().sqrt().item<double>(); }

/// How far, in the logarithm, a coefficient times `factor` is from its law; none where it has none.
std::optional<double> law_distance(const Reading& reading, const Knob& knob, double factor) {
  const auto& channel = channel_of(reading, knob);
  const auto x = reading.x.select(1, knob.channel) * factor;
  if (channel.two_valued) {
    const auto [low, high] = *channel.two_valued;
    const double off = torch::minimum((x - low).abs(), (x - high).abs()).max().item<double>();
    return off < kTwoValued * std::max(std::abs(low), std::abs(high)) ? 0 : 1;
  }
  if (channel.scalar || !reading.pde->has_law()) return {};
  const auto law = reading.pde->sample_coefficients(0, 0, kDrawn);
  const double size = size_of(law.select(1, knob.channel - reading.pde->num_solution_channels()));
  return std::abs(std::log(size_of(x) / size));
}

}  // namespace

Cause knob_cause(const Reading& reading, const Knob& knob, double value, const std::string& file) {
  return knob.kind == Knob::Kind::parameter ? parameter_cause(reading, knob.parameter, value, file)
                                            : channel_cause(reading, knob, value, file);
}

int knob_rank(const Reading& reading, const Knob& knob, double value) {
  if (knob.kind == Knob::Kind::parameter) return knob.parameter.length ? 5 : 3;
  if (knob.kind == Knob::Kind::offset) return 7;
  const bool coefficient = channel_of(reading, knob).role == Role::coefficient;
  if (!coefficient) return is_sign(knob, value) ? 2 : 4;
  const auto given = law_distance(reading, knob, 1), scaled = law_distance(reading, knob, value);
  if (!given || std::abs(*scaled - *given) < kClearlyCloser) return 6;
  return *scaled < *given ? 3 : kImplausible;
}

}  // namespace piddm
