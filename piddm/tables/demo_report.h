#pragma once
// Tables and pictures of the demo.

#include <filesystem>
#include <map>
#include <string>

#include "piddm/pde/pde.h"

namespace piddm {

/// Where the samples and solved tasks to be drawn are.
struct DemoFiles {
  std::filesystem::path held_out;
  std::map<std::string, std::filesystem::path> folders;  ///< by method and task name
  const Pde& pde;
};

/// Writes report.json, report.md, samples.png and tasks.png into `out`.
void write_report(const std::filesystem::path& out, const json& report, const DemoFiles& files);

}  // namespace piddm
