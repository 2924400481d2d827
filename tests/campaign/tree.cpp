#include "tests/campaign/tree.h"

#include <algorithm>
#include <sstream>

#include "piddm/core/fields.h"
#include "piddm/data/data_file.h"
#include "piddm/files/sha256.h"
#include "piddm/files/tensor_map.h"
#include "tests/testing.h"

namespace piddm::testing {

namespace fs = std::filesystem;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

void drop_times(json& value) {
  if (value.is_object()) {
    std::vector<std::string> dropped;
    for (const auto& [key, entry] : value.items())
      if (contains(key, "seconds") || contains(key, "sha256") || key == "digest" || key == "out")
        dropped.push_back(key);
    for (const auto& key : dropped) value.erase(key);
  }
  if (value.is_structured())
    for (auto& entry : value) drop_times(entry);
}

std::string timeless_json(const std::string& text) {
  auto value = json::parse(text, nullptr, false);
  if (value.is_discarded()) return text;
  drop_times(value);
  return value.dump();
}

std::string lines_without(const std::string& text, std::string_view part) {
  std::istringstream in(text);
  std::string kept;
  for (std::string line; std::getline(in, line);)
    if (!contains(line, part)) kept += line + "\n";
  return kept;
}

std::string timeless_lines(const std::string& text) {
  std::istringstream in(text);
  std::string kept;
  for (std::string line; std::getline(in, line);) kept += timeless_json(line) + "\n";
  return kept;
}

std::string words_of(std::string text) {
  std::erase_if(text, [](unsigned char c) { return c == 'e' || (c < 128 && std::isalpha(c) == 0); });
  return text;
}

/// Of generated samples: the values, and the description, which has the folder and the time in it.
std::string samples_of(const fs::path& file) {
  auto data = read_arrays(file);
  drop_times(data.description);
  Sha256 hash;
  hash.update(data.description.dump());
  for (const auto& [name, values] : data.arrays) hash.update(name), hash.update(bytes_of(packed(values)));
  return hash.hex();
}

std::string content_of(const fs::path& file) {
  const auto name = file.filename().string(), extension = file.extension().string();
  if (extension == ".sha256" && file.stem().extension() == ".json") return "digest of JSON";
  if (name == "samples.npz") return samples_of(file);
  const auto text = read_text(file);
  if (extension == ".json") return sha256_hex(timeless_json(text));
  if (extension == ".jsonl") return sha256_hex(timeless_lines(text));
  if (name == "manifest.sha256") return sha256_hex(lines_without(text, "state.json"));
  for (const char* page : {".md", ".html", ".csv", ".tex"})
    if (extension == page) return sha256_hex(words_of(text));
  return sha256_hex(text);
}

void list(std::string& text, const char* label, const std::vector<std::string>& names) {
  for (const auto& name : names) text += fmt::format("\n  {} {}", label, name);
}

}  // namespace

Tree tree_of(const fs::path& folder, const std::vector<std::string>& without) {
  Tree tree;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto name = "/" + entry.path().lexically_relative(folder).string();
    if (std::any_of(without.begin(), without.end(), [&](const auto& part) { return contains(name, part); })) continue;
    tree[name] = entry.is_symlink()     ? "link to " + fs::read_symlink(entry.path()).string()
                 : entry.is_directory() ? "folder"
                                        : content_of(entry.path());
  }
  return tree;
}

TreeDifference compare_trees(const Tree& found, const Tree& expected) {
  TreeDifference difference;
  for (const auto& [name, content] : expected) {
    const auto at = found.find(name);
    if (at == found.end()) {
      difference.missing.push_back(name);
    } else if (at->second != content) {
      difference.different.push_back(name);
    }
  }
  for (const auto& [name, content] : found)
    if (!expected.contains(name)) difference.surplus.push_back(name);
  return difference;
}

std::string TreeDifference::text() const {
  std::string out;
  list(out, "missing", missing);
  list(out, "stale", surplus);
  list(out, "different", different);
  return out;
}

Finished finished_in(const fs::path& folder) {
  constexpr std::string_view unfinished = "unfinished-";
  Finished finished;
  if (!fs::exists(folder)) return finished;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    auto name = entry.path().lexically_relative(folder).string();
    const bool open = contains(name, unfinished);
    const bool once = (name.ends_with(".npz.sha256") || name.ends_with("/step.json")) && !open;
    if (once) finished[name] = -entry.last_write_time().time_since_epoch().count();
    if (!name.ends_with("checkpoints/latest")) continue;
    if (open) name.erase(name.find(unfinished), unfinished.size());
    finished[name] = std::stoll(read_text(entry.path()).substr(std::string("step-").size()));
  }
  return finished;
}

std::vector<std::string> lost_since(const Finished& before, const Finished& after) {
  std::vector<std::string> lost;
  for (const auto& [name, value] : before) {
    const auto at = after.find(name);
    if (at == after.end() || at->second < value) lost.push_back(name);
  }
  return lost;
}

}  // namespace piddm::testing
