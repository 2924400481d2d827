// The headers that cost most to parse, compiled once.
#include <fmt/format.h>

#include <torch/types.h>
// after torch/types.h: these rely on it
#include <torch/autograd.h>
#include <torch/cuda.h>
#include <torch/fft.h>
#include <torch/nn/module.h>
#include <torch/utils.h>

#include <nlohmann/json.hpp>
