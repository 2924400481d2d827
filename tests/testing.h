#pragma once
// What all tests share.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "piddm/core/error.h"
#include "piddm/core/tensor.h"

namespace piddm::testing {

/// A fresh folder, removed with the object.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

std::filesystem::path golden(const std::string& name);  ///< a file of tests/golden
std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);

/// ||a-b|| / ||b|| in double.
double relative_error(const Tensor& a, const Tensor& b);

/// Largest relative deviation between autograd and central differences of the scalar function f at x (float64).
double gradient_error(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, int probes = 20,
                      double step = 1e-5);

/// Runs `statement`, which must throw an Error with this code and a message that contains `text`.
#define EXPECT_ERROR(statement, expected_code, text)                              \
  do {                                                                            \
    try {                                                                         \
      statement;                                                                  \
      ADD_FAILURE() << "no error from " #statement;                               \
    } catch (const piddm::Error& error) {                                         \
      EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(expected_code)); \
      EXPECT_THAT(std::string(error.what()), ::testing::HasSubstr(text));         \
    }                                                                             \
  } while (false)

}  // namespace piddm::testing
