// Access to nodes, attributes and known values.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/node_import.h"

#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/extent_error.h"
#include "graph/onnx/import_options.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

// Shape arithmetic is small; a larger value is data, not a shape.
constexpr int64_t kMaxKnownElements = 1 << 20;

bool ReadsTypeOnly(const OpView& op) { return op.is(kShape) || op.is(kSize); }

}  // namespace

const HostTensor* KnownValues::Find(ValueId value) {
  // An explicit stack, since models may nest deeper than calls.
  std::vector<ValueId> pending = {value};
  while (!pending.empty()) {
    const ValueId next = pending.back();
    if (IsSettled(next)) {
      pending.pop_back();
    } else {
      Advance(next, pending);
    }
  }
  return At(value);
}

bool KnownValues::IsSettled(ValueId value) const {
  return computed_.contains(value) ||
         ValueView(&graph_, value).constant() != nullptr;
}

const HostTensor* KnownValues::At(ValueId value) const {
  const auto it = computed_.find(value);
  if (it != computed_.end()) return it->second.get();
  return ValueView(&graph_, value).constant();
}

bool KnownValues::MayCompute(ValueId value) const {
  const std::optional<OpView> op = ValueView(&graph_, value).defining_op();
  if (!op.has_value()) return false;
  if (op->op().traits.reads_variable || op->op().traits.random) return false;
  int64_t bytes = bytes_;
  for (int i = 0; i < op->num_results(); ++i) {
    const TensorType& type = op->result_type(i);
    if (type.num_elements() > kMaxKnownElements) return false;
    bytes += type.num_bytes();
  }
  return bytes <= kMaxBytes;
}

void KnownValues::Advance(ValueId value, std::vector<ValueId>& pending) {
  bool known = MayCompute(value);
  const size_t before = pending.size();
  if (known) {
    const OpView op = *ValueView(&graph_, value).defining_op();
    for (int i = 0; i < op.num_operands() && !ReadsTypeOnly(op); ++i) {
      const ValueId operand = op.operand(i).id();
      if (!IsSettled(operand)) {
        pending.push_back(operand);
      } else if (At(operand) == nullptr) {
        known = false;
      }
    }
    if (known && pending.size() == before) Evaluate(op);
  }
  if (!known) {
    pending.resize(before);
    computed_[value] = nullptr;
  }
}

void KnownValues::Evaluate(const OpView& op) {
  std::vector<HostTensor> operands;
  for (int i = 0; i < op.num_operands(); ++i) {
    const void* bytes =
        ReadsTypeOnly(op) ? nullptr : At(op.operand(i).id())->bytes();
    operands.push_back(HostTensor::ConstView(op.operand_type(i), bytes));
  }
  absl::StatusOr<std::vector<HostTensor>> results = EvaluateNode(op, operands);
  for (int i = 0; i < op.num_results(); ++i) {
    std::unique_ptr<HostTensor>& computed = computed_[op.result(i).id()];
    if (!results.ok()) continue;  // reported when the graph is verified
    bytes_ += op.result_type(i).num_bytes();
    computed = std::make_unique<HostTensor>(std::move((*results)[i]));
  }
}

std::vector<std::string> KnownValues::DecidingInputs(ValueId value) const {
  std::vector<std::string> inputs;
  std::vector<ValueId> pending = {value};
  absl::flat_hash_set<ValueId> seen = {value};
  while (!pending.empty()) {
    const ValueView next(&graph_, pending.back());
    pending.pop_back();
    const std::optional<OpView> op = next.defining_op();
    if (!op.has_value()) inputs.push_back(graph_.value(next.id()).name);
    if (!op.has_value() || ReadsTypeOnly(*op)) continue;
    for (int i = 0; i < op->num_operands(); ++i) {
      const ValueId operand = op->operand(i).id();
      if (seen.insert(operand).second) pending.push_back(operand);
    }
  }
  absl::c_sort(inputs);
  return inputs;
}

absl::string_view NodeImport::op_type() const { return node_.op_type(); }
int NodeImport::num_inputs() const { return node_.input_size(); }
int NodeImport::num_outputs() const { return node_.output_size(); }

std::string NodeName(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  for (const std::string& output : node.output()) {
    if (!output.empty()) return output;
  }
  return "";
}

std::string NodeText(const onnx::NodeProto& node, int index) {
  const std::string name = NodeName(node);
  return name.empty() ? absl::StrCat("#", index) : name;
}

std::string OpTypeText(const onnx::NodeProto& node) {
  return node.op_type().empty() ? "(no op type)" : node.op_type();
}

std::string NodeImport::name() const {
  return absl::StrCat(scope_.prefix(), NodeName(node_));
}

bool NodeImport::has_input(int i) const {
  return i < node_.input_size() && !node_.input(i).empty() &&
         !scope_.IsLeftOut(node_.input(i));
}

bool NodeImport::has_output(int i) const {
  return i < node_.output_size() && !node_.output(i).empty();
}

ValueId NodeImport::input(int i) const { return *scope_.Find(node_.input(i)); }

const TensorType& NodeImport::type(int i) const {
  return graph_.type(input(i));
}

const HostTensor* NodeImport::KnownInput(int i) {
  return has_input(i) ? known_.Find(input(i)) : nullptr;
}

absl::StatusOr<const HostTensor*> NodeImport::Constant(int i,
                                                       absl::string_view what) {
  if (!has_input(i)) {
    return Invalid(absl::StrCat("no input ", i), absl::StrCat("its ", what));
  }
  const HostTensor* known = known_.Find(input(i));
  if (known != nullptr) return known;
  const std::string found =
      absl::StrCat(what, " that depends on data (input ", node_.input(i), ")");
  const std::string expected =
      absl::StrCat(what, " that is known at compile time");
  const std::vector<std::string> inputs = known_.DecidingInputs(input(i));
  // Random numbers, or more elements than are computed here.
  if (inputs.empty()) return Unsupported(found, expected);
  return DecidedBy(
      inputs, Unsupported(found, absl::StrCat(expected, "; give the value of ",
                                              JoinedInputs(inputs))));
}

absl::StatusOr<std::vector<int64_t>> NodeImport::Ints(int i,
                                                      absl::string_view what) {
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* tensor, Constant(i, what));
  return ToInt64s(*tensor);
}

absl::StatusOr<int64_t> NodeImport::IntInput(int i, absl::string_view what,
                                             int64_t least, int64_t most) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<int64_t> values, Ints(i, what));
  if (values.size() == 1 && values[0] >= least && values[0] <= most) {
    return values[0];
  }
  return Invalid(values.size() == 1 ? absl::StrCat(what, " ", values[0])
                                    : absl::StrCat(values.size(), " of ", what),
                 absl::StrCat("one of ", least, "..", most));
}

bool NodeImport::has_attr(absl::string_view name) const {
  for (const auto& attribute : node_.attribute()) {
    if (attribute.name() == name) return true;
  }
  return false;
}

const onnx::AttributeProto* NodeImport::Attr(absl::string_view name) {
  asked_.insert(std::string(name));
  for (const auto& attribute : node_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

const onnx::AttributeProto* NodeImport::AttrOfType(absl::string_view name,
                                                   int type) {
  const onnx::AttributeProto* attribute = Attr(name);
  // Old files lack the type.
  if (attribute == nullptr || attribute->type() == type ||
      attribute->type() == onnx::AttributeProto::UNDEFINED) {
    return attribute;
  }
  misread_.Update(Invalid(absl::StrCat("attribute ", name, " of another kind"),
                          "the kind of value that the ONNX standard gives it"));
  return nullptr;
}

int64_t NodeImport::Int(absl::string_view name, int64_t otherwise) {
  const onnx::AttributeProto* attribute =
      AttrOfType(name, onnx::AttributeProto::INT);
  return attribute == nullptr ? otherwise : attribute->i();
}

bool NodeImport::Flag(absl::string_view name, bool otherwise) {
  const int64_t value = Int(name, otherwise ? 1 : 0);
  if (value != 0 && value != 1) {
    misread_.Update(
        Invalid(absl::StrCat("attribute ", name, " = ", value), "0 or 1"));
  }
  return value != 0;
}

double NodeImport::Float(absl::string_view name, double otherwise) {
  const onnx::AttributeProto* attribute =
      AttrOfType(name, onnx::AttributeProto::FLOAT);
  return attribute == nullptr ? otherwise : attribute->f();
}

std::string NodeImport::String(absl::string_view name,
                               absl::string_view otherwise) {
  const onnx::AttributeProto* attribute =
      AttrOfType(name, onnx::AttributeProto::STRING);
  return attribute == nullptr ? std::string(otherwise) : attribute->s();
}

std::vector<int64_t> NodeImport::IntList(absl::string_view name) {
  const onnx::AttributeProto* attribute =
      AttrOfType(name, onnx::AttributeProto::INTS);
  if (attribute == nullptr) return {};
  return {attribute->ints().begin(), attribute->ints().end()};
}

std::vector<double> NodeImport::FloatList(absl::string_view name) {
  const onnx::AttributeProto* attribute =
      AttrOfType(name, onnx::AttributeProto::FLOATS);
  if (attribute == nullptr) return {};
  return {attribute->floats().begin(), attribute->floats().end()};
}

std::vector<std::string> NodeImport::StringList(absl::string_view name) {
  const onnx::AttributeProto* attribute =
      AttrOfType(name, onnx::AttributeProto::STRINGS);
  if (attribute == nullptr) return {};
  return {attribute->strings().begin(), attribute->strings().end()};
}

absl::StatusOr<std::string> NodeImport::Choice(
    absl::string_view name, absl::string_view otherwise,
    absl::Span<const absl::string_view> choices) {
  const std::string value = String(name, otherwise);
  if (absl::c_linear_search(choices, value)) return value;
  return Invalid(absl::StrCat(name, " \"", absl::CHexEscape(value), "\""),
                 absl::StrJoin(choices, ", "));
}

absl::StatusOr<ValueIds> NodeImport::AddAll(const OpDef& op, ValueIds operands,
                                            Attributes attributes) {
  const std::string name = this->name();
  const std::string scope = node_.name().empty() ? scope_.prefix() : name;
  const size_t slash = scope.rfind('/');
  absl::StatusOr<NodeId> id = graph_.AddNode(
      {.op = &op,
       .operands = std::move(operands),
       .attributes = std::move(attributes),
       .regions = {},
       .result_names = {},
       .scope = slash == std::string::npos ? "" : scope.substr(0, slash),
       .location = name});
  if (id.ok()) return graph_.node(*id).results;
  const absl::Status fault = absl::InvalidArgumentError(
      absl::StrCat(Where(), ": ", id.status().message()));
  return IsOfExtents(id.status()) ? OfExtents(fault) : fault;
}

absl::StatusOr<ValueId> NodeImport::Add(const OpDef& op, ValueIds operands,
                                        Attributes attributes) {
  PARTITA_ASSIGN_OR_RETURN(
      const ValueIds results,
      AddAll(op, std::move(operands), std::move(attributes)));
  return results[0];
}

ValueId NodeImport::AddConstant(HostTensor tensor) {
  return graph_.AddConstant(graph_.literals().Add(std::move(tensor)));
}

ValueId NodeImport::Scalar(DType dtype, double value) {
  HostTensor tensor(TensorType{dtype, {}, {}});
  SetNumber(tensor, 0, Number(value));
  return AddConstant(std::move(tensor));
}

absl::StatusOr<ValueId> NodeImport::Reshape(ValueId value,
                                            absl::Span<const int64_t> shape) {
  return Add(kReshape, {value},
             {{"shape", std::vector<int64_t>(shape.begin(), shape.end())}});
}

absl::Status NodeImport::Set(int i, ValueId value) {
  const std::string& name = node_.output(i);
  if (name.empty()) return absl::OkStatus();
  if (!scope_.Define(name, value)) {
    return Invalid(absl::StrCat("a second definition of ", name),
                   "each value defined once");
  }
  if (graph_.value(value).name.empty()) {
    graph_.value(value).name = absl::StrCat(scope_.prefix(), name);
  }
  return absl::OkStatus();
}

absl::Status NodeImport::Return(absl::StatusOr<ValueId> value) {
  return value.ok() ? Set(0, *value) : value.status();
}

absl::StatusOr<int64_t> NodeImport::Axis(int64_t axis, int rank) const {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  return Invalid(absl::StrCat("axis ", axis, " for rank ", rank),
                 absl::StrCat(-rank, "..", rank - 1));
}

absl::StatusOr<std::vector<int64_t>> NodeImport::Axes(std::vector<int64_t> axes,
                                                      int rank) const {
  std::set<int64_t> named;
  for (int64_t& axis : axes) {
    PARTITA_ASSIGN_OR_RETURN(axis, Axis(axis, rank));
    if (named.insert(axis).second) continue;
    return Invalid(absl::StrCat("axis ", axis, " twice"),
                   "each axis at most once");
  }
  return axes;
}

std::string NodeImport::Where() const {
  if (!node_.name().empty()) {
    return absl::StrCat(node_.op_type(), " (node ", name(), ")");
  }
  return absl::StrCat(node_.op_type(), " (giving ",
                      NodeName(node_).empty() ? "nothing" : name(), ")");
}

absl::Status NodeImport::Unsupported(absl::string_view found,
                                     absl::string_view expected) const {
  return absl::UnimplementedError(
      absl::StrCat(Where(), ": found ", found, "; expected ", expected));
}

absl::Status NodeImport::Invalid(absl::string_view found,
                                 absl::string_view expected) const {
  return absl::InvalidArgumentError(
      absl::StrCat(Where(), ": found ", found, "; expected ", expected));
}

}  // namespace partita
