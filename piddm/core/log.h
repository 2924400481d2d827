#pragma once
// Messages to a person, on standard error; standard output belongs to results.

#include <spdlog/spdlog.h>

namespace piddm {

/// `quiet` leaves warnings and errors only.
void set_up_logging(bool quiet);

}  // namespace piddm
