#include "tests/cli/workshop.h"

namespace piddm::testing {

namespace {

constexpr const char* kConfig = R"(
pde = { name = "darcy", grid = 16 }
data = { n = 16 }
model = { type = "fno", width = 4, modes = [4, 4], layers = 2, lifting = 8, projection = 8, time_features = 8 }
[train]
steps = 20
batch = 4
[distill]
heads = { band_limited = true, smooth = true, bounded = true }
pairs = { steps = 4, chunk = 8, every = 5, pool = 2, held_out = 4 }
loss = { lambda = 1.0, physics_ramp = 5 }
train = { steps = 20, batch = 4, validate_every = 4 }
[solve]
task = { iterations = 5 }
)";

}  // namespace

const Workshop& Workshop::get() {
  static const Workshop workshop;
  return workshop;
}

Workshop::Workshop() {
  write_text(config(), kConfig);
  succeed({"data", "make", "darcy", "--n", "16", "--grid", "16", "--out", at("data.npz")});
  succeed({"data", "make", "darcy", "--n", "12", "--grid", "16", "--first", "1000", "--out", at("other.npz")});
  succeed({"data", "make", "darcy", "--n", "3", "--grid", "32", "--out", at("wide.npz")});
  succeed({"train", config(), "--data", at("data.npz"), "--out", at("teacher")});
  succeed({"distill", "--teacher", at("teacher"), "--out", at("student")});
  succeed({"generate", at("student"), "--n", "6", "--out", at("samples.npz")});
}

void truncate_file(const std::filesystem::path& file) {
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
}

void flip_bit(const std::filesystem::path& file, double share) {
  auto bytes = read_text(file);
  bytes[static_cast<size_t>(share * static_cast<double>(bytes.size() - 1))] ^= 4;
  write_text(file, bytes);
}

json only_json(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1) << outcome.out;
  const auto parsed = json::parse(outcome.out, nullptr, false);
  EXPECT_TRUE(parsed.is_object()) << outcome.out;
  return parsed;
}

}  // namespace piddm::testing
