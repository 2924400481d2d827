#include "piddm/plot/animation.h"

#include <zlib.h>

#include "tests/plot/picture.h"
#include "tests/testing.h"

namespace piddm {
namespace {

struct Chunk {
  std::string type, data;
};

uint32_t number(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = (value << 8) | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

/// Chunks with right check sums.
std::vector<Chunk> chunks(const std::string& png) {
  std::vector<Chunk> out;
  for (size_t at = 8; at < png.size();) {
    const size_t length = number(png, at);
    out.push_back({png.substr(at + 4, 4), png.substr(at + 8, length)});
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(png.data() + at + 4), static_cast<uInt>(length + 4));
    EXPECT_EQ(number(png, at + 8 + length), crc) << out.back().type;
    at += length + 12;
  }
  return out;
}

std::string frame(double value, int64_t size = 20) {
  Painter painter(static_cast<double>(size), 10, PictureFormat::png, 96);
  painter.fill({0, 0, 10, 10}, map_color(Colors::sequential, value));
  return painter.finish();
}

class Animations : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_draw()) GTEST_SKIP() << "built without Cairo";
  }
};

TEST_F(Animations, HaveEveryFrameInOrder) {
  const std::vector<std::string> frames = {frame(0), frame(0.5), frame(1)};
  const auto all = chunks(animated_png(frames, 0.25));
  EXPECT_EQ(all[0].type, "IHDR");
  EXPECT_EQ(all[1].type, "acTL");
  EXPECT_EQ(number(all[1].data, 0), 3U);
  EXPECT_EQ(number(all[1].data, 4), 0U);  // played without end
  EXPECT_EQ(all.back().type, "IEND");
  uint32_t sequence = 0;
  size_t controls = 0;
  for (const auto& chunk : all) {
    if (chunk.type != "fcTL" && chunk.type != "fdAT") continue;
    EXPECT_EQ(number(chunk.data, 0), sequence++);
    if (chunk.type != "fcTL") continue;
    ++controls;
    EXPECT_EQ(number(chunk.data, 4), 20U);
    EXPECT_EQ(number(chunk.data, 8), 10U);
    EXPECT_EQ(chunk.data.substr(20, 4), std::string("\x00\xfa\x03\xe8", 4));  // 250 / 1000 s
  }
  EXPECT_EQ(controls, 3U);
}

TEST_F(Animations, ViewersWithoutThemShowTheFirstFrame) {
  const auto first = frame(0.3);
  EXPECT_TRUE(torch::equal(testing::read_png(animated_png({first, frame(0.9)}, 0.1)), testing::read_png(first)));
}

TEST_F(Animations, LaterFramesAreTheOnesGiven) {
  const auto second = frame(0.9);
  const auto all = chunks(animated_png({frame(0.3), second}, 0.1));
  const auto data = std::find_if(all.begin(), all.end(), [](const Chunk& chunk) { return chunk.type == "fdAT"; });
  ASSERT_NE(data, all.end());
  EXPECT_THAT(second, ::testing::HasSubstr(data->data.substr(4)));
}

TEST_F(Animations, RefuseWhatDoesNotFit) {
  EXPECT_ERROR(animated_png({}, 0.1), ExitCode::usage, "no frames");
  EXPECT_ERROR(animated_png({frame(0), frame(0, 30)}, 0.1), ExitCode::usage, "frame 1 has another size");
  EXPECT_ERROR(animated_png({frame(0)}, 0), ExitCode::usage, "0 seconds");
  EXPECT_ERROR(animated_png({"GIF89a"}, 1), ExitCode::data, "not a PNG");
  EXPECT_ERROR(animated_png({frame(0).substr(0, 60)}, 1), ExitCode::data, "inside a chunk");
}

}  // namespace
}  // namespace piddm
