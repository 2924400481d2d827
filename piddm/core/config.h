#pragma once
// Configurations: TOML on disk, json in memory, options structs (fields.h) in the code.

#include <filesystem>
#include <string>
#include <vector>

#include "piddm/core/fields.h"

namespace piddm {

struct Preset {
  std::string name;     ///< path below configs/ without ".toml"
  std::string summary;  ///< its first comment line
  std::string text;     ///< the TOML itself
};

/// The presets compiled into the binary, one for each file of configs/.
const std::vector<Preset>& presets();

/// What presets are built on (`base = "base/32"`), the files of configs/base/: no experiments themselves.
const std::vector<Preset>& preset_bases();

/// A preset by name or, if `name` ends in ".toml", a file. A config may begin with `base = "NAME"`, another config (a
/// file is looked for beside this one) whose settings hold where it has none of its own.
json load_config(const std::string& name);

/// Applies "a.b=value" to a config; the value is TOML, or a bare word taken as a string.
void apply_setting(json& config, const std::string& setting);

/// Later tables win; tables merge, everything else is replaced.
void merge_config(json& base, const json& overlay);

}  // namespace piddm
