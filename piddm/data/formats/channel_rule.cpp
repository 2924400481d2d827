#include "piddm/data/formats/channel_rule.h"

#include <algorithm>
#include <cmath>

namespace piddm {

namespace {

constexpr const char* kDefaultAxes[] = {"", "n", "nx", "nxy", "nxyt"};

void check_axes(const ChannelRule& rule) {
  std::set<char> seen;
  for (const char c : rule.axes) {
    const bool known = kAxisLetters.find(c) != std::string_view::npos;
    require<UsageError>(known && (c == '1' || seen.insert(c).second), "--axes {}: '{}': letters of {}, each once",
                        rule.axes, c, kAxisLetters);
  }
  for (const auto& [axis, unused] : rule.picks)
    require<UsageError>(rule.axes.find(axis) != std::string::npos, "--map {}: '{}' has the axes {}, no {} to pick from",
                        rule.channel, rule.key, rule.axes, axis);
}

/// "'u' is (10,64,64) with axes nxyt"
std::string with_axes(const ArraySet& arrays, const ChannelRule& rule) {
  return fmt::format("{}: array '{}' is ({}) with axes {}", arrays.origin(), rule.key,
                     fmt::join(arrays.info(rule.key).shape, ","), rule.axes);
}

bool picked(const ChannelRule& rule, char axis) { return axis == '1' || rule.picks.count(axis) > 0; }

int64_t square_side(const ArraySet& arrays, const ChannelRule& rule, int64_t size) {
  const auto side = static_cast<int64_t>(std::llround(std::sqrt(static_cast<double>(size))));
  require<DataError>(side * side == size, "{}: {} is not a square number", with_axes(arrays, rule), size);
  return side;
}

void merge(int64_t& size, int64_t found, const ArraySet& arrays, const ChannelRule& rule, char axis) {
  require<DataError>(found > 0 && (size == 0 || size == found), "{}: {} entries on axis {}, but another channel has {}",
                     with_axes(arrays, rule), found, axis, size);
  size = found;
}

void merge_sizes(Extent& extent, const ArraySet& arrays, const ChannelRule& rule) {
  const auto& shape = arrays.info(rule.key).shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    const char axis = rule.axes[i];
    require<DataError>(axis != '1' || shape[i] == 1, "{}: axis {} has {} entries, not 1", with_axes(arrays, rule), i,
                       shape[i]);
    if (picked(rule, axis)) continue;
    if (axis == 'n') merge(extent.n, shape[i], arrays, rule, axis);
    if (axis == 'm') merge(extent.m, shape[i], arrays, rule, axis);
    if (axis == 'x') merge(extent.h, shape[i], arrays, rule, axis);
    if (axis == extent.w_axis) merge(extent.w, shape[i], arrays, rule, axis);
    if (axis == 'q') {
      const auto side = square_side(arrays, rule, shape[i]);
      merge(extent.h, side, arrays, rule, axis);
      merge(extent.w, side, arrays, rule, axis);
    }
    require<DataError>(std::string_view("nmxq").find(axis) != std::string_view::npos || axis == extent.w_axis,
                       "{}: axis {} must be picked, e.g. {}[{}=0]", with_axes(arrays, rule), axis, rule.key, axis);
  }
}

struct Part {
  int64_t n_first, n_count, stride_h, stride_w;
};

Slice slice_of(const ChannelRule& rule, char axis, int64_t size, const Extent& extent, const Part& part) {
  if (const auto pick = rule.picks.find(axis); pick != rule.picks.end())
    return {pick->second < 0 ? pick->second + size : pick->second, 1, 1};
  if (axis == 'n') return {part.n_first, part.n_count, 1};
  if (axis == 'x') return {0, -1, part.stride_h};
  if (axis == extent.w_axis) return {0, -1, part.stride_w};
  return {};
}

/// The array's part, with axes ordered n, m, x, W; sizes are 1 where it has no such axis.
Tensor read_ordered(const ChannelRule& rule, const ArraySet& arrays, const Extent& extent, const Part& part) {
  const auto& shape = arrays.info(rule.key).shape;
  std::vector<Slice> slices;
  for (size_t i = 0; i < shape.size(); ++i) slices.push_back(slice_of(rule, rule.axes[i], shape[i], extent, part));
  auto x = arrays.read(rule.key, slices);
  auto axes = rule.axes;
  if (const auto q = axes.find('q'); q != std::string::npos) {
    auto sizes = x.sizes().vec();
    sizes[q] = extent.h;
    sizes.insert(sizes.begin() + static_cast<int64_t>(q) + 1, extent.w);
    axes.replace(q, 1, std::string{'x', extent.w_axis});
    const auto at = static_cast<int64_t>(q);
    x = x.reshape(sizes).slice(at, 0, extent.h, part.stride_h).slice(at + 1, 0, extent.w, part.stride_w);
  }
  std::vector<int64_t> order, sizes;
  for (const char axis : {'n', 'm', 'x', extent.w_axis}) {
    const auto at = axes.find(axis);
    const bool there = at != std::string::npos && !picked(rule, axis);
    if (there) order.push_back(static_cast<int64_t>(at));
    sizes.push_back(there ? x.size(static_cast<int64_t>(at)) : 1);
  }
  for (size_t i = 0; i < axes.size(); ++i)
    if (picked(rule, axes[i])) order.push_back(static_cast<int64_t>(i));
  return x.permute(order).reshape(sizes);
}

int64_t strided(int64_t size, int64_t stride) { return size == 0 ? 1 : (size + stride - 1) / stride; }

}  // namespace

void ArraySet::add(ArrayFilePtr file) {
  for (const auto& [name, unused] : file->arrays()) owners_[name] = file;
  for (const auto& [object, values] : file->attributes()) attributes_[object] = values;
  files_.push_back(std::move(file));
}

bool ArraySet::overlaps(const ArrayFile& file) const {
  return std::any_of(file.arrays().begin(), file.arrays().end(), [&](const auto& entry) { return has(entry.first); });
}

json ArraySet::attributes(const std::string& object) const {
  const auto found = attributes_.find(object);
  return found == attributes_.end() ? json::object() : found->second;
}

std::string ArraySet::listed_names() const {
  constexpr size_t kMost = 20;
  auto first = names();
  const auto more = first.size() > kMost ? fmt::format(" and {} more", first.size() - kMost) : "";
  first.resize(std::min(first.size(), kMost));
  return fmt::format("{}{}", fmt::join(first, ", "), more);
}

std::vector<std::string> ArraySet::names() const {
  std::vector<std::string> names;
  for (const auto& [name, unused] : owners_) names.push_back(name);
  return names;
}

const ArrayInfo& ArraySet::info(const std::string& name) const {
  const auto owner = owners_.find(name);
  if (owner == owners_.end()) {
    for (const auto& file : files_)
      if (file->refuses(name)) file->read(name);  // throws the reason
    throw DataError("{}: {}", origin(), unknown_name_message("array", name, names()));
  }
  return owner->second->arrays().at(name);
}

Tensor ArraySet::read(const std::string& name, const std::vector<Slice>& slices) const {
  info(name);
  return owners_.at(name)->read(name, slices);
}

bool ArraySet::reads_parts() const {
  return std::all_of(files_.begin(), files_.end(), [](const auto& file) { return file->reads_parts(); });
}

std::string ArraySet::origin() const {
  std::vector<std::string> paths;
  for (const auto& file : files_) paths.push_back(file->path().string());
  return fmt::format("{}", fmt::join(paths, ", "));
}

Extent measure(const ArraySet& arrays, std::vector<ChannelRule>& rules) {
  Extent extent;
  for (auto& rule : rules) {
    if (rule.key.empty()) continue;
    const auto rank = arrays.info(rule.key).shape.size();
    if (rule.axes.empty()) {
      require<UsageError>(rank < std::size(kDefaultAxes), "--axes needed: array '{}' has {} axes", rule.key, rank);
      rule.axes = kDefaultAxes[rank];
    }
    check_axes(rule);
    require<DataError>(rule.axes.size() == rank, "{}, which are {} and not {}", with_axes(arrays, rule),
                       rule.axes.size(), rank);
    if (rule.axes.find('t') != std::string::npos && !picked(rule, 't')) extent.w_axis = 't';
  }
  for (const auto& rule : rules)
    if (!rule.key.empty()) merge_sizes(extent, arrays, rule);
  require<DataError>(extent.n > 0 || extent.m > 0, "{}: no channel has a sample axis n", arrays.origin());
  return extent;
}

Tensor evaluate(const ChannelRule& rule, const ArraySet& arrays, const Extent& extent, int64_t first, int64_t count,
                int64_t stride_h, int64_t stride_w) {
  const int64_t m = std::max<int64_t>(extent.m, 1), n_first = first / m,
                n_count = (first + count - 1) / m - n_first + 1;
  const int64_t h = strided(extent.h, stride_h), w = strided(extent.w, stride_w);
  if (rule.key.empty()) return torch::full({count, h, w}, rule.constant, torch::kFloat64);
  auto x = read_ordered(rule, arrays, extent, {n_first, n_count, stride_h, stride_w}).to(torch::kFloat64);
  if (rule.transform) x = rule.transform(x);
  x = x.expand({n_count, m, h, w}).reshape({n_count * m, h, w});
  return x.narrow(0, first - n_first * m, count);
}

}  // namespace piddm
