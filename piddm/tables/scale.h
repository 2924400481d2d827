#pragma once
// How much of an experiment: every experiment of `reproduce` has its sizes for each of these.

#include <string>
#include <vector>

namespace piddm {

/// smoke: to see that it works, on two CPU cores; small: minutes, on a GPU for the tables; paper: the paper's sizes.
enum class Scale { smoke, small, paper };
inline std::vector<std::string> enum_names(Scale) { return {"smoke", "small", "paper"}; }

/// A UsageError names what there is.
Scale parse_scale(const std::string& name);

}  // namespace piddm
