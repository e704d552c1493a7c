// Functions and variables of a module.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "graph/graph.h"

namespace partita {

Module Module::Clone() const {
  Module copy;
  *copy.literals_ = *literals_;
  copy.variables_ = variables_;
  copy.variable_numbers_ = variable_numbers_;
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
  variable_numbers_.try_emplace(variable.name,
                                static_cast<int>(variables_.size()));
  variables_.push_back(std::move(variable));
}

const Variable* Module::FindVariable(absl::string_view name) const {
  const auto number = variable_numbers_.find(name);
  return number == variable_numbers_.end() ? nullptr
                                           : &variables_[number->second];
}

}  // namespace partita
