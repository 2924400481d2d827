// The headers that cost most to parse, compiled once.
#include <fmt/format.h>
#include <torch/torch.h>

#include <nlohmann/json.hpp>
