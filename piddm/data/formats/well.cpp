#include "piddm/data/formats/well.h"

#include <algorithm>

namespace piddm {

namespace {

constexpr const char* kFields = "t0_fields/";
constexpr const char* kScalars = "scalars/";
const std::string kFirstFrame = "0";  // after the name of a field, whose last frame has the name alone

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
  const auto root = arrays.attributes("");
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
  plan.rules.push_back({.channel = name + kFirstFrame, .key = key, .axes = axes, .picks = {{'t', 0}}});
}

/// Where the description of a file of ours says so: its PDE, and its channels in their order.
void restore_description(ImportPlan& plan, const ArraySet& arrays) {
  if (!arrays.attributes("").contains("description")) return;
  const auto own = import_presets().at("piddm")(arrays);
  std::vector<ChannelRule> rules;
  for (const auto& wanted : own.rules)
    for (const auto& rule : plan.rules)
      if (rule.channel == wanted.channel) rules.push_back(rule);
  if (rules.size() == own.rules.size()) plan = {own.pde, rules, {}, own.description};
}

// --- export ---

/// The axes of the PDE these are samples of; data of no PDE have nodes on the unit square, or in x and t where the
/// description says so.
GridAxes axes_of(const Dataset& dataset) {
  const auto names = pde_registry().names();
  const bool known = std::find(names.begin(), names.end(), dataset.description.pde) != names.end();
  if (known || dataset.description.definition.is_object()) return pde_of(dataset)->axes();
  const bool time = dataset.description.axes == "xt";
  return {{{"x"}, {time ? "t" : "y", time ? AxisKind::time : AxisKind::nodes}}};
}

class WellWriter {
 public:
  WellWriter(const Dataset& dataset, torch::ScalarType dtype)
      : dataset_(dataset), dtype_(dtype), axes_(axes_of(dataset)) {}

  Hdf5Content content() {
    add_root();
    add_dimensions();
    add_boundary(axes_[0], dataset_.fields.size(2));
    if (!in_time()) add_boundary(axes_[1], dataset_.fields.size(3));
    for (size_t c = 0; c < dataset_.channels.size(); ++c) add_channel(c);
    const auto list = [&](const char* group, const std::vector<std::string>& names) {
      content_.attributes[group] = {{"field_names", names}};
    };
    list("scalars", scalars_);
    list("t0_fields", fields_);
    list("t1_fields", {});
    list("t2_fields", {});
    return std::move(content_);
  }

 private:
  bool in_time() const { return axes_[1].kind == AxisKind::time; }

  Tensor channel(const std::string& name) const {
    for (size_t c = 0; c < dataset_.channels.size(); ++c)
      if (dataset_.channels[c] == name) return dataset_.fields.select(1, static_cast<int64_t>(c));
    return {};
  }

  void add_root() {
    const auto& pde = dataset_.description.pde;
    const auto& parameters = dataset_.description.parameters;
    std::vector<std::string> names;
    for (const auto& [name, value] : parameters.items()) names.push_back(name);
    json root = {{"dataset_name", pde.empty() ? "unknown" : pde},
                 {"grid_type", "cartesian"},
                 {"n_spatial_dims", in_time() ? 1 : 2},
                 {"n_trajectories", dataset_.size()},
                 {"simulation_parameters", names}};
    if (parameters.is_object()) root.update(parameters);
    root.update({{"description", describe(dataset_).dump()}});
    content_.attributes[""] = root;
  }

  void add(const std::string& name, const Tensor& x, json attributes) {
    content_.arrays.emplace_back(name, x.scalar_type() == torch::kBool ? x : x.to(dtype_));
    content_.attributes[name] = std::move(attributes);
  }

  void add_dimensions() {
    const json constant = {{"sample_varying", false}, {"time_varying", false}};
    std::vector<std::string> names;
    Tensor times = has_two_frames() ? torch::tensor({0.0, 1.0}, torch::kFloat64) : torch::zeros(1, torch::kFloat64);
    for (size_t i = 0; i < axes_.size(); ++i) {
      const auto coordinates = axes_[i].coordinates(dataset_.fields.size(2 + static_cast<int64_t>(i)));
      if (axes_[i].kind == AxisKind::time) {
        times = coordinates;
        continue;
      }
      names.push_back(axes_[i].name);
      add("dimensions/" + axes_[i].name, coordinates, constant);
    }
    add("dimensions/time", times, {{"sample_varying", false}});
    content_.attributes["dimensions"] = {{"spatial_dims", names}};
  }

  void add_boundary(const GridAxis& axis, int64_t points) {
    const bool periodic = axis.kind == AxisKind::periodic;
    auto mask = torch::zeros(points, torch::kBool);
    mask[0] = mask[-1] = true;
    const auto group = fmt::format("boundary_conditions/{}_{}", axis.name, periodic ? "periodic" : "wall");
    content_.arrays.emplace_back(group + "/mask", mask);
    content_.attributes[group] = {{"associated_dims", {axis.name}},
                                  {"associated_fields", json::array()},
                                  {"bc_type", periodic ? "PERIODIC" : "WALL"},
                                  {"sample_varying", false},
                                  {"time_varying", false}};
  }

  /// The first frame of a field whose last one is `name`, where the data have both.
  Tensor first_frame(const std::string& name) const { return in_time() ? Tensor() : channel(name + kFirstFrame); }

  bool has_two_frames() const {
    const auto& all = dataset_.channels;
    return std::any_of(all.begin(), all.end(), [&](const std::string& name) { return first_frame(name).defined(); });
  }

  bool is_first_frame(const std::string& name) const {
    return !in_time() && name.ends_with(kFirstFrame) &&
           channel(name.substr(0, name.size() - kFirstFrame.size())).defined();
  }

  void add_channel(size_t c) {
    const auto& name = dataset_.channels[c];
    const auto x = dataset_.fields.select(1, static_cast<int64_t>(c)).detach().to(torch::kCPU);
    if (is_first_frame(name)) return;
    if (const auto first = first_frame(name); first.defined())
      return add_field(name, torch::stack({first.cpu(), x}, 1), true, 2);
    if (x.eq(x.slice(1, 0, 1).slice(2, 0, 1)).all().item<bool>()) return add_scalar(name, x.select(2, 0).select(1, 0));
    if (!in_time()) return add_field(name, x, false, 2);
    if (x.eq(x.slice(2, 0, 1)).all().item<bool>()) return add_field(name, x.select(2, 0), false, 1);
    add_field(name, x.transpose(1, 2), true, 1);
  }

  void add_scalar(const std::string& name, const Tensor& values) {
    scalars_.push_back(name);
    add(kScalars + name, values, {{"sample_varying", true}, {"time_varying", false}});
  }

  void add_field(const std::string& name, const Tensor& x, bool time, int dimensions) {
    fields_.push_back(name);
    add(kFields + name, x,
        {{"dim_varying", std::vector<bool>(static_cast<size_t>(dimensions), true)},
         {"sample_varying", true},
         {"time_varying", time}});
  }

  const Dataset& dataset_;
  torch::ScalarType dtype_;
  GridAxes axes_;
  Hdf5Content content_;
  std::vector<std::string> scalars_, fields_;
};

}  // namespace

ImportPlan import_well(const ArraySet& arrays) {
  const auto dimensions = dimensions_of(arrays);
  ImportPlan plan;
  for (const auto& name : arrays.names()) {
    const auto attributes = arrays.attributes(name);
    if (name.starts_with(kFields))
      add_field(plan, name.substr(std::string(kFields).size()), name, field_axes(attributes, dimensions),
                dimensions == 2);
    if (name.starts_with(kScalars) && flag(attributes, "sample_varying")) {
      const auto axes = field_axes(attributes, 0);
      if (axes == "n") add_field(plan, name.substr(std::string(kScalars).size()), name, axes, false);
    }
  }
  require<DataError>(!plan.rules.empty(), "{}: preset well looks for arrays in t0_fields; there are: {}",
                     arrays.origin(), arrays.listed_names());
  restore_description(plan, arrays);
  return plan;
}

Hdf5Content well_content(const Dataset& dataset, torch::ScalarType dtype) {
  return WellWriter(dataset, dtype).content();
}

}  // namespace piddm
