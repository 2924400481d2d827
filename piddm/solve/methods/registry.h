#pragma once
// Every method by name. A new one is its file pair and one line of the table in registry.cpp.

#include <string>
#include <vector>

#include "piddm/solve/method.h"

namespace piddm {

const std::vector<MethodCard>& method_cards();
std::vector<std::string> method_names();

/// A UsageError with the nearest name for one that is not there.
const MethodCard& method_card(const std::string& name);

/// The method for this model; a UsageError with the reason where it cannot do the task on the model's PDE or needs
/// another kind of model.
MethodPtr make_method(const std::string& name, Task task, const Model& model, const json& options);

/// The method of a model, or of all models of a kind: what generates samples when none is named.
std::string default_method(const Model& model);
std::string own_method(ModelKind kind);

struct ChosenMethod {
  std::string name, reason;
};

/// Of the methods that can answer the problem with this model and take these options, the one whose card promises most;
/// the model's own where no card does. Same merit: the first of the list.
ChosenMethod choose_method(const Problem& problem, const json& options = json::object());

/// What a method is told when nobody says anything: for the student's own method the options that suit this student.
json default_options(const std::string& method, const Model& model);

/// The same for a student that is yet to be trained; `solve` are the options its experiment has for it.
json default_options(const std::string& method, const json& solve);

}  // namespace piddm
