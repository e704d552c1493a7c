// One node of a graph while it is written as ONNX nodes: the interface for
// exporters.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_EXPORT_NODE_EXPORT_H_
#define PARTITA_GRAPH_ONNX_EXPORT_NODE_EXPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/op_def.h"
#include "graph/op_view.h"

namespace onnx {
class NodeProto;
}  // namespace onnx

namespace partita {

class ModelDraft;
struct CopiedAttribute;
struct ExportRow;

// A node of the model that was just added, for setting its attributes.
class OnnxNode {
 public:
  explicit OnnxNode(onnx::NodeProto* node) : node_(node) {}
  // Its first result.
  std::string output() const;

  OnnxNode& Int(absl::string_view name, int64_t value);
  // Rounded to f32, the type of ONNX's attributes.
  OnnxNode& Float(absl::string_view name, double value);
  OnnxNode& String(absl::string_view name, absl::string_view value);
  OnnxNode& Ints(absl::string_view name, absl::Span<const int64_t> values);
  OnnxNode& Tensor(absl::string_view name, const HostTensor& value);

 private:
  onnx::NodeProto* node_;
};

// Values are identified by their names in the model.
class NodeExport {
 public:
  using Names = std::vector<std::string>;

  // `names`: those of operands and results.
  NodeExport(const OpView& op, const ExportRow& row,
             const absl::flat_hash_map<ValueId, std::string>& names,
             ModelDraft& draft);

  const OpView& op() const { return op_; }
  int rank(int operand) const { return op_.operand_type(operand).rank(); }
  DType dtype(int operand) const { return op_.operand_type(operand).dtype; }
  const std::string& operand(int i) const;
  Names operands() const;

  // Adds a node that computes the op's results: the row's ONNX op with the
  // row's attributes, or another.
  OnnxNode Give(const Names& inputs);
  OnnxNode Give(absl::string_view op_type, const Names& inputs);
  // Adds a node that computes an intermediate value, with its first input's
  // dtype unless another is given.
  OnnxNode Step(absl::string_view op_type, const Names& inputs,
                std::optional<DType> result = std::nullopt);
  // Copies an attribute like CopiedAttribute.
  void CopyFloat(OnnxNode& node, absl::string_view onnx_name,
                 absl::string_view name) const;

  // Constants; `what` is part of their names.
  std::string Ints(absl::string_view what, const std::vector<int64_t>& values);
  std::string Int(absl::string_view what, int64_t value);  // a scalar
  std::string Scalar(absl::string_view what, DType dtype, const Number& value);
  std::string Constant(absl::string_view what, HostTensor tensor);

  // "mod %y: found FOUND; expected EXPECTED"
  absl::Status Unsupported(absl::string_view found,
                           absl::string_view expected) const;
  // The error of the first operand whose dtype an ONNX op above does not
  // accept.
  const absl::Status& fault() const { return fault_; }

 private:
  std::string NodeName() const;
  void Copy(const CopiedAttribute& attribute, OnnxNode& node) const;
  OnnxNode Add(absl::string_view name, absl::string_view op_type,
               const Names& inputs, const Names& outputs);
  void CheckTypes(absl::string_view op_type, const Names& inputs);

  const OpView& op_;
  const ExportRow& row_;
  const absl::flat_hash_map<ValueId, std::string>& names_;
  ModelDraft& draft_;
  absl::flat_hash_map<std::string, DType> dtypes_;
  absl::Status fault_;
};

using Exporter = absl::Status (*)(NodeExport&);

// One ONNX node over all operands, with the row's attributes.
absl::Status ExportAlike(NodeExport& node);

// An attribute of the op, of kind int, bool, float, string or ints, that its
// ONNX op has too. A float is omitted if it has its default, which is the same
// in ONNX.
struct CopiedAttribute {
  const char* onnx_name = nullptr;
  const char* name = nullptr;  // null: the same
};

// One op of ours. A family's file defines its rows.
struct ExportRow {
  const OpDef* op;
  const char* op_type;  // in ONNX; empty: the exporter names several
  Exporter write = ExportAlike;
  CopiedAttribute attributes[4] = {};
};

// The rows of one file: `extern constinit const ExportFamily k<Family>Exports`.
// The build lists every such constant (export_list.h).
struct ExportFamily {
  absl::Span<const ExportRow> rows;
};

// Null if the opset cannot express the op. Constants and variables, which are
// initializers, have no row.
const ExportRow* FindExport(const OpDef& op);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_EXPORT_NODE_EXPORT_H_
