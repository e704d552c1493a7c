// Ordered storage of attributes.
// SPDX-License-Identifier: Apache-2.0

#include "graph/attributes.h"

#include <algorithm>

namespace partita {
namespace {

template <typename Entries>
auto LowerBound(Entries& entries, absl::string_view name) {
  return std::lower_bound(
      entries.begin(), entries.end(), name,
      [](const Attributes::Entry& entry, absl::string_view wanted) {
        return absl::string_view(entry.first) < wanted;
      });
}

}  // namespace

Attributes::Attributes(std::initializer_list<Entry> entries) {
  for (const Entry& entry : entries) Set(entry.first, entry.second);
}

const AttributeValue* Attributes::Find(absl::string_view name) const {
  auto it = LowerBound(entries_, name);
  return it != entries_.end() && it->first == name ? &it->second : nullptr;
}

void Attributes::Set(absl::string_view name, AttributeValue value) {
  auto it = LowerBound(entries_, name);
  if (it != entries_.end() && it->first == name) {
    it->second = std::move(value);
  } else {
    entries_.insert(it, {std::string(name), std::move(value)});
  }
}

void Attributes::Remove(absl::string_view name) {
  auto it = LowerBound(entries_, name);
  if (it != entries_.end() && it->first == name) entries_.erase(it);
}

}  // namespace partita
