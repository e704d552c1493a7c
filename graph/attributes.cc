// Ordered storage of attributes.
// SPDX-License-Identifier: Apache-2.0

#include "graph/attributes.h"

#include <algorithm>
#include <bit>
#include <type_traits>

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

bool SameFloat(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

template <typename T>
bool SameHeld(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double>) {
    return SameFloat(a, b);
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameFloat);
  } else {
    return a == b;
  }
}

}  // namespace

bool SameValue(const AttributeValue& a, const AttributeValue& b) {
  return a.index() == b.index() &&
         std::visit(
             [&b](const auto& held) {
               return SameHeld(held, std::get<std::decay_t<decltype(held)>>(b));
             },
             a);
}

bool operator==(const Attributes& a, const Attributes& b) {
  return std::equal(a.entries_.begin(), a.entries_.end(), b.entries_.begin(),
                    b.entries_.end(),
                    [](const Attributes::Entry& x, const Attributes::Entry& y) {
                      return x.first == y.first &&
                             SameValue(x.second, y.second);
                    });
}

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
