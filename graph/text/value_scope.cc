// Definitions and uses of values, by name.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/value_scope.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/text/names.h"

namespace partita {
namespace {

constexpr size_t kMostHints = 6;
constexpr size_t kHintsLookedAt = 1000;

// The key of a value in the scope: the text after `%`, quoted only if
// necessary.
std::string KeyOf(const Token& token) {
  const std::optional<std::string> name = NameOf(token);
  if (!name.has_value() || name->empty()) {
    return std::string(token.text.substr(1));
  }
  return NameText(*name);
}

}  // namespace

std::string KnownHere(absl::string_view name,
                      absl::Span<const std::string> candidates) {
  if (candidates.size() > kHintsLookedAt) {
    candidates.remove_prefix(candidates.size() - kHintsLookedAt);
  }
  const std::vector<std::string> names =
      ClosestNames(name, candidates, kMostHints);
  return absl::StrCat("known here: ",
                      names.empty() ? "none" : absl::StrJoin(names, ", "));
}

bool ValueScope::Define(const Token& name, ValueId id) {
  const std::string key = KeyOf(name);
  if (!values_.insert({key, id}).second) {
    return reader_.Report(
        name, absl::StrCat("found a second definition of ",
                           name.text.substr(0, 60), "; expected another name"));
  }
  names_.push_back(absl::StrCat("%", key));
  return true;
}

void ValueScope::DefineFaulty(const Token& name) {
  values_.insert({KeyOf(name), ValueId()});
}

bool ValueScope::Read(ValueId& id) {
  const Token name = reader_.peek();
  const std::optional<std::string> read =
      reader_.ReadName(Token::Kind::kValue, "% and a value's name");
  if (!read.has_value()) return false;
  const auto it = values_.find(KeyOf(name));
  if (it == values_.end()) {
    return reader_.Report(
        name, absl::StrCat("unknown value ", name.text.substr(0, 60)),
        KnownHere(name.text, names_));
  }
  id = it->second;
  return true;
}

}  // namespace partita
