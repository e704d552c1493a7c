// Functions and variables of a module.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "graph/graph.h"

namespace partita {

Module Module::Clone() const {
  Module copy;
  *copy.literals_ = *literals_;
  copy.variables_ = variables_;
  for (const auto& function : functions_) {
    copy.AddFunction(function->Clone(copy.literals_.get()));
  }
  return copy;
}

Graph& Module::AddFunction(std::string name) {
  return AddFunction(std::make_unique<Graph>(std::move(name), literals_.get()));
}

Graph& Module::AddFunction(std::unique_ptr<Graph> function) {
  functions_.push_back(std::move(function));
  return *functions_.back();
}

void Module::SetFunction(int number, std::unique_ptr<Graph> function) {
  functions_[number] = std::move(function);
}

Graph* Module::FindFunction(absl::string_view name) const {
  for (const auto& function : functions_) {
    if (function->name() == name) return function.get();
  }
  return nullptr;
}

void Module::AddVariable(Variable variable) {
  variables_.push_back(std::move(variable));
}

const Variable* Module::FindVariable(absl::string_view name) const {
  for (const Variable& variable : variables_) {
    if (variable.name == name) return &variable;
  }
  return nullptr;
}

}  // namespace partita
