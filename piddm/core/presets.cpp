#include "piddm/core/config.h"

namespace piddm {

namespace {

std::string summary_of(const std::string& text) {
  if (text.rfind("# ", 0) != 0) return "";
  return text.substr(2, text.find('\n') - 2);
}

std::vector<Preset> make_presets() {
  std::vector<Preset> all = {
#include "piddm_presets.inc"  // {"name", "", R"toml(...)toml"}, one for each file of configs/, written by CMake
  };
  for (auto& preset : all) preset.summary = summary_of(preset.text);
  return all;
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = make_presets();
  return all;
}

}  // namespace piddm
