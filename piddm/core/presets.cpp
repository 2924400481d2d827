#include "piddm/core/config.h"

namespace piddm {

namespace {

const std::string kBaseFolder = "base/";

std::string summary_of(const std::string& text) {
  if (text.rfind("# ", 0) != 0) return "";
  return text.substr(2, text.find('\n') - 2);
}

std::vector<Preset> embedded(bool bases) {
  const std::vector<Preset> all = {
#include "piddm_presets.inc"  // {"name", "", R"toml(...)toml"}, one for each file below configs/, written by CMake
  };
  std::vector<Preset> out;
  for (auto preset : all) {
    if (preset.name.starts_with(kBaseFolder) != bases) continue;
    preset.summary = summary_of(preset.text);
    out.push_back(preset);
  }
  return out;
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> experiments = embedded(false);
  return experiments;
}

const std::vector<Preset>& preset_bases() {
  static const std::vector<Preset> bases = embedded(true);
  return bases;
}

}  // namespace piddm
