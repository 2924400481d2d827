#include "piddm/data/formats/well.h"

#include <numbers>
#include <set>

namespace piddm {

namespace {

constexpr const char* kFields = "t0_fields/";
constexpr const char* kScalars = "scalars/";

bool flag(const json& attributes, const char* name) {
  const auto found = attributes.find(name);
  return found == attributes.end() || !found->is_boolean() || found->get<bool>();
}

/// Letters of the axes a field has, from its attributes: n, t, then the dimensions that vary.
std::string field_axes(const json& attributes, size_t dimensions) {
  std::string axes;
  if (flag(attributes, "sample_varying")) axes += 'n';
  if (flag(attributes, "time_varying")) axes += 't';
  const auto varying = attributes.value("dim_varying", json::array());
  for (size_t i = 0; i < dimensions; ++i)
    if (!varying.is_array() || i >= varying.size() || varying[i] != false) axes += i == 0 ? 'x' : 'y';
  return axes;
}

size_t dimensions_of(const ArraySet& arrays) {
  const auto root = arrays.attributes().value("", json::object());
  const auto count = root.value("n_spatial_dims", json(0));
  require<DataError>(count == 1 || count == 2, "{}: n_spatial_dims is {}, only 1 and 2 can be imported",
                     arrays.origin(), count.dump());
  return count.get<size_t>();
}

void add_field(ImportPlan& plan, const std::string& name, const std::string& key, const std::string& axes,
               bool frames) {
  const bool time = axes.find('t') != std::string::npos;
  if (!frames || !time) {
    plan.rules.push_back({.channel = name, .key = key, .axes = axes});
    return;
  }
  plan.rules.push_back({.channel = name, .key = key, .axes = axes, .picks = {{'t', -1}}});
  plan.rules.push_back({.channel = name + "0", .key = key, .axes = axes, .picks = {{'t', 0}}});
}

/// Where the description of a file of ours says so: its PDE, and its channels in their order.
void restore_description(ImportPlan& plan, const ArraySet& arrays) {
  if (!arrays.attributes().value("", json::object()).contains("description")) return;
  const auto own = import_presets().at("piddm")(arrays);
  std::vector<ChannelRule> rules;
  for (const auto& wanted : own.rules)
    for (const auto& rule : plan.rules)
      if (rule.channel == wanted.channel) rules.push_back(rule);
  if (rules.size() == own.rules.size()) plan = {own.pde, rules, {}, own.description};
}

// --- export ---

struct Geometry {
  std::string pde;
  double x_begin, x_end;  ///< of the coordinate's range
  bool x_periodic;        ///< the end is not stored
  double w_end;           ///< y or t, from 0
  bool w_is_time, w_periodic;
  bool centred = false;  ///< cells, half a cell from the wall
};

/// Where the points of each PDE lie; an unknown one has nodes on the unit square.
Geometry geometry_of(const Dataset& dataset) {
  const double circle = 2 * std::numbers::pi;
  static const std::vector<Geometry> list = {
      {"darcy", 0, 1, false, 1, false, false, true}, {"poisson", 0, 1, false, 1, false, false},
      {"helmholtz", 0, 1, false, 1, false, false},   {"navier-stokes", 0, 1, true, 1, false, true},
      {"burgers", 0, 1, true, 1, true, false},       {"heat", 0, circle, true, 1, true, false},
      {"stokes", 0, 1, false, 1, true, false},       {"pme", 0, 1, false, 1, true, false},
      {"stefan", 0, 1, false, 0.1, true, false}};
  const auto name = dataset.description.value("pde", std::string());
  for (const auto& geometry : list)
    if (geometry.pde == name) return geometry;
  const bool time = dataset.description.value("axes", std::string()) == "xt";
  return {name.empty() ? "unknown" : name, 0, 1, false, 1, time, false};
}

Tensor coordinates(int64_t points, double begin, double end, bool periodic, bool centred) {
  const auto count = static_cast<double>(points);
  const double step = (end - begin) / (periodic || centred ? count : std::max(count - 1, 1.0));
  return begin + (torch::arange(points, torch::kFloat64) + (centred ? 0.5 : 0.0)) * step;
}

class WellWriter {
 public:
  WellWriter(const Dataset& dataset, torch::ScalarType dtype)
      : dataset_(dataset), dtype_(dtype), geometry_(geometry_of(dataset)) {}

  Hdf5Content content() {
    add_root();
    add_dimensions();
    add_boundary("x", dataset_.fields.size(2), geometry_.x_periodic);
    if (!geometry_.w_is_time) add_boundary("y", dataset_.fields.size(3), geometry_.w_periodic);
    for (const auto* group : {"scalars", "t0_fields", "t1_fields", "t2_fields"})
      content_.attributes[group]["field_names"] = json::array();
    for (size_t c = 0; c < dataset_.channels.size(); ++c) add_channel(c);
    return std::move(content_);
  }

 private:
  Tensor channel(const std::string& name) const {
    for (size_t c = 0; c < dataset_.channels.size(); ++c)
      if (dataset_.channels[c] == name) return dataset_.fields.select(1, static_cast<int64_t>(c));
    return {};
  }

  void add_root() {
    const auto parameters = dataset_.description.value("parameters", json::object());
    json root = {{"dataset_name", geometry_.pde},
                 {"grid_type", "cartesian"},
                 {"n_spatial_dims", geometry_.w_is_time ? 1 : 2},
                 {"n_trajectories", dataset_.size()},
                 {"simulation_parameters", json::array()}};
    for (const auto& [name, value] : parameters.items()) {
      root["simulation_parameters"].push_back(name);
      root[name] = value;
    }
    auto description = dataset_.description;
    description["channels"] = dataset_.channels;
    root["description"] = description.dump();
    content_.attributes[""] = root;
  }

  void add(const std::string& name, const Tensor& x, json attributes) {
    content_.arrays.emplace_back(name, x.scalar_type() == torch::kBool ? x : x.to(dtype_));
    content_.attributes[name] = std::move(attributes);
  }

  void add_dimensions() {
    const auto h = dataset_.fields.size(2), w = dataset_.fields.size(3);
    const json constant = {{"sample_varying", false}, {"time_varying", false}};
    const auto& g = geometry_;
    json names = {"x"};
    add("dimensions/x", coordinates(h, g.x_begin, g.x_end, g.x_periodic, g.centred), constant);
    if (g.w_is_time) {
      add("dimensions/time", coordinates(w, 0, g.w_end, false, false), {{"sample_varying", false}});
    } else {
      names.push_back("y");
      add("dimensions/y", coordinates(w, 0, g.w_end, g.w_periodic, g.centred), constant);
      const auto times = two_frames() ? torch::tensor({0.0, 1.0}, torch::kFloat64) : torch::zeros(1, torch::kFloat64);
      add("dimensions/time", times, {{"sample_varying", false}});
    }
    content_.attributes["dimensions"]["spatial_dims"] = names;
  }

  void add_boundary(const std::string& axis, int64_t points, bool periodic) {
    auto mask = torch::zeros(points, torch::kBool);
    mask[0] = mask[-1] = true;
    const auto group = fmt::format("boundary_conditions/{}_{}", axis, periodic ? "periodic" : "wall");
    content_.arrays.emplace_back(group + "/mask", mask);
    content_.attributes[group] = {{"associated_dims", {axis}},
                                  {"associated_fields", json::array()},
                                  {"bc_type", periodic ? "PERIODIC" : "WALL"},
                                  {"sample_varying", false},
                                  {"time_varying", false}};
  }

  /// Whether w and w0 are one field at two times.
  bool two_frames() const {
    return geometry_.pde == "navier-stokes" && channel("w").defined() && channel("w0").defined();
  }

  void add_channel(size_t c) {
    const auto& name = dataset_.channels[c];
    const auto x = dataset_.fields.select(1, static_cast<int64_t>(c)).detach().to(torch::kCPU);
    if (two_frames() && name == "w0") return;
    if (two_frames() && name == "w") return add_field(name, torch::stack({channel("w0").cpu(), x}, 1), true, 2);
    if (x.eq(x.slice(1, 0, 1).slice(2, 0, 1)).all().item<bool>()) return add_scalar(name, x.select(2, 0).select(1, 0));
    if (!geometry_.w_is_time) return add_field(name, x, false, 2);
    if (x.eq(x.slice(2, 0, 1)).all().item<bool>()) return add_field(name, x.select(2, 0), false, 1);
    add_field(name, x.transpose(1, 2), true, 1);
  }

  void add_scalar(const std::string& name, const Tensor& values) {
    content_.attributes["scalars"]["field_names"].push_back(name);
    add(kScalars + name, values, {{"sample_varying", true}, {"time_varying", false}});
  }

  void add_field(const std::string& name, const Tensor& x, bool time, int dimensions) {
    content_.attributes["t0_fields"]["field_names"].push_back(name);
    add(kFields + name, x,
        {{"dim_varying", std::vector<bool>(static_cast<size_t>(dimensions), true)},
         {"sample_varying", true},
         {"time_varying", time}});
  }

  const Dataset& dataset_;
  torch::ScalarType dtype_;
  Geometry geometry_;
  Hdf5Content content_;
};

}  // namespace

ImportPlan import_well(const ArraySet& arrays) {
  const auto dimensions = dimensions_of(arrays);
  ImportPlan plan;
  for (const auto& name : arrays.names()) {
    const auto attributes = arrays.attributes().value(name, json::object());
    if (name.starts_with(kFields))
      add_field(plan, name.substr(std::string(kFields).size()), name, field_axes(attributes, dimensions),
                dimensions == 2);
    if (name.starts_with(kScalars) && flag(attributes, "sample_varying")) {
      const auto axes = field_axes(attributes, 0);
      if (axes == "n") add_field(plan, name.substr(std::string(kScalars).size()), name, axes, false);
    }
  }
  require<DataError>(!plan.rules.empty(), "{}: preset well looks for arrays in t0_fields; there are: {}",
                     arrays.origin(), fmt::join(arrays.names(), ", "));
  restore_description(plan, arrays);
  return plan;
}

Hdf5Content well_content(const Dataset& dataset, torch::ScalarType dtype) {
  return WellWriter(dataset, dtype).content();
}

}  // namespace piddm
