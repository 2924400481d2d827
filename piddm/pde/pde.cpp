#include "piddm/pde/pde.h"

#include <algorithm>

#include "piddm/pde/stencils.h"

namespace piddm {

PdeDefinition PdeDefinition::from_json(const json& j, const std::string& path) {
  require<UsageError>(j.is_object(), "{}: expected the table of a PDE file, got {}", path, j.dump());
  return {.table = j};
}

std::string Channel::label() const { return title.empty() ? name : name + ", " + title; }

std::string Pde::summary() const {
  for (const auto& entry : pde_registry().entries())
    if (entry.name == name()) return entry.summary;
  return name();
}

double Pde::parameter(const std::string& name, double value, double low, double high, const std::string& meaning) {
  if (const auto given = options_.parameters.find(name); given != options_.parameters.end()) {
    require<UsageError>(given->is_number(), "[{}] parameter {}: expected a number, got {}", this->name(), name,
                        given->dump());
    value = given->get<double>();
  }
  require<UsageError>(value >= low && value <= high, "[{}] parameter {} = {}: must be between {} and {}", this->name(),
                      name, value, low, high);
  declare({.name = name, .value = value, .meaning = meaning, .choices = {}, .low = low, .high = high});
  return value;
}

double Pde::length(const std::string& name, double value) {
  const std::string axis = name.substr(name.find('_') + 1);
  const auto meaning =
      name == "duration" ? "time from the first to the last entry" : "side of the domain along " + axis;
  const double length = parameter(name, value, 1e-3 * value, 1e3 * value, meaning);
  const auto own =
      std::find_if(parameters_.begin(), parameters_.end(), [&](const Parameter& p) { return p.name == name; });
  own->length = true;
  own->usual = length == value;
  std::rotate(own, own + 1, parameters_.end());
  return length;
}

void Pde::declare(Parameter parameter) {
  const auto lengths =
      std::find_if(parameters_.begin(), parameters_.end(), [](const Parameter& p) { return p.length; });
  parameters_.insert(lengths, std::move(parameter));
}

std::string Pde::choice(const std::string& name, const std::vector<std::string>& choices, const std::string& meaning) {
  std::string value = choices.front();
  if (const auto given = options_.parameters.find(name); given != options_.parameters.end()) {
    require<UsageError>(given->is_string(), "[{}] parameter {}: expected a name, got {}", this->name(), name,
                        given->dump());
    value = given->get<std::string>();
  }
  require<UsageError>(std::find(choices.begin(), choices.end(), value) != choices.end(), "[{}] parameter {}: {}",
                      this->name(), name, unknown_name_message("value", value, choices));
  declare({.name = name, .value = value, .meaning = meaning, .choices = choices});
  return value;
}

void Pde::check_parameters() const {
  std::vector<std::string> known;
  for (const auto& p : parameters_) known.push_back(p.name);
  require<UsageError>(options_.parameters.is_object(), "[{}] parameters: expected a table, got {}", name(),
                      options_.parameters.dump());
  for (const auto& [key, value] : options_.parameters.items()) {
    require<UsageError>(!known.empty(), "[{}] has no parameters, so no '{}'", name(), key);
    require<UsageError>(std::find(known.begin(), known.end(), key) != known.end(), "[{}] {}", name(),
                        unknown_name_message("parameter", key, known));
  }
}

void Pde::check_equations() const {
  std::vector<std::string> names;
  for (const auto& equation : equations()) names.push_back(equation.name);
  require<UsageError>(!names.empty(), "[{}] equations(): a PDE has at least one", name());
  if (names.size() == 1) return;
  std::sort(names.begin(), names.end());
  require<UsageError>(!names.front().empty() && std::adjacent_find(names.begin(), names.end()) == names.end(),
                      "[{}] equations(): several need names, each its own", name());
}

int64_t Pde::num_solution_channels() const {
  const auto& all = channels();
  return std::count_if(all.begin(), all.end(), [](const Channel& c) { return c.role == Role::solution; });
}

std::vector<std::string> Pde::channel_names() const {
  std::vector<std::string> names;
  for (const auto& channel : channels()) names.push_back(channel.name);
  return names;
}

std::vector<int64_t> Pde::sample_shape() const { return {num_channels(), grid().height(), grid().width()}; }

std::vector<std::string> Pde::several_solutions() const {
  auto names = channel_names();
  names.resize(static_cast<size_t>(num_solution_channels()));
  return names.size() > 1 ? names : std::vector<std::string>();
}

std::vector<std::string> Pde::several_equations() const {
  std::vector<std::string> names;
  for (const auto& equation : equations()) names.push_back(equation.name);
  return names.size() > 1 ? names : std::vector<std::string>();
}

Tensor Pde::solution(const Tensor& x) const { return x.narrow(1, 0, num_solution_channels()); }

Tensor Pde::coefficients(const Tensor& x) const {
  const int64_t n = num_solution_channels();
  return x.narrow(1, n, num_channels() - n);
}

Tensor Pde::sample(uint64_t seed, int64_t first, int64_t count, SolveReport* report, torch::Device device) const {
  const Tensor coefficients = sample_coefficients(seed, first, count).to(device);
  return torch::cat({solve(coefficients, {}, report), coefficients}, 1);
}

std::vector<Tensor> Pde::equation_errors(const Residual& r) const {
  const auto all = equations();
  std::vector<Tensor> errors;
  for (size_t i = 0; i < all.size(); ++i)
    errors.push_back((r.fields.at(i).interior * all[i].scale).square().mean({1, 2, 3}));
  return errors;
}

Tensor Pde::pde_error(const Tensor& x) const { return mean_of(equation_errors(residual(x))); }

Tensor Pde::given_boundary() const {
  return torch::zeros({num_solution_channels(), grid().height(), grid().width()}, torch::kBool);
}

Tensor Pde::precondition(const Residual&) const {
  throw UsageError("[{}] has no fast solver to precondition with; set precondition = false", name());
}

Tensor Pde::correct(const Tensor&, int64_t) const { throw UsageError("[{}] has no corrector", name()); }

Admissible Pde::admissible(const Tensor& coefficients) const {
  const Tensor given = checked_coefficients(coefficients);
  const int64_t first = num_solution_channels();
  Admissible out{given.clone(), torch::zeros({given.size(0)}, given.options().dtype(torch::kLong))};
  for (int64_t c = first; c < num_channels(); ++c) {
    const auto& channel = channels()[static_cast<size_t>(c)];
    Tensor values = given.select(1, c - first);
    if (channel.scalar) values = values.mean({1, 2}, true);
    if (channel.valid) {
      const auto [low, high] = *channel.valid;
      out.clamped += ((values < low) | (values > high)).sum({1, 2});
      values = values.clamp(low, high);
    }
    out.coefficients.select(1, c - first).copy_(values.expand({given.size(0), grid().height(), grid().width()}));
  }
  return out;
}

namespace {

/// Decoded::moved.
Tensor relative_change(const Tensor& decoded, const Tensor& given) {
  std::vector<Tensor> changes;
  for (int64_t c = 0; c < decoded.size(1); ++c) {
    const Tensor u = decoded.narrow(1, c, 1);
    changes.push_back(rms(u - given.narrow(1, c, 1)) / rms(u));
  }
  return changes.size() == 1 ? changes.front() : torch::stack(changes).square().mean(0).sqrt();
}

}  // namespace

Tensor Pde::checked_to_decode(const Tensor& x) const {
  check_shape(x);
  const Tensor y = x.detach().to(torch::kFloat64);
  require<NumericsError>(y.size(0) > 0 && all_finite(y), "[{}] cannot decode {}: empty or not finite", name(),
                         shape_string(x));
  return y;
}

Decoded Pde::decoded(const Tensor& y, const Admissible& a, const Tensor& u, const Tensor& iterations) const {
  return {.x = torch::cat({u, a.coefficients}, 1),
          .iterations = iterations,
          .moved = relative_change(u, solution(y)),
          .clamped = a.clamped};
}

Decoded Pde::decode(const Tensor& x) const {
  const torch::NoGradGuard no_grad;
  const Tensor y = checked_to_decode(x);
  const Admissible a = admissible(coefficients(y));
  return decoded(y, a, solve(a.coefficients), torch::zeros_like(a.clamped));
}

void Pde::check_shape(const Tensor& x) const {
  const int64_t h = grid().height(), w = grid().width();
  require<DataError>(x.dim() == 4 && x.size(1) == num_channels() && x.size(2) == h && x.size(3) == w,
                     "[{}] expected (B,{},{},{}), got {}", name(), num_channels(), h, w, shape_string(x));
}

void Pde::check_residual_input(const Tensor& x) const {
  check_shape(x);
  require<DataError>(x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kFloat64,
                     "[{}] residuals need float32 or float64, got {}", name(), torch::toString(x.scalar_type()));
}

Tensor Pde::checked_coefficients(const Tensor& coefficients) const {
  const int64_t h = grid().height(), w = grid().width(), count = num_channels() - num_solution_channels();
  const bool fits = coefficients.dim() == 4 && coefficients.sizes().slice(1) == torch::IntArrayRef({count, h, w});
  require<DataError>(fits && coefficients.size(0) > 0, "[{}] expected coefficients (B,{},{},{}), got {}", name(), count,
                     h, w, shape_string(coefficients));
  require<DataError>(all_finite(coefficients), "[{}] coefficients must be finite", name());
  return coefficients.detach().to(torch::kFloat64);
}

Tensor mean_of(const std::vector<Tensor>& tensors) {
  return tensors.size() == 1 ? tensors.front() : torch::stack(tensors).mean(0);
}

bool has_time_axis(const Pde& pde) { return pde.axes()[1].kind == AxisKind::time; }

PdePtr with_parameter(const Pde& pde, const std::string& name, const json& value) {
  auto options = pde.options();
  options.parameters[name] = value;
  return make_pde(options);
}

}  // namespace piddm
