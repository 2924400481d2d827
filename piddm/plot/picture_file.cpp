#include "piddm/plot/picture_file.h"

#include <algorithm>

#include "piddm/core/error.h"
#include "piddm/core/log.h"
#include "piddm/files/atomic_file.h"
#include "piddm/plot/figure_file.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr const char* kKept = ".figure";

PictureStyle& style_of_process() {
  static PictureStyle style;
  return style;
}

void say_kept(const fs::path& folder) {
  static bool said = false;
  if (said) return;
  said = true;
  spdlog::warn("this build has no Cairo: pictures were left out; `piddm plot {}`, where there is one, draws them later",
               folder.empty() ? "." : folder.string());
}

}  // namespace

void set_picture_style(const PictureStyle& style) { style_of_process() = style; }

const PictureStyle& picture_style() { return style_of_process(); }

std::string picture_name(const std::string& name) {
  const auto& extension = picture_style().extension;
  return name + (extension.empty() ? ".png" : extension);
}

RenderedPicture render(const Figure& figure, PictureFormat format, double dpi) {
  const Page page = lay_out(figure);
  Painter painter(page.size.width, page.size.height, format, dpi);
  draw_page(painter, page);
  auto bytes = painter.finish();
  return {std::move(bytes), page.size, painter.texts()};
}

PictureFormat picture_format(const fs::path& file) {
  const auto extension = file.extension();
  if (extension == ".png") return PictureFormat::png;
  if (extension == ".svg") return PictureFormat::svg;
  require<UsageError>(extension == ".pdf", "{}: a picture must be .png, .svg or .pdf", file.string());
  return PictureFormat::pdf;
}

fs::path write_picture(const Figure& figure, const fs::path& file, double dpi) {
  const auto format = picture_format(file);
  if (can_draw()) {
    write_file_atomically(file, render(figure, format, dpi).bytes);
    return file;
  }
  const fs::path kept = file.string() + kKept;
  save_figure(figure, kept);
  say_kept(file.parent_path());
  return kept;
}

fs::path write_sheet(const Figure& figure, const fs::path& folder, const std::string& name) {
  return write_picture(figure, folder / picture_name(name), picture_style().dpi);
}

void write_chart(const Figure& figure, const fs::path& folder, const std::string& name) {
  write_sheet(figure, folder, name);
  if (picture_style().extension.empty()) write_picture(figure, folder / (name + ".svg"), picture_style().dpi);
}

fs::path draw_kept_figure(const fs::path& kept, double dpi, const std::string& extension) {
  require<UsageError>(kept.extension() == kKept, "{}: not a kept figure, FILE{}", kept.string(), kKept);
  auto file = fs::path(kept).replace_extension();
  if (!extension.empty()) file.replace_extension(extension);
  require<ResourceError>(can_draw(),
                         "this build has no Cairo, so it draws no pictures: install libcairo2-dev and build again");
  return write_picture(load_figure(kept), file, dpi);
}

std::vector<fs::path> kept_figures(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == kKept) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace piddm
