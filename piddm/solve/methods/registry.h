#pragma once
// Every method by name. A new one is its file pair and one line of the table in registry.cpp.

#include <string>
#include <vector>

#include "piddm/core/registry.h"
#include "piddm/solve/method.h"

namespace piddm {

/// Factories take the model and the method's own options as json.
const Registry<MethodPtr(const Model&, const json&)>& method_registry();

const std::vector<MethodCard>& method_cards();
const MethodCard& method_card(const std::string& name);

/// The method for this model; a UsageError with the reason where it cannot do the task on the model's PDE or needs
/// another kind of model.
MethodPtr make_method(const std::string& name, Task task, const Model& model, const json& options);

/// The method for this model when none is named: teacher or piddm.
std::string default_method(const Model& model);

}  // namespace piddm
