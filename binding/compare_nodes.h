// Which nodes of two normal forms compute the same.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_BINDING_COMPARE_NODES_H_
#define PARTITA_BINDING_COMPARE_NODES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "binding/normal_form.h"
#include "graph/ids.h"

namespace partita {

// Of a value in two normal forms: equal numbers are equal values.
// Invalid: a value whose node the other form lacks.
using ValueNumber = Id<struct ValueNumberTag>;

inline constexpr int kNoElements = -1;

// What a node reads.
struct NodeKey {
  std::vector<ValueNumber> operands;
  int elements = kNoElements;  // of a constant (ConstantNumbers)
  // Equal for nodes with equal operands, elements, ops, devices and attributes.
  size_t hash = 0;
};

NodeKey KeyOf(const NormalNode& node, std::vector<ValueNumber> operands,
              int elements);

// What differs between the nodes, apart from operands and elements: op,
// attributes by their bits, types except for layouts, devices, shardings. "" if
// nothing does.
std::string DifferenceOf(const NormalNode& found, const NormalNode& expected);

}  // namespace partita

#endif  // PARTITA_BINDING_COMPARE_NODES_H_
