#include "piddm/core/log.h"

#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <mutex>

#include "piddm/core/console.h"

namespace piddm {

namespace {

/// A line a message, warnings and errors in colour on a terminal.
class ConsoleSink : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    static const bool colours = ::isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
    const auto text = printable({message.payload.data(), message.payload.size()});
    const char* colour = message.level >= spdlog::level::err ? "\x1b[31m" : "\x1b[33m";
    const bool coloured = colours && message.level >= spdlog::level::warn;
    say(coloured ? colour + text + "\x1b[m\n" : text + "\n");
  }
  void flush_() override {}
};

}  // namespace

void set_up_logging(bool quiet) {
  static const auto logger = std::make_shared<spdlog::logger>("piddm", std::make_shared<ConsoleSink>());
  logger->set_level(quiet ? spdlog::level::warn : spdlog::level::info);
  spdlog::set_default_logger(logger);
}

}  // namespace piddm
