#include "piddm/data/formats/mat5.h"

#include <algorithm>
#include <utility>

namespace piddm {

namespace {

class Mat5File : public ArrayFile {
 public:
  explicit Mat5File(const std::filesystem::path& path) : ArrayFile(path), file_(path) {
    for (auto& variable : list_mat5(file_)) add(std::move(variable));
    if (arrays_.empty() && !refused_.empty())
      throw DataError("[mat] {}: no numeric array; '{}' is {}", path.string(), refused_.begin()->first,
                      refused_.begin()->second);
  }

  bool reads_parts() const override { return false; }

 protected:
  Tensor read_slices(const std::string& name, const std::vector<Slice>& slices) const override {
    const auto& variable = variables_.at(name);
    auto shape = variable.shape;
    std::reverse(shape.begin(), shape.end());
    const auto numbers = torch::empty(shape, scalar_type(variable.type));
    read_mat5_numbers(file_, variable, numbers.data_ptr());
    std::vector<int64_t> axes;
    for (int64_t i = numbers.dim() - 1; i >= 0; --i) axes.push_back(i);
    const auto x = take_slices(numbers.permute(axes), slices);
    return (variable.logical ? x.ne(0) : x).contiguous();
  }

 private:
  void add(Mat5Variable variable) {
    if (!variable.refused.empty()) {
      refused_.emplace(variable.name, variable.refused);
      return;
    }
    arrays_[variable.name] = {variable.shape, variable.logical ? torch::kBool : scalar_type(variable.type)};
    const auto name = variable.name;
    require<DataError>(variables_.emplace(name, std::move(variable)).second, "[mat] {}: two variables called '{}'",
                       path_.string(), name);
  }

  InputFile file_;
  std::map<std::string, Mat5Variable> variables_;
};

}  // namespace

ArrayFilePtr open_mat5(const std::filesystem::path& path) { return std::make_shared<Mat5File>(path); }

}  // namespace piddm
