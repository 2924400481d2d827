#pragma once
// Numbers on the command line, checked as they are written: conversion alone would cut 99999999999999999999 to the
// largest number there is.

#include <cstdint>
#include <functional>
#include <string>

namespace piddm::cli {

/// What an option says of its text: nothing where that is fine, else what it must be.
using TextCheck = std::function<std::string(const std::string&)>;

/// A whole number from `low` to `high`. Beyond a billion there are only slips of the pen.
TextCheck whole_number(int64_t low, int64_t high = 1'000'000'000);

/// Points per side from `low` to `high`: 64, or 64x32.
TextCheck grid_size(int64_t low, int64_t high);

/// A finite number more than `low` and at most `high`.
TextCheck number_above(double low, double high);

/// A seed of random numbers.
TextCheck seed_number();

constexpr int64_t kMostSamples = 1'000'000'000'000;       ///< of files that are written piece by piece
constexpr int64_t kLargestFirst = 1'000'000'000'000'000;  ///< number of a sample in a seed's stream

}  // namespace piddm::cli
