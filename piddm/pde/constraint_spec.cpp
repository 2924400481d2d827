// Constraints as users write them: the keys of each kind, read strictly.

#include <fmt/ranges.h>

#include <algorithm>

#include "piddm/files/npy.h"
#include "piddm/pde/constraint.h"

namespace piddm {
namespace {

enum class Side { first, last };
std::vector<std::string> enum_names(Side) { return {"first", "last"}; }

/// Keys that every kind has.
struct CommonKeys {
  std::string kind, channel;
  template <class V>
  void common(V&& f) {
    f("kind", kind, "one of the kinds");
    f("channel", channel, "name of the channel; by default the first solution channel");
  }
};

struct DirichletKeys : CommonKeys {
  json value, points, box;
  std::string mask;
  template <class V>
  void fields(V&& f) {
    common(f);
    f("value", value, "a number, a list (one per point) or an .npy file (H,W)");
    f("points", points, "[[i, j], ...]: the entries, from 0");
    f("box", box, "[i0, i1, j0, j1]: entries i0..i1-1, j0..j1-1");
    f("mask", mask, "an .npy file (H,W), not zero at the entries");
  }
};

struct SliceKeys : CommonKeys {
  std::string axis;
  json index;
  json value;
  template <class V>
  void fields(V&& f) {
    common(f);
    f("axis", axis, "an axis of the PDE: x, and y or t");
    f("index", index, "which entry of the axis; negative: from the end");
    f("value", value, "a number, a list or an .npy file with one for each entry of the other axis");
  }
};

struct InitialKeys : CommonKeys {
  json value;
  template <class V>
  void fields(V&& f) {
    common(f);
    f("value", value, "as for slice");
  }
};

struct BoundaryKeys : CommonKeys {
  std::string axis = "x";
  Side side = Side::first;
  json value;
  template <class V>
  void fields(V&& f) {
    common(f);
    f("axis", axis, "an axis of the PDE: x, and y or t");
    f("side", side, "first or last");
    f("value", value, "as for slice");
  }
};

struct PeriodicKeys : CommonKeys {
  std::string axis = "x";
  template <class V>
  void fields(V&& f) {
    common(f);
    f("axis", axis, "an axis of the PDE: x, and y or t");
  }
};

struct ConservationKeys : CommonKeys {
  std::vector<std::string> axes = {"x"};
  json value;
  double area = 1;
  template <class V>
  void fields(V&& f) {
    common(f);
    f("axes", axes, "the axes averaged over");
    f("value", value, "mean times area: a number or, with one axis, one for each entry of the other");
    f("area", area, more_than(0), "size of the region");
  }
};

struct ChainKeys {
  std::string kind;
  json members;
  template <class V>
  void fields(V&& f) {
    f("kind", kind, "chain");
    f("members", members, "the constraints, in order");
  }
};

template <class Keys>
Keys read(const json& spec, const std::string& path) {
  Keys keys;
  read_fields(spec, keys, path);
  return keys;
}

int64_t channel_of(const std::string& name, const Pde& pde, const std::string& path) {
  if (name.empty()) return 0;
  const auto names = pde.channel_names();
  const auto found = std::find(names.begin(), names.end(), name);
  require<UsageError>(found != names.end(), "{}.channel: {}", path,
                      unknown_name_message("channel of " + pde.name(), name, names));
  return found - names.begin();
}

Axis axis_of(const std::string& name, const Pde& pde, const std::string& path) {
  const auto axes = pde.axes();
  if (name == axes[0].name) return Axis::h;
  require<UsageError>(name == axes[1].name, "{}: {}", path,
                      unknown_name_message("axis of " + pde.name(), name, {axes[0].name, axes[1].name}));
  return Axis::w;
}

/// Entries of an axis, and of the other one.
int64_t points_along(const Pde& pde, Axis axis) { return axis == Axis::h ? pde.grid().height() : pde.grid().width(); }
int64_t points_across(const Pde& pde, Axis axis) { return axis == Axis::h ? pde.grid().width() : pde.grid().height(); }

Tensor numbers(const json& list, const std::string& path) {
  std::vector<double> values;
  for (const auto& entry : list) {
    if (!entry.is_number()) detail::throw_wrong_type(path, "numbers only", entry);
    values.push_back(entry.get<double>());
  }
  return torch::tensor(values, torch::kFloat64);
}

/// An .npy file of this shape.
Tensor array(const std::string& file, const std::vector<int64_t>& shape, const std::string& path) {
  const Tensor x = read_npy(file).to(torch::kFloat64);
  require<DataError>(x.sizes() == shape && all_finite(x), "{}: {} must hold finite numbers of the shape {}, got {}",
                     path, file, shape_string(torch::empty(shape)), shape_string(x));
  return x;
}

/// A number (0-dim), a list of `size` numbers, or a file of them.
Tensor values(const json& given, int64_t size, const std::string& path) {
  require<UsageError>(!given.is_null(), "{} is missing", path);
  if (given.is_number()) return torch::tensor(given.get<double>(), torch::kFloat64);
  if (given.is_string()) return array(given.get<std::string>(), {size}, path);
  if (!given.is_array()) detail::throw_wrong_type(path, "a number, a list or the name of an .npy file", given);
  const Tensor list = numbers(given, path);
  require<UsageError>(list.size(0) == size, "{}: expected {} numbers, got {}", path, size, list.size(0));
  return list;
}

int64_t index_in_grid(const json& given, int64_t limit, const std::string& path) {
  if (!given.is_number_integer()) detail::throw_wrong_type(path, "a whole number", given);
  const auto index = given.get<int64_t>();
  require<UsageError>(index >= 0 && index < limit, "{}: {} must be between 0 and {}", path, index, limit - 1);
  return index;
}

/// Rows i W + j of the listed points.
Tensor flat_points(const json& points, const GridSize& n, const std::string& path) {
  if (!points.is_array()) detail::throw_wrong_type(path, "a list of [i, j]", points);
  std::vector<int64_t> flat;
  for (const auto& point : points) {
    if (!point.is_array() || point.size() != 2) detail::throw_wrong_type(path, "[i, j]", point);
    flat.push_back(index_in_grid(point[0], n.height(), path) * n.width() + index_in_grid(point[1], n.width(), path));
  }
  return torch::tensor(flat, torch::kLong);
}

Tensor box_mask(const json& box, const GridSize& n, const std::string& path) {
  if (!box.is_array() || box.size() != 4) detail::throw_wrong_type(path, "[i0, i1, j0, j1]", box);
  int64_t edges[4];
  for (size_t i = 0; i < 4; ++i) edges[i] = index_in_grid(box[i], (i < 2 ? n.height() : n.width()) + 1, path);
  const Tensor mask = torch::zeros({n.height(), n.width()}, torch::kBool);
  mask.slice(0, edges[0], edges[1]).slice(1, edges[2], edges[3]).fill_(true);
  return mask;
}

/// One value for each listed point.
ConstraintPtr make_points(const DirichletKeys& keys, const Pde& pde, const std::string& path) {
  const auto n = pde.grid();
  const Tensor flat = flat_points(keys.points, n, path + ".points");
  const Tensor field = torch::zeros({n.points()}, torch::kFloat64), mask = torch::zeros({n.points()}, torch::kBool);
  field.index_put_({flat}, values(keys.value, flat.size(0), path + ".value"));
  mask.index_fill_(0, flat, true);
  return dirichlet_constraint(channel_of(keys.channel, pde, path), field.view({n.height(), n.width()}),
                              mask.view({n.height(), n.width()}));
}

ConstraintPtr make_dirichlet(const json& spec, const Pde& pde, const std::string& path) {
  const auto keys = read<DirichletKeys>(spec, path);
  const auto n = pde.grid();
  const std::vector<int64_t> shape(n.begin(), n.end());
  const int ways = !keys.points.is_null() + !keys.box.is_null() + !keys.mask.empty();
  require<UsageError>(ways == 1, "{}: dirichlet needs exactly one of points, box and mask", path);
  if (!keys.points.is_null()) return make_points(keys, pde, path);
  const Tensor mask =
      keys.box.is_null() ? array(keys.mask, shape, path + ".mask") != 0 : box_mask(keys.box, n, path + ".box");
  const Tensor value = keys.value.is_string() ? array(keys.value.get<std::string>(), shape, path + ".value")
                                              : values(keys.value, 1, path + ".value").expand(shape);
  return dirichlet_constraint(channel_of(keys.channel, pde, path), value, mask);
}

ConstraintPtr make_slice(const json& spec, const Pde& pde, const std::string& path) {
  const auto keys = read<SliceKeys>(spec, path);
  require<UsageError>(!keys.index.is_null() && !keys.axis.empty(), "{}: slice needs axis and index", path);
  const Axis axis = axis_of(keys.axis, pde, path + ".axis");
  const int64_t n = points_along(pde, axis);
  if (!keys.index.is_number_integer()) detail::throw_wrong_type(path + ".index", "a whole number", keys.index);
  const auto index = keys.index.get<int64_t>();
  require<UsageError>(index >= -n && index < n, "{}.index: {} must be between {} and {}", path, index, -n, n - 1);
  return slice_constraint(channel_of(keys.channel, pde, path), axis, index,
                          values(keys.value, points_across(pde, axis), path + ".value"));
}

ConstraintPtr make_initial(const json& spec, const Pde& pde, const std::string& path) {
  const auto keys = read<InitialKeys>(spec, path);
  require<UsageError>(has_time_axis(pde), "{}: {} has no time axis, so no initial state", path, pde.name());
  return slice_constraint(channel_of(keys.channel, pde, path), Axis::w, 0,
                          values(keys.value, points_across(pde, Axis::w), path + ".value"));
}

ConstraintPtr make_boundary(const json& spec, const Pde& pde, const std::string& path) {
  const auto keys = read<BoundaryKeys>(spec, path);
  const Axis axis = axis_of(keys.axis, pde, path + ".axis");
  return slice_constraint(channel_of(keys.channel, pde, path), axis, keys.side == Side::first ? 0 : -1,
                          values(keys.value, points_across(pde, axis), path + ".value"));
}

ConstraintPtr make_periodic(const json& spec, const Pde& pde, const std::string& path) {
  const auto keys = read<PeriodicKeys>(spec, path);
  return periodic_constraint(channel_of(keys.channel, pde, path), axis_of(keys.axis, pde, path + ".axis"));
}

ConstraintPtr make_conservation(const json& spec, const Pde& pde, const std::string& path) {
  const auto keys = read<ConservationKeys>(spec, path);
  std::vector<Axis> axes;
  for (const auto& name : keys.axes) axes.push_back(axis_of(name, pde, path + ".axes"));
  const int64_t count = axes.size() == 1 ? points_across(pde, axes[0]) : 1;
  return conservation_constraint(channel_of(keys.channel, pde, path), axes, values(keys.value, count, path + ".value"),
                                 keys.area);
}

ConstraintPtr make_at(const json& spec, const Pde& pde, const std::string& path);

ConstraintPtr make_members(const json& list, const Pde& pde, const std::string& path) {
  std::vector<ConstraintPtr> members;
  for (size_t i = 0; i < list.size(); ++i) members.push_back(make_at(list[i], pde, fmt::format("{}[{}]", path, i)));
  return chain_constraint(std::move(members));
}

ConstraintPtr make_chain(const json& spec, const Pde& pde, const std::string& path) {
  const auto keys = read<ChainKeys>(spec, path);
  if (!keys.members.is_array()) detail::throw_wrong_type(path + ".members", "a list", keys.members);
  return make_members(keys.members, pde, path + ".members");
}

ConstraintPtr make_at(const json& spec, const Pde& pde, const std::string& path) {
  if (spec.is_array()) return make_members(spec, pde, path);
  if (!spec.is_object()) detail::throw_wrong_type(path, "a table", spec);
  const auto kind = spec.find("kind");
  require<UsageError>(kind != spec.end() && kind->is_string(), "{}.kind: expected one of {}", path,
                      fmt::join(constraint_registry().names(), ", "));
  return constraint_registry().at(kind->get<std::string>())(spec, pde, path);
}

}  // namespace

const Registry<ConstraintPtr(const json&, const Pde&, const std::string&)>& constraint_registry() {
  static const Registry<ConstraintPtr(const json&, const Pde&, const std::string&)> registry(
      "constraint kind", {
                             {"dirichlet", "given values at points, in a box or where a mask is true", make_dirichlet},
                             {"slice", "given values on one line of entries", make_slice},
                             {"initial", "given values at the first t", make_initial},
                             {"boundary", "given values at the first or last entry of an axis", make_boundary},
                             {"periodic", "first and last entry of an axis equal", make_periodic},
                             {"conservation", "given mean over one axis or both", make_conservation},
                             {"chain", "several, in order", make_chain},
                         });
  return registry;
}

ConstraintPtr make_constraint(const json& spec, const Pde& pde) { return make_at(spec, pde, "constraint"); }

}  // namespace piddm
