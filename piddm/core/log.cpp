#include "piddm/core/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>

namespace piddm {

void set_up_logging(bool quiet) {
  static const auto logger = spdlog::stderr_color_mt("piddm");
  logger->set_pattern("%^%v%$");
  logger->set_level(quiet ? spdlog::level::warn : spdlog::level::info);
  spdlog::set_default_logger(logger);
}

}  // namespace piddm
