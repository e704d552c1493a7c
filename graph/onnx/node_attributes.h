// Which attributes a node may have, and which values change nothing here.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_NODE_ATTRIBUTES_H_
#define PARTITA_GRAPH_ONNX_NODE_ATTRIBUTES_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/onnx/node_import.h"

namespace partita {

// An attribute that no converter reads.
struct NeutralAttribute {
  const char* op_type;
  const char* name;
  // The node computes the same with this value as without the attribute.
  bool (*changes_nothing)(const NodeImport& node,
                          const onnx::AttributeProto& value);
  const char* expected;  // of a value that would change something
};

absl::Span<const NeutralAttribute> NeutralAttributes();

// The row names the attribute among those that its converter reads.
bool ReadsAttribute(const ConverterRow& row, absl::string_view name);

// Before the conversion: each attribute of the node is there once, and is one
// that its converter reads or one whose value changes nothing here.
absl::Status CheckAttributes(const NodeImport& node, const ConverterRow& row);

// After it: the converter found each attribute of the kind that it asked for,
// and asked for all that the node has.
absl::Status CheckAttributesRead(const NodeImport& node,
                                 const ConverterRow& row);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_NODE_ATTRIBUTES_H_
