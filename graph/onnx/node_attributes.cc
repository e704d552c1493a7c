// The table of attributes without an effect here, and its rules.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/node_attributes.h"

#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/status_macros.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

using onnx::AttributeProto;

bool Always(const NodeImport&, const AttributeProto&) { return true; }
bool Never(const NodeImport&, const AttributeProto&) { return false; }

// Old files lack the type.
bool HasType(const AttributeProto& value, AttributeProto::AttributeType type) {
  return value.type() == type || value.type() == AttributeProto::UNDEFINED;
}

template <int64_t neutral>
bool IsInt(const NodeImport&, const AttributeProto& value) {
  return HasType(value, AttributeProto::INT) && value.i() == neutral;
}

// Attributes define how casts to 8-bit floats saturate and round; there are
// none here.
bool CastsToNoSmallFloat(const NodeImport&, const AttributeProto&) {
  return true;
}

// Statistics and products are computed in f32 or, for f64, in f64, so the
// operand's own type is always available.
bool IsStashType(const NodeImport& node, const AttributeProto& value) {
  if (!HasType(value, AttributeProto::INT)) return false;
  return value.i() == onnx::TensorProto::FLOAT ||
         DTypeOfOnnx(value.i()) == node.type(0).dtype;
}

// The standard defines it for 16-bit floats only.
bool IsRangeStashType(const NodeImport& node, const AttributeProto& value) {
  const DType dtype = node.type(0).dtype;
  return (dtype != DType::kF16 && dtype != DType::kBF16) ||
         IsStashType(node, value);
}

constexpr char kStashType[] =
    "1 (f32) or the type of the operand: statistics are kept in f32, those of "
    "f64 in f64";
constexpr char kInference[] = "a model exported for inference";
constexpr char kDense[] = "a dense tensor of numbers";

constexpr NeutralAttribute kRows[] = {
    // Up to opset 6 it means what training_mode means.
    {"BatchNormalization", "is_test", IsInt<1>, kInference},
    {"BatchNormalization", "spatial", IsInt<1>, "1: a statistic per channel"},
    {"Cast", "round_mode", CastsToNoSmallFloat, ""},
    {"Cast", "saturate", CastsToNoSmallFloat, ""},
    {"CastLike", "round_mode", CastsToNoSmallFloat, ""},
    {"CastLike", "saturate", CastsToNoSmallFloat, ""},
    {"Constant", "sparse_value", Never, kDense},
    {"Constant", "value_string", Never, kDense},
    {"Constant", "value_strings", Never, kDense},
    {"Dropout", "is_test", IsInt<1>, kInference},
    // For training, up to opset 11; such exports are for inference.
    {"Dropout", "ratio", Always, ""},
    // Up to opset 6; always the case since.
    {"Gemm", "broadcast", Always, ""},
    {"GroupNormalization", "stash_type", IsStashType, kStashType},
    {"LayerNormalization", "stash_type", IsStashType, kStashType},
    {"RMSNormalization", "stash_type", IsStashType, kStashType},
    {"Range", "stash_type", IsRangeStashType,
     "1 (f32) or the type of the operands: 16-bit floats are added up in f64"},
    // Sorted results are always valid.
    {"TopK", "sorted", Always, ""},
};

const NeutralAttribute* FindNeutral(absl::string_view op_type,
                                    absl::string_view name) {
  for (const NeutralAttribute& row : kRows) {
    if (row.op_type == op_type && row.name == name) return &row;
  }
  return nullptr;
}

// "alpha, beta": the attributes that the op may have here.
std::string KnownNames(const ConverterRow& row) {
  std::vector<std::string> names =
      absl::StrSplit(row.attributes, ' ', absl::SkipEmpty());
  for (const NeutralAttribute& neutral : kRows) {
    if (row.op_type == absl::string_view(neutral.op_type) &&
        neutral.changes_nothing != Never) {
      names.push_back(neutral.name);
    }
  }
  absl::c_sort(names);
  return absl::StrJoin(names, ", ");
}

// "saturate = 0", if the value is short.
std::string Text(const AttributeProto& value) {
  switch (value.type()) {
    case AttributeProto::INT:
      return absl::StrCat(value.name(), " = ", value.i());
    case AttributeProto::FLOAT:
      return absl::StrCat(value.name(), " = ", value.f());
    default:
      return value.name();
  }
}

}  // namespace

absl::Span<const NeutralAttribute> NeutralAttributes() { return kRows; }

bool ReadsAttribute(const ConverterRow& row, absl::string_view name) {
  return absl::c_linear_search(
      std::vector<absl::string_view>(absl::StrSplit(row.attributes, ' ')),
      name);
}

absl::Status CheckAttributes(const NodeImport& node, const ConverterRow& row) {
  std::set<std::string> seen;
  for (const AttributeProto& value : node.node().attribute()) {
    if (!seen.insert(value.name()).second) {
      return node.Invalid(absl::StrCat("attribute ", value.name(), " twice"),
                          "each attribute at most once");
    }
    if (ReadsAttribute(row, value.name())) continue;
    const NeutralAttribute* neutral = FindNeutral(row.op_type, value.name());
    if (neutral == nullptr) {
      const std::string known = KnownNames(row);
      return node.Unsupported(
          absl::StrCat("attribute ", value.name()),
          known.empty() ? "none, as the op has no attribute"
                        : absl::StrCat("attributes of the op: ", known));
    }
    if (neutral->changes_nothing(node, value)) continue;
    return node.Unsupported(absl::StrCat("attribute ", Text(value)),
                            neutral->expected);
  }
  return absl::OkStatus();
}

absl::Status CheckAttributesRead(const NodeImport& node,
                                 const ConverterRow& row) {
  PARTITA_RETURN_IF_ERROR(node.misread());
  for (const AttributeProto& value : node.node().attribute()) {
    if (node.has_asked(value.name()) || !ReadsAttribute(row, value.name())) {
      continue;
    }
    return node.Unsupported(absl::StrCat("attribute ", value.name(),
                                         " in a node of opset ", node.opset()),
                            "it where the op has a use for it");
  }
  return absl::OkStatus();
}

}  // namespace partita
