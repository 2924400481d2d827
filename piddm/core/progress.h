#pragma once
// Progress of a long loop: a bar with rate and time left on a terminal, a plain line now and then otherwise, nothing
// with --quiet.

#include <chrono>
#include <cstdint>
#include <string>

namespace piddm {

enum class ProgressMode { automatic, silent };
void set_progress_mode(ProgressMode mode);

class Progress {
 public:
  Progress(std::string label, int64_t total, int64_t done = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `note` follows the bar: "loss 0.0123".
  void advance(int64_t steps = 1, const std::string& note = "");

 private:
  using Clock = std::chrono::steady_clock;
  std::string line() const;
  void show(bool last);

  std::string label_, note_;
  int64_t total_, done_, start_;
  int64_t shown_done_ = -1;  ///< `done` of the line printed last
  Clock::time_point begin_, shown_;
};

}  // namespace piddm
