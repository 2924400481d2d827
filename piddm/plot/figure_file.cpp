#include "piddm/plot/figure_file.h"

#include "piddm/core/fields.h"
#include "piddm/core/input_file.h"
#include "piddm/files/atomic_file.h"

namespace piddm {

namespace {

constexpr size_t kMostBytes = size_t{1} << 30;
constexpr int64_t kMostPoints = int64_t{1} << 24;
constexpr const char* kName = "piddm-drawing";

json tensor_json(const Tensor& field) {
  const auto values = field.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  const double* first = values.data_ptr<double>();
  return {{"height", values.size(0)},
          {"width", values.size(1)},
          {"values", std::vector<double>(first, first + values.numel())}};
}

Tensor tensor_from(const json& object) {
  const int64_t height = object.at("height"), width = object.at("width");
  auto values = object.at("values").get<std::vector<double>>();
  require<DataError>(height > 0 && width > 0 && height <= kMostPoints && width <= kMostPoints &&
                         static_cast<int64_t>(values.size()) == height * width,
                     "[figure] a field of {} x {} has {} values", height, width, values.size());
  return torch::from_blob(values.data(), {height, width}, torch::kFloat64).clone();
}

json range_json(const std::optional<ColorRange>& range) { return range ? json{range->first, range->second} : json(); }
std::optional<ColorRange> range_from(const json& object) {
  return object.is_null() ? std::nullopt : std::optional<ColorRange>({object.at(0), object.at(1)});
}

/// One list of members per type, for both directions.
struct Writer {
  json& object;
  template <class T>
  void operator()(const char* key, const T& value) const {
    object[key] = value;
  }
  void operator()(const char* key, const Tensor& value) const { object[key] = tensor_json(value); }
  void operator()(const char* key, const std::optional<ColorRange>& value) const { object[key] = range_json(value); }
  void operator()(const char* key, const Colors& value) const { object[key] = value == Colors::diverging; }
};

struct Reader {
  const json& object;
  template <class T>
  void operator()(const char* key, T& value) const {
    object.at(key).get_to(value);
  }
  void operator()(const char* key, Tensor& value) const { value = tensor_from(object.at(key)); }
  void operator()(const char* key, std::optional<ColorRange>& value) const { value = range_from(object.at(key)); }
  void operator()(const char* key, Colors& value) const {
    value = object.at(key).get<bool>() ? Colors::diverging : Colors::sequential;
  }
};

template <class T, class F>
concept Is = std::same_as<std::remove_const_t<T>, F>;

void members(Is<Tick> auto& t, auto&& f) { f("value", t.value), f("label", t.label); }
void members(Is<FieldAxis> auto& a, auto&& f) {
  f("label", a.label), f("low", a.low), f("high", a.high), f("ticks", a.ticks);
}
void members(Is<FieldPanel> auto& p, auto&& f) {
  f("title", p.title), f("field", p.field), f("range", p.range), f("diverging", p.colors), f("gaps", p.gaps);
  f("x", p.x), f("y", p.y), f("unit", p.unit), f("aspect", p.aspect), f("width", p.width);
  f("sensors", p.sensors);
}
void members(Is<NumberMark> auto& m, auto&& f) { f("name", m.name), f("value", m.value), f("error", m.error); }
void members(Is<NumberStrip> auto& s, auto&& f) {
  f("title", s.title), f("label", s.label), f("marks", s.marks), f("points", s.points), f("range", s.range);
}
void members(Is<Curve> auto& c, auto&& f) {
  f("name", c.name), f("x", c.x), f("y", c.y), f("error", c.error), f("low", c.low), f("high", c.high);
}
void members(Is<LineChart> auto& c, auto&& f) {
  f("title", c.title), f("x_label", c.x_label), f("y_label", c.y_label), f("curves", c.curves);
  f("log_x", c.log_x), f("log_y", c.log_y), f("y_range", c.y_range);
}
void members(Is<BarSeries> auto& s, auto&& f) { f("name", s.name), f("values", s.values), f("errors", s.errors); }
void members(Is<BarChart> auto& c, auto&& f) {
  f("title", c.title), f("y_label", c.y_label), f("groups", c.groups), f("series", c.series), f("log_y", c.log_y);
}
void members(Is<ScatterPoint> auto& p, auto&& f) {
  f("label", p.label), f("x", p.x), f("y", p.y), f("x_error", p.x_error), f("y_error", p.y_error);
}
void members(Is<ScatterSeries> auto& s, auto&& f) { f("name", s.name), f("points", s.points); }
void members(Is<ScatterChart> auto& c, auto&& f) {
  f("title", c.title), f("x_label", c.x_label), f("y_label", c.y_label), f("series", c.series);
  f("log_x", c.log_x), f("log_y", c.log_y), f("frontier", c.frontier);
}

template <class T>
concept HasMembers = requires(T& value, Writer f) {
  members(value, f);
};

}  // namespace

// Found by nlohmann's conversion, which looks in the namespace of the type.
template <HasMembers T>
void to_json(json& object, const T& value) {
  object = json::object();
  members(value, Writer{object});
}

template <HasMembers T>
void from_json(const json& object, T& value) {
  members(value, Reader{object});
}

namespace {

template <size_t kIndex = 0>
Panel panel_from(const json& object) {
  if constexpr (kIndex < std::variant_size_v<Panel>) {
    if (object.at("kind").get<size_t>() != kIndex) return panel_from<kIndex + 1>(object);
    return object.get<std::variant_alternative_t<kIndex, Panel>>();
  } else {
    throw DataError("[figure] a panel of unknown kind {}", object.at("kind").dump());
  }
}

json panel_json(const Panel& panel) {
  json object = std::visit([](const auto& one) { return json(one); }, panel);
  object["kind"] = panel.index();
  return object;
}

}  // namespace

void save_figure(const Figure& figure, const std::filesystem::path& file) {
  check_figure(figure);
  json object = {{"format", kName}, {"version", 1}, {"title", figure.title}, {"rows", json::array()}};
  for (const auto& row : figure.rows) {
    json panels = json::array();
    for (const auto& panel : row.panels) panels.push_back(panel_json(panel));
    object["rows"].push_back({{"label", row.label}, {"panels", panels}});
  }
  const auto bytes = json::to_cbor(object);
  write_file_atomically(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Figure load_figure(const std::filesystem::path& file) {
  const auto bytes = read_file(file, kMostBytes);
  try {
    const auto object = json::from_cbor(bytes);
    require<DataError>(object.at("format") == kName && object.at("version") == 1, "another format");
    Figure figure{.title = object.at("title")};
    for (const auto& row : object.at("rows")) {
      figure.rows.push_back({.label = row.at("label")});
      for (const auto& panel : row.at("panels")) figure.rows.back().panels.push_back(panel_from(panel));
    }
    check_figure(figure);
    return figure;
  } catch (const json::exception& error) {
    throw DataError("{}: not a figure of this program: {}", file.string(), error.what());
  } catch (const DataError& error) {
    throw DataError("{}: not a figure of this program: {}", file.string(), error.what());
  }
}

}  // namespace piddm
