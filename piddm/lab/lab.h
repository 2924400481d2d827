#pragma once
// The laboratory: small experiments in which the truth is known, as recipes behind `piddm reproduce`.
//
// Each writes into its own folder
//   OUT/report.json              numbers, options (seed included) and machine
//   OUT/report.md, *.csv, *.png  tables, curves and pictures
//   OUT/steps/                   results of its steps under the hash of what they depend on: a second run computes
//                                nothing
//
// A new experiment is a file pair with one function that returns a LabRecipe, and one line in registry.cpp.

#include <array>
#include <filesystem>
#include <functional>
#include <string>

#include "piddm/core/registry.h"
#include "piddm/core/tensor.h"
#include "piddm/tables/scale.h"

namespace piddm {

struct LabRecipe {
  std::function<json(Scale)> options;              ///< every setting at this scale, the seed among them
  std::function<void(const json& options)> check;  ///< a UsageError for what is unknown or out of bounds
  std::function<json(const json& options, const std::filesystem::path& out, torch::Device device)> run;  ///< the report
  std::function<std::string(const json& report)> format;  ///< tables for a terminal; Markdown that reads well as text
};

const Registry<LabRecipe()>& lab_registry();

/// What run_lab adds to the report of every recipe.
inline constexpr std::array kLabKeys = {"experiment", "options", "seconds", "machine"};

/// Runs a recipe in `out` and writes report.json and report.md there.
json run_lab(const std::string& name, const json& options, const std::filesystem::path& out, torch::Device device);

/// OUT/report.json.
json read_lab_report(const std::filesystem::path& out);

}  // namespace piddm
