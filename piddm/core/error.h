#pragma once
// Every failure a user can cause is one of these types; the command line turns the type into its exit code.

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace piddm {

enum class ExitCode : int { ok = 0, usage = 2, data = 3, numerics = 4, resources = 5, interrupted = 130 };

/// Base of all errors: one line for a person, and the exit code that goes with it.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// An error type with its exit code; built like fmt::format: `throw DataError("{}: not a file", path)`.
template <ExitCode kCode>
class TypedError : public Error {
 public:
  template <class... Args>
  explicit TypedError(fmt::format_string<Args...> format, Args&&... args)
      : Error(kCode, fmt::format(format, std::forward<Args>(args)...)) {}
};

using UsageError = TypedError<ExitCode::usage>;         ///< wrong option, key, name or request
using DataError = TypedError<ExitCode::data>;           ///< bad, damaged or missing file; wrong shapes
using NumericsError = TypedError<ExitCode::numerics>;   ///< non-finite values, divergence
using ResourceError = TypedError<ExitCode::resources>;  ///< disk full, no permission, no such device, memory
using Interrupted = TypedError<ExitCode::interrupted>;  ///< stopped by a signal, state saved

/// `require<DataError>(x.dim() == 4, "[darcy] expected (B,2,H,W), got {}", shape)`
template <class E, class... Args>
void require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) throw E(format, std::forward<Args>(args)...);
}

}  // namespace piddm
