#include "piddm/experiment/chosen_experiment.h"

#include <algorithm>
#include <cmath>

#include "piddm/core/config.h"
#include "piddm/core/input_file.h"
#include "piddm/core/log.h"
#include "piddm/core/toml_text.h"
#include "piddm/data/spectrum.h"
#include "piddm/pde/pde_file.h"
#include "piddm/pde/physics_loss.h"

namespace piddm {

namespace {

constexpr int64_t kLawSamples = 16, kDataSamples = 64;
constexpr int64_t kLawFirst = 2'000'000;  // samples that neither training nor held-out data have
constexpr double kNoise = 1e-3;           // of a standard deviation: the gain is that of the linearised residual
constexpr double kPower = 0.9999, kFlat = 1e-20;
constexpr double kPhysicsOverGain = 1000, kPhysicsOverFloor = 2e-3, kTasksOverTraining = 0.1;
constexpr int64_t kSmallSide = 48;                     // up to here a grid is one of base/32
constexpr int64_t kFewestModes = 8, kLargeModes = 16;  // per axis; of a larger grid on a CPU

/// 1, 2 or 5 times a power of ten.
double rounded(double value) {
  if (!(value > 0) || !std::isfinite(value)) return value;
  const double unit = std::pow(10, std::floor(std::log10(value)));
  const double digit = value / unit;
  const double nearest = digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10;
  return std::stod(fmt::format("{:.0e}", nearest * unit));
}

/// The wave number up to which fields [N,H,W] have their power along H; 0: they do not vary along it.
int64_t waves_of(const Tensor& fields) {
  const auto power = sample_spectra(fields, true).mean(0);
  const double total = power.sum().item<double>();
  if (total <= kFlat * fields.square().mean().item<double>() || total == 0) return 0;
  return 1 + (power.cumsum(0) < kPower * total).sum().item<int64_t>();
}

/// The samples with white noise on their solution, kNoise standard deviations of each channel.
Tensor with_noise(const Pde& pde, const Tensor& x) {
  const auto u = pde.solution(x);
  const auto deviation = (u - u.mean({0, 2, 3}, true)).square().mean({0, 2, 3}, true).sqrt();
  const auto noise = normal(0, Stream::noise, kLawFirst, x.size(0), {u.size(1), u.size(2), u.size(3)}, torch::kFloat64);
  return torch::cat({u + kNoise * deviation * noise, pde.coefficients(x)}, 1);
}

double gain_of(const Pde& pde, const Residual& clean, const Residual& noisy) {
  const auto equations = pde.equations();
  double sum = 0;
  for (size_t i = 0; i < equations.size(); ++i) {
    const auto change = (noisy.fields.at(i).interior - clean.fields.at(i).interior) * (equations[i].scale / kNoise);
    sum += change.square().mean().item<double>();
  }
  return sum / static_cast<double>(equations.size());
}

/// What a PDE's channels are, for the heads.
struct Kinds {
  bool scalars = false, fields = false, two_valued = false, zero = false;
  int64_t images = 0;  ///< channels that are fields
  explicit Kinds(const Pde& pde) {
    for (const auto& c : pde.channels()) {
      const bool coefficient = c.role == Role::coefficient;
      scalars |= c.scalar;
      fields |= coefficient && !c.scalar;
      two_valued |= c.two_valued.has_value();
      zero |= !coefficient && c.zero_on != ZeroOn::nothing;
      images += !c.scalar;
    }
  }
};

json& at_key(json& config, const std::string& key) {
  std::string pointer = "/" + key;
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return config[json::json_pointer(pointer)];
}

/// The config of an experiment as it is chosen.
class Rule {
 public:
  Rule(const Pde& pde, const PdeScales& scales, const ChoiceOptions& choice)
      : pde_(pde), scales_(scales), kinds_(pde), choice_(choice) {}

  ChosenExperiment choose() {
    set_sizes();
    set_modes();
    if (choice_.kind == ModelKind::posterior) {
      set_posterior();
    } else {
      set_heads("distill.heads");
      set_physics();
      if (kinds_.two_valued) set_two_valued();
      set_solve();
    }
    config_["pde"] = write_fields(pde_.options());
    return {parse_experiment(config_), choices_};
  }

 private:
  void set(const std::string& key, json value, std::string why) {
    at_key(config_, key) = std::move(value);
    choices_.push_back({key, std::move(why)});
  }
  void set(const std::string& key, json value) { at_key(config_, key) = std::move(value); }

  bool small() const { return std::max(pde_.grid().height(), pde_.grid().width()) <= kSmallSide; }

  void set_sizes() {
    const bool posterior = choice_.kind == ModelKind::posterior;
    const std::string size = !choice_.gpu ? "32" : !posterior ? "128" : small() ? "64" : "128";
    config_ = load_config((posterior ? "base/posterior-" : "base/") + size);
    choices_.push_back({"train.steps", fmt::format("sizes of {} for {} points on a {}",
                                                   (posterior ? "base/posterior-" : "base/") + size, pde_.grid().text(),
                                                   choice_.gpu ? "GPU" : "CPU")});
  }

  /// As many as the fields have waves, an even number from 8 to half the points.
  void set_modes() {
    const auto& usual = config_.at("model").at("modes");
    json modes = json::array();
    for (size_t i = 0; i < 2; ++i) {
      const int64_t side = i == 0 ? pde_.grid().height() : pde_.grid().width();
      const int64_t limit = std::min(choice_.gpu || small() ? usual[i].get<int64_t>() : kLargeModes, side / 2);
      const int64_t most = limit - limit % 2;
      modes.push_back(std::clamp(scales_.waves[i] + scales_.waves[i] % 2, std::min(kFewestModes, most), most));
    }
    set("model.modes", modes,
        fmt::format("99.99 % of the power is up to wave {} along {} and {} along {}", scales_.waves[0],
                    pde_.axes()[0].name, scales_.waves[1], pde_.axes()[1].name));
  }

  /// Of a student ("distill.heads") or a posterior, whose latent has no band.
  void set_heads(const std::string& key) {
    const bool posterior = choice_.kind == ModelKind::posterior;
    if (!posterior && !kinds_.fields) {
      const int64_t waves = std::max(scales_.solution_waves[0], scales_.solution_waves[1]);
      set(key + ".band_modes", std::clamp<int64_t>(waves, 4, 6),
          "the coefficients are numbers: a small latent holds them");
    }
    if (kinds_.zero && (!posterior || kinds_.two_valued))
      set(key + ".smooth", true, "a solution is zero on every wall");
    if (kinds_.two_valued) {
      set(key + ".bounded", true, "a coefficient has two values");
      if (!posterior) set(key + ".sharp", true);
    }
    if (pde_.has_corrector()) set(key + ".corrector", choice_.gpu ? 5 : 3, "the PDE has a fast solver");
    if (kinds_.scalars) set(key + ".constant", true, "a coefficient is one number");
    set(key + ".constrained", true, "walls, initial states and means that the PDE gives are exact");
  }

  void set_physics() {
    const double by_gain = kPhysicsOverGain / scales_.gain, by_floor = kPhysicsOverFloor / scales_.floor;
    set("distill.loss.lambda", rounded(std::min(by_gain, by_floor)),
        by_gain <= by_floor
            ? fmt::format("white noise of one standard deviation has pde_error {:.3g}", scales_.gain)
            : fmt::format("the samples themselves have pde_error {:.2g}, which must not weigh more than 0.002",
                          scales_.floor));
    if (scales_.boundary) set("distill.loss.boundary", 1.0, "the residual has a part on walls or at the start");
    if (pde_.has_preconditioner()) set("distill.loss.error", 1.0, "the PDE has a fast solver to tell the error by");
    if (kinds_.scalars && !kinds_.two_valued)
      set("distill.loss.spread", 3.0, "a coefficient is one number: no shrinking towards easy ones");
  }

  /// As Darcy's presets: an adversary brings the law of a two-valued coefficient.
  void set_two_valued() {
    const json loss = {{"huber", 0.3},
                       {"solution_weight", 4.0},
                       {"spread", 3.0},
                       {"mean", 10.0},
                       {"freeze_coefficients", true},
                       {"fresh", 0.0},
                       {"adversary", {{"weight", 0.1}, {"from", 0.1}}}};
    for (const auto& [key, value] : loss.items()) set("distill.loss." + key, value);
    choices_.push_back({"distill.loss.adversary.weight", "a coefficient has two values: true data decide its edges"});
    if (choice_.gpu) {
      set("model.skip", 3);
      set("distill.heads.band_limited", false);
      merge_config(config_["distill"]["train"], {{"steps", 4000}, {"batch", 64}, {"adam", {{"lr", 1e-3}}}});
    } else {
      set("distill.train.steps", 3000, "and an adversary takes longer");
    }
  }

  void set_solve() {
    const bool fast = pde_.has_preconditioner();
    const double lambda = at_key(config_, "distill.loss.lambda").get<double>();
    set("solve.lambda", fast ? 1.0 : rounded(kTasksOverTraining * lambda),
        fast ? "residuals are measured by the error they stand for" : "a tenth of that of training");
    if (scales_.boundary) set("solve.boundary", 1.0);
    const auto points = static_cast<double>(pde_.grid().points());
    const double over = kinds_.zero ? 1 : 10;  // the smooth head damps what a step moves
    set("solve.refine.step", rounded(points / (over * scales_.gain)),
        fmt::format("{} points over {}that pde_error", pde_.grid().points(), kinds_.zero ? "" : "10 times "));
  }

  void set_posterior() {
    set("kind", "posterior");
    set_heads("posterior.heads");
    const int64_t channels = kinds_.images <= 2 ? 4 : 2;
    set("posterior.draw.smooth", channels, fmt::format("{} channels are fields", kinds_.images));
    set("posterior.draw.modes", std::min<int64_t>(16, pde_.grid().smaller() / 2), "half the points at most");
    set("posterior.loss.lambda", 0.0, "the score's minimiser is the posterior; samples of the law obey the equation");
  }

  const Pde& pde_;
  PdeScales scales_;
  Kinds kinds_;
  ChoiceOptions choice_;
  json config_ = json::object();
  std::vector<Choice> choices_;
};

Tensor samples_for(const Pde& pde, const Dataset* data) {
  if (data) {
    check_matches(*data, pde);
    return data->fields.narrow(0, 0, std::min(kDataSamples, data->size())).to(torch::kFloat64);
  }
  require<UsageError>(pde.has_law(), "[{}] its file gives no law to draw coefficients from: add --data FILE",
                      pde.name());
  spdlog::info("choosing settings by {} samples of the law", kLawSamples);
  return pde.sample(0, kLawFirst, kLawSamples);
}

bool has_base(const std::string& file) { return parse_toml(read_file(file, kMaxTomlBytes), file).contains("base"); }

/// The settings that the rule itself depends on.
std::vector<std::string> settings_before(const std::vector<std::string>& settings) {
  std::vector<std::string> out;
  for (const auto& setting : settings) {
    const auto key = setting.substr(0, setting.find('='));
    const auto section = key.substr(0, key.find('.'));
    if (section == "pde" || section == "data" || key == "kind") out.push_back(setting);
  }
  return out;
}

ModelKind kind_in(const json& config) {
  Experiment experiment;
  if (config.contains("kind")) read_fields(json{{"kind", config.at("kind")}}, experiment);
  return experiment.kind;
}

/// The rule's experiment with a config and settings on top.
ChosenExperiment choose_with(json config, const std::vector<std::string>& settings, torch::Device device) {
  const bool own_grid = config["pde"].contains("grid");
  json before = config;
  for (const auto& setting : settings_before(settings)) apply_setting(before, setting);
  const bool any_grid = own_grid || before["pde"].contains("grid");
  PdeOptions options;
  read_fields(resolved_pde(before["pde"]), options, "pde");
  DataOptions data;
  if (before.contains("data")) read_fields(before["data"], data, "data");
  Dataset given;
  if (!data.path.empty()) {
    given = load_dataset(data.path);
    if (!any_grid) options.grid = given.grid();
  }
  auto chosen = choose_experiment(options, data.path.empty() ? nullptr : &given,
                                  {.kind = kind_in(before), .gpu = device.is_cuda()});
  json whole = write_fields(chosen.experiment);
  config.erase("pde");
  merge_config(whole, config);
  for (const auto& setting : settings) apply_setting(whole, setting);
  whole["pde"] = write_fields(options);
  chosen.experiment = parse_experiment(whole);
  return chosen;
}

}  // namespace

PdeScales measure_scales(const Pde& pde, const Tensor& samples) {
  const torch::NoGradGuard no_grad;
  const auto x = samples.narrow(0, 0, std::min(kDataSamples, samples.size(0))).to(torch::kFloat64);
  const auto clean = pde.residual(x);
  PdeScales out{.gain = gain_of(pde, clean, pde.residual(with_noise(pde, x))),
                .floor = mean_of(pde.equation_errors(clean)).mean().item<double>(),
                .boundary = clean.boundary.defined()};
  require<NumericsError>(std::isfinite(out.gain) && std::isfinite(out.floor) && out.gain > 0,
                         "[{}] the residual of its samples has pde_error {}, and {} more by noise on the solution: no "
                         "weight can be chosen",
                         pde.name(), out.floor, out.gain);
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    for (size_t axis = 0; axis < 2; ++axis) {
      const auto field = x.select(1, c);
      const int64_t waves = waves_of(axis == 0 ? field : field.transpose(1, 2).contiguous());
      out.waves[axis] = std::max(out.waves[axis], waves);
      if (c < pde.num_solution_channels()) out.solution_waves[axis] = std::max(out.solution_waves[axis], waves);
    }
  return out;
}

std::vector<std::string> ChosenExperiment::lines() const {
  json config = write_fields(experiment);
  std::vector<std::string> out;
  for (const auto& [key, why] : choices)
    out.push_back(fmt::format("{} = {}: {}", key, at_key(config, key).dump(), why));
  return out;
}

ChosenExperiment choose_experiment(const PdeOptions& options, const Dataset* data, const ChoiceOptions& choice) {
  const auto pde = make_pde(options);
  return Rule(*pde, measure_scales(*pde, samples_for(*pde, data)), choice).choose();
}

ChosenExperiment find_experiment(const std::string& name, const std::vector<std::string>& settings,
                                 const std::string& data, torch::Device device) {
  auto all = settings;
  if (!data.empty()) all.insert(all.begin(), "data.path=" + json(data).dump());
  auto config = load_config(name);
  if (is_pde_text(config)) {
    const auto options = pde_named(name);
    return choose_with({{"pde", {{"definition", options.definition.table}}}}, all, device);
  }
  if (names_file(name)) {
    if (const auto section = config.find("pde"); section != config.end()) {
      find_pde_beside(*section, name);
      const bool by_text = resolved_pde(*section).contains("definition");
      if (by_text && !has_base(name)) return choose_with(config, all, device);
    }
  }
  return {with_settings(parse_experiment(config), all), {}};
}

}  // namespace piddm
