#include "piddm/files/run_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "piddm/core/config.h"
#include "piddm/core/error.h"
#include "piddm/core/input_file.h"
#include "piddm/core/json_text.h"
#include "piddm/core/toml_text.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/json_file.h"
#include "piddm/files/sha256.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr const char* kConfig = "config.toml";
constexpr const char* kOrigin = "origin.json";
constexpr const char* kMetrics = "metrics.jsonl";
constexpr const char* kCheckpoints = "checkpoints";
constexpr size_t kMaxConfig = size_t{16} << 20;
constexpr size_t kMaxMetrics = size_t{1} << 30;

/// Version 1 had neither format nor digests.
const JsonFormat& run_format() {
  static const JsonFormat format{.name = "piddm-run",
                                 .version = 2,
                                 .max_bytes = size_t{1} << 16,
                                 .remedy = "put the file back as it was, or begin the run again in another --out"};
  return format;
}

/// The first line of a config, a comment with the digest of what follows it.
const std::string kSealBegin = "# piddm-run 2 sha256 ", kSealEnd = " (change settings with --set, not here)\n";

std::string sealed(const std::string& toml) { return kSealBegin + sha256_hex(toml) + kSealEnd + toml; }

/// A DataError where the config has a first line of ours that does not belong to the rest.
void check_seal(const std::string& text, const std::string& origin) {
  if (!text.starts_with(kSealBegin)) return;
  const auto end = text.find('\n');
  const auto toml = end == std::string::npos ? "" : text.substr(end + 1);
  require<DataError>(text == sealed(toml),
                     "{}: damaged or edited by hand (its SHA-256 differs): put it back as it was and change settings "
                     "with --set, or remove its first line to continue with it as it is",
                     origin);
}

/// The complete lines of a metrics file, and nothing of a torn last one.
std::vector<std::string> read_lines(const fs::path& file) {
  const auto text = read_file(file, kMaxMetrics);
  std::vector<std::string> lines;
  for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  return lines;
}

json parse_row(const fs::path& file, const std::vector<std::string>& lines, size_t i) {
  const auto origin = fmt::format("{}:{}", file.string(), i + 1);
  auto row = parse_json(lines[i], origin);
  require<DataError>(row.is_object(), "{}: not an object", origin);
  return row;
}

/// All of `text`, or an errno with the file cut back to where it was.
int append_whole(int fd, const std::string& text) {
  const off_t begin = ::lseek(fd, 0, SEEK_END);
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int failed = written == 0 ? EIO : errno;
      return ::ftruncate(fd, begin) == 0 ? failed : errno;
    }
    done += static_cast<size_t>(written);
  }
  return 0;
}

}  // namespace

RunFolder::RunFolder(fs::path path) : path_(std::move(path)), lock_(FileLock::try_acquire(path_ / ".lock")) {
  require<ResourceError>(lock_.has_value(), "{}: another process is working in this run folder", path_.string());
}

RunFolder RunFolder::create(const fs::path& path, const json& config, const json& origin) {
  std::error_code failed;
  fs::create_directories(path, failed);
  require<ResourceError>(!failed, "cannot create {}: {}", path.string(), failed.message());
  RunFolder run(path);
  require<UsageError>(!exists(path), "{} already holds a run: continue it with --resume or choose another --out",
                      path.string());
  for (const char* name : {kMetrics, kCheckpoints})
    require<UsageError>(!fs::exists(path / name), "{}: holds what is left of a run without its {}; remove this folder",
                        path.string(), kConfig);
  if (!origin.empty()) write_json_file(path / kOrigin, run_format(), origin);
  run.store(config);
  return run;
}

bool RunFolder::exists(const fs::path& path) { return fs::exists(path / kConfig); }

json RunFolder::read_config(const fs::path& path) {
  const auto file = path / kConfig;
  check_seal(read_file(file, kMaxConfig), file.string());
  return load_config(file.string());
}

json RunFolder::read_origin(const fs::path& path) {
  const auto file = path / kOrigin;
  return fs::exists(file) ? read_json_file(file, run_format()) : json::object();
}

RunFolder RunFolder::open(const fs::path& path) {
  require<DataError>(exists(path), "{}: no run here ({} is missing)", path.string(), kConfig);
  RunFolder run(path);
  remove_stale_temporaries(path);
  remove_stale_temporaries(path / kCheckpoints);
  run.config_ = read_config(path);
  return run;
}

void RunFolder::store(const json& config) {
  write_file_atomically(path_ / kConfig, sealed(to_toml(config)));
  config_ = read_config(path_);
}

void RunFolder::forget() const {
  std::error_code ignored;
  for (const char* name : {kConfig, kOrigin}) fs::remove(path_ / name, ignored);
}

void RunFolder::append_metrics(const json& row) const {
  const auto file = path_ / kMetrics;
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  require<ResourceError>(fd >= 0, "cannot open {}: {}", file.string(), std::strerror(errno));
  const int failed = append_whole(fd, row.dump() + "\n");
  ::close(fd);
  require<ResourceError>(failed == 0, "cannot write {}: {}", file.string(), std::strerror(failed));
}

void RunFolder::truncate_metrics(int64_t step) const {
  const auto file = path_ / kMetrics;
  if (!fs::exists(file)) return;
  const auto lines = read_lines(file);
  std::string kept;
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto row = parse_row(file, lines, i);
    const auto at = row.find("step");
    if (at == row.end() || !at->is_number() || at->get<double>() <= static_cast<double>(step)) kept += lines[i] + "\n";
  }
  write_file_atomically(file, kept);
}

CheckpointStore RunFolder::checkpoints(int keep_last) const { return {path_ / kCheckpoints, keep_last}; }

std::vector<json> RunFolder::read_metrics(const fs::path& path) {
  const auto file = fs::is_directory(path) ? path / kMetrics : path;
  std::vector<json> rows;
  if (fs::is_directory(path) && !fs::exists(file)) return rows;
  const auto lines = read_lines(file);
  for (size_t i = 0; i < lines.size(); ++i) rows.push_back(parse_row(file, lines, i));
  return rows;
}

}  // namespace piddm
