#include "piddm/core/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "piddm/core/console.h"

namespace piddm {

namespace {

std::atomic<ProgressMode> mode = ProgressMode::automatic;

bool on_terminal() { return isatty(STDERR_FILENO) != 0; }

std::string duration(double seconds) {
  const auto s = static_cast<int64_t>(seconds + 0.5);
  if (s >= 3600) return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

}  // namespace

void set_progress_mode(ProgressMode m) { mode = m; }

Progress::Progress(std::string label, int64_t total, int64_t done)
    : label_(std::move(label)),
      total_(std::max<int64_t>(1, total)),
      done_(done),
      start_(done),
      begin_(Clock::now()),
      shown_(begin_) {}

Progress::~Progress() {
  try {
    show(true);
  } catch (const std::exception&) {  // no memory for the line
  }
}

void Progress::advance(int64_t steps, const std::string& note) {
  done_ += steps;
  note_ = note;
  const double interval = on_terminal() ? 0.1 : 15.0;
  if (std::chrono::duration<double>(Clock::now() - shown_).count() >= interval) show(false);
}

std::string Progress::line() const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double rate = (done_ - start_) / std::max(elapsed, 1e-9);
  const double left = rate > 0 ? (total_ - done_) / rate : 0;
  const double share = static_cast<double>(done_) / total_;
  std::string bar;
  if (on_terminal()) {
    const int filled = static_cast<int>(24 * std::min(1.0, share));
    bar = "[" + std::string(filled, '#') + std::string(24 - filled, '.') + "] ";
  }
  const std::string time = done_ >= total_ ? duration(elapsed) : fmt::format("{} left", duration(left));
  return fmt::format("{:<28} {}{:3.0f}%  {}/{}  {:.3g}/s  {}  {}", label_, bar, 100 * share, done_, total_, rate, time,
                     note_);
}

void Progress::show(bool last) {
  if (mode == ProgressMode::silent) return;
  if (last && !on_terminal() && shown_done_ == done_) return;  // this line is out already
  shown_done_ = done_;
  shown_ = Clock::now();
  const auto text = printable(line());
  say(on_terminal() ? fmt::format("\r{}\x1b[K{}", text, last ? "\n" : "") : text + "\n");
}

}  // namespace piddm
