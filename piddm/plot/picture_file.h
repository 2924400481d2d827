#pragma once
// Figures as files. PNG in full colour, SVG and PDF: one drawing for all three.
//
// A build without Cairo keeps the figure instead of its picture: FILE.figure (figure_file.h) with the same content,
// and says once that `piddm plot` draws it elsewhere.

#include <filesystem>
#include <string>

#include "piddm/plot/page.h"

namespace piddm {

constexpr double kDefaultDpi = 192;  ///< two pixels per unit

/// How pictures are drawn that a command makes by the way, under names of its own.
struct PictureStyle {
  std::string extension = "";  ///< ".png", ".svg" or ".pdf"; empty: ".png", of charts ".svg" too
  double dpi = kDefaultDpi;
};

/// Of this process, from now on.
void set_picture_style(const PictureStyle& style);
const PictureStyle& picture_style();

/// The name with the style's extension.
std::string picture_name(const std::string& name);

struct RenderedPicture {
  std::string bytes;
  Size size;                      ///< of the page, in units
  std::vector<PlacedText> texts;  ///< every line of text where it stands
};

RenderedPicture render(const Figure& figure, PictureFormat format, double dpi = kDefaultDpi);

/// By extension: .png, .svg or .pdf; a UsageError for another.
PictureFormat picture_format(const std::filesystem::path& file);

/// Atomically, in the format of the extension. Returns what was written: `file`, or without Cairo FILE.figure.
std::filesystem::path write_picture(const Figure& figure, const std::filesystem::path& file, double dpi = kDefaultDpi);

/// NAME in the process's style. Returns what was written, as write_picture does.
std::filesystem::path write_sheet(const Figure& figure, const std::filesystem::path& folder, const std::string& name);

/// NAME.png and NAME.svg, or what the process's style says: of charts, which stay sharp at any size.
void write_chart(const Figure& figure, const std::filesystem::path& folder, const std::string& name);

/// Draws FILE.figure as FILE, or with another extension if given one (".pdf"). Returns the picture.
std::filesystem::path draw_kept_figure(const std::filesystem::path& figure_file, double dpi = kDefaultDpi,
                                       const std::string& extension = "");

/// The figures kept in a folder, sorted.
std::vector<std::filesystem::path> kept_figures(const std::filesystem::path& folder);

}  // namespace piddm
