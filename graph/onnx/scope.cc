// Names are looked up from the inside to the outside.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/scope.h"

#include "absl/strings/str_cat.h"

namespace partita {

bool Scope::Define(const std::string& name, ValueId value) {
  return !name.empty() && values_.emplace(name, value).second;
}

std::optional<ValueId> Scope::Find(const std::string& name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer_) {
    const auto it = scope->values_.find(name);
    if (it != scope->values_.end()) return it->second;
  }
  return std::nullopt;
}

bool Scope::IsLeftOut(const std::string& name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer_) {
    if (scope->left_out_.contains(name)) return true;
    if (scope->values_.contains(name)) return false;
  }
  return false;
}

bool Scope::IsLost(const std::string& name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer_) {
    if (scope->lost_.contains(name)) return true;
  }
  return false;
}

absl::Status DefineOnce(const std::string& name, ValueId value, Scope& scope) {
  if (scope.Define(name, value)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("value ", name.empty() ? "(unnamed)" : name,
                   ": found a second definition; expected one"));
}

}  // namespace partita
