#pragma once
// What every reader of files promises about damaged ones: it reads them or throws a piddm::Error, within a second and
// 512 MiB; never a crash, a hang or another exception.

#include <functional>
#include <string>
#include <vector>

namespace piddm::testing {

enum class Content { bytes, json, lines };

/// A kind of file that the program reads.
struct FileKind {
  std::string name;
  double share;                    ///< of all mutations
  std::vector<std::string> seeds;  ///< contents of good files
  Content content = Content::bytes;
  std::function<void(const std::string& content)> read;  ///< stores the content and reads the file
  bool only_data_errors = false;                         ///< of files of numbers: every refusal is a DataError
};

/// Reads damaged versions: the share of what the environment's PIDDM_MUTATIONS says, of 20,000 by default. Half of
/// those of a text are damaged by meaning (a key taken out, a huge number), half byte by byte. At least one in twenty
/// must be refused, or the reader looks at nothing.
void expect_survival(const FileKind& kind);

}  // namespace piddm::testing
