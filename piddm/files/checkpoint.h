#pragma once
// Checkpoints that survive a crash, a full disk and bit rot.
//
//   folder/step-N/<part>.safetensors   one file a part: model, ema, optimiser, ...
//   folder/step-N/state.json           {"step": N, "state": ...}, a document of json_file.h
//   folder/step-N/manifest.sha256      checked by load(), or by hand with `sha256sum -c`
//   folder/latest                      "step-N": the last one that was saved completely

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/files/tensor_map.h"

namespace piddm {

struct Checkpoint {
  int64_t step = 0;
  std::map<std::string, TensorMap> parts;
  json state = json::object();  ///< finite numbers only, they come back bit for bit
};

class CheckpointStore {
 public:
  /// `keep_last` older-to-newer steps are kept, 0 keeps all. The folder is made by the first save.
  CheckpointStore(std::filesystem::path folder, int keep_last);

  /// Writes step-N, then `latest`, then deletes steps below N beyond keep_last. A failure leaves the earlier
  /// checkpoints and `latest` as they were.
  void save(const Checkpoint& checkpoint);

  /// What `latest` names; the highest step if that file is missing or damaged; nothing if there is none.
  std::optional<int64_t> latest() const;

  /// All steps, ascending.
  std::vector<int64_t> steps() const;

  /// Every file is checked against the manifest before it is parsed. A DataError names the damaged file and an older
  /// intact step if there is one.
  Checkpoint load(int64_t step) const;

  /// Deletes steps below `newest` beyond keep_last, as save() does at its end: for a run that was killed right there.
  void prune(int64_t newest) const;

 private:
  std::filesystem::path folder_of(int64_t step) const;
  void verify(int64_t step) const;
  std::optional<int64_t> intact_before(int64_t step) const;

  std::filesystem::path folder_;
  int keep_last_;
};

}  // namespace piddm
