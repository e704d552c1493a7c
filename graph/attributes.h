// The attributes of a node: named, typed, static values.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ATTRIBUTES_H_
#define PARTITA_GRAPH_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/dtype.h"
#include "graph/ids.h"
#include "graph/number.h"

namespace partita {

using AttributeValue =
    std::variant<int64_t, double, bool, std::string, std::vector<int64_t>,
                 std::vector<double>, DType, LiteralId, Number>;

// The alternatives of AttributeValue, in its order.
enum class AttributeKind : uint8_t {
  kInt,
  kFloat,
  kBool,
  kString,
  kInts,
  kFloats,
  kDType,
  kLiteral,
  kNumber,
};

// Floats are equal by their bits: -0.0 is not 0.0, and a NaN equals the NaN of
// its own bits.
bool SameValue(const AttributeValue& a, const AttributeValue& b);

inline AttributeKind KindOf(const AttributeValue& value) {
  return static_cast<AttributeKind>(value.index());
}

// A map from name to value, ordered by name. An attribute that is not stored
// has the default of its OpDef; Graph::AddNode stores none that equals its
// default, so equal nodes have equal attributes.
class Attributes {
 public:
  using Entry = std::pair<std::string, AttributeValue>;

  Attributes() = default;
  Attributes(std::initializer_list<Entry> entries);

  const AttributeValue* Find(absl::string_view name) const;
  void Set(absl::string_view name, AttributeValue value);
  void Remove(absl::string_view name);
  const std::vector<Entry>& entries() const { return entries_; }

  // The same names with the same values (SameValue).
  friend bool operator==(const Attributes& a, const Attributes& b);

 private:
  std::vector<Entry> entries_;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_ATTRIBUTES_H_
