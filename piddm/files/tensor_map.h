#pragma once
// Named tensors, and what every tensor file needs to know about them.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "piddm/core/tensor.h"
#include "piddm/files/array_layout.h"

namespace piddm {

using TensorMap = std::map<std::string, Tensor>;

/// LibTorch's name of a stored type, and back; nothing for types that no format of ours has.
torch::ScalarType scalar_type(NumberType type);
std::optional<NumberType> number_type(torch::ScalarType type);

/// The tensor as contiguous CPU memory, detached, conjugation resolved.
Tensor packed(const Tensor& x);

/// The bytes of a packed tensor.
std::string_view bytes_of(const Tensor& x);

/// True if every byte of a freshly read bool tensor is 0 or 1; others are undefined behaviour in C++.
bool valid_bools(const Tensor& x);

}  // namespace piddm
