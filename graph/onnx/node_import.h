// One ONNX node during its translation: the interface for converters.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_NODE_IMPORT_H_
#define PARTITA_GRAPH_ONNX_NODE_IMPORT_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/onnx/scope.h"
#include "graph/op_def.h"
#include "graph/op_view.h"

namespace onnx {
class AttributeProto;
class NodeProto;
}  // namespace onnx

namespace partita {

class WeightFiles;

// Values that are known at import, because they depend only on constants and
// static shapes. Computed shapes are read from them.
class KnownValues {
 public:
  explicit KnownValues(const Graph& graph) : graph_(graph) {}
  // The value's elements; null if they depend on an input, are more than a
  // shape's, or would exceed kMaxBytes in total. The tensor exists as long as
  // this object; nothing is computed twice.
  const HostTensor* Find(ValueId value);
  // The names of the graph inputs that decide the value's elements.
  std::vector<std::string> DecidingInputs(ValueId value) const;

  static constexpr int64_t kMaxBytes = int64_t{64} << 20;
  int64_t bytes() const { return bytes_; }  // computed so far

 private:
  bool IsSettled(ValueId value) const;
  const HostTensor* At(ValueId value) const;
  bool MayCompute(ValueId value) const;
  // Computes the value, or adds to `pending` the values that it needs first.
  void Advance(ValueId value, std::vector<ValueId>& pending);
  void Evaluate(const OpView& op);

  const Graph& graph_;
  // Null if unknown.
  absl::flat_hash_map<ValueId, std::unique_ptr<HostTensor>> computed_;
  int64_t bytes_ = 0;
};

// Converters ask for attributes by name, so that none is ignored silently
// (node_attributes.h).
class NodeImport {
 public:
  NodeImport(const onnx::NodeProto& node, Scope& scope, Graph& graph,
             KnownValues& known, WeightFiles& weights)
      : node_(node),
        scope_(scope),
        graph_(graph),
        known_(known),
        weights_(weights) {}

  const onnx::NodeProto& node() const { return node_; }
  // Its name, or that of its first result, as in the graph.
  std::string name() const;
  int opset() const { return scope_.opset(); }
  Graph& graph() { return graph_; }
  absl::string_view op_type() const;

  // --- operands ---
  int num_inputs() const;
  int num_outputs() const;
  // An optional input may be missing in the middle: an empty name.
  bool has_input(int i) const;
  bool has_output(int i) const;  // named, so it may be read
  ValueId input(int i) const;
  const TensorType& type(int i) const;
  int rank(int i) const { return type(i).rank(); }
  // The elements of an input that must be known at compile time.
  absl::StatusOr<const HostTensor*> Constant(int i, absl::string_view what);
  absl::StatusOr<std::vector<int64_t>> Ints(int i, absl::string_view what);
  // One known integer in least..most.
  absl::StatusOr<int64_t> IntInput(int i, absl::string_view what, int64_t least,
                                   int64_t most);
  const HostTensor* KnownInput(int i);

  // --- attributes ---
  bool has_attr(absl::string_view name) const;
  int64_t Int(absl::string_view name, int64_t otherwise);
  // 0 or 1: other programs disagree about other values.
  bool Flag(absl::string_view name, bool otherwise);
  double Float(absl::string_view name, double otherwise);
  std::string String(absl::string_view name, absl::string_view otherwise);
  std::vector<int64_t> IntList(absl::string_view name);
  std::vector<double> FloatList(absl::string_view name);
  std::vector<std::string> StringList(absl::string_view name);
  const onnx::AttributeProto* Attr(absl::string_view name);
  // An attribute with a few possible words; InvalidArgument for another.
  absl::StatusOr<std::string> Choice(
      absl::string_view name, absl::string_view otherwise,
      absl::Span<const absl::string_view> choices);
  // The first error of the calls above: another kind of value, or not a flag.
  const absl::Status& misread() const { return misread_; }
  bool has_asked(absl::string_view name) const {
    return asked_.contains(std::string(name));
  }

  // --- results ---
  absl::StatusOr<ValueId> Add(const OpDef& op, ValueIds operands,
                              Attributes attributes = {});
  absl::StatusOr<ValueIds> AddAll(const OpDef& op, ValueIds operands,
                                  Attributes attributes = {});
  ValueId AddConstant(HostTensor tensor);
  // A constant scalar.
  ValueId Scalar(DType dtype, double value);
  absl::StatusOr<ValueId> Reshape(ValueId value,
                                  absl::Span<const int64_t> shape);
  // Names output `i` of the node.
  absl::Status Set(int i, ValueId value);
  // Set(0, value), passing an error on: the end of most converters.
  absl::Status Return(absl::StatusOr<ValueId> value);

  // axis in 0..rank-1; InvalidArgument if it is out of range, or repeated.
  absl::StatusOr<int64_t> Axis(int64_t axis, int rank) const;
  absl::StatusOr<std::vector<int64_t>> Axes(std::vector<int64_t> axes,
                                            int rank) const;

  // The files with the tensors of attributes.
  WeightFiles& weights() { return weights_; }

  // "Resize (node up3): found FOUND; expected EXPECTED".
  absl::Status Unsupported(absl::string_view found,
                           absl::string_view expected) const;
  absl::Status Invalid(absl::string_view found,
                       absl::string_view expected) const;
  // "Resize (node up3)", or "Resize (giving y)" of a node without a name.
  std::string Where() const;

 private:
  const onnx::AttributeProto* AttrOfType(absl::string_view name, int type);

  const onnx::NodeProto& node_;
  Scope& scope_;
  Graph& graph_;
  KnownValues& known_;
  WeightFiles& weights_;
  std::set<std::string> asked_;
  absl::Status misread_;
};

// A node's name, or that of its first output with a name.
std::string NodeName(const onnx::NodeProto& node);
// The same, or for a node with neither, its index in its graph: "#3".
std::string NodeText(const onnx::NodeProto& node, int index);
// The op type; "(no op type)" if the file has none.
std::string OpTypeText(const onnx::NodeProto& node);

using Converter = absl::Status (*)(NodeImport&);

// For ops with any number of operands: at least one, and none missing.
constexpr int kEvery = -1;

// One ONNX op. A family's file defines its rows.
struct ConverterRow {
  const char* op_type;
  Converter convert;
  int required_inputs;  // the converter reads these without checking; or kEvery
  int outputs = 1;      // at most; kAnyNumber: the converter checks
  // The attributes that it reads, separated by spaces. node_attributes.h has
  // others.
  const char* attributes = "";
};

// The rows of one file: `extern constinit const ConverterFamily
// k<Family>Converters`. The build lists every such constant
// (converter_list.h).
struct ConverterFamily {
  absl::Span<const ConverterRow> rows;
};

// Of all families.
std::vector<const ConverterRow*> AllConverters();
// Null if the op is not supported.
const ConverterRow* FindConverter(absl::string_view op_type);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_NODE_IMPORT_H_
