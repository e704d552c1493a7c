// Checks and defaults shared by all op declarations.
// SPDX-License-Identifier: Apache-2.0

#include "graph/op_def.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

absl::string_view KindName(AttributeKind kind) {
  constexpr absl::string_view kNames[] = {
      "an integer", "a float", "a bool",     "a string", "integers",
      "floats",     "a dtype", "a constant", "a number"};
  return kNames[static_cast<int>(kind)];
}

std::string KnownAttributes(const OpDef& op) {
  std::string names;
  for (const AttrDef& attr : op.attrs) {
    if (attr.name == nullptr) break;
    absl::StrAppend(&names, names.empty() ? "" : ", ", attr.name);
  }
  return names.empty() ? "none" : names;
}

absl::Status CheckAttributes(const OpView& op) {
  for (const auto& [name, value] : op.node().attributes.entries()) {
    const AttrDef* attr = FindAttr(op.op(), name);
    if (attr == nullptr) {
      return BadOp(op, absl::StrCat("attribute ", name),
                   absl::StrCat("one of: ", KnownAttributes(op.op())),
                   "remove it or correct its name");
    }
    if (KindOf(value) != attr->kind) {
      return BadOp(
          op, absl::StrCat("attribute ", name, " as ", KindName(KindOf(value))),
          KindName(attr->kind), "write a value of that kind");
    }
  }
  for (const AttrDef& attr : op.op().attrs) {
    if (attr.name == nullptr) break;
    if (attr.required && op.node().attributes.Find(attr.name) == nullptr) {
      return BadOp(op, absl::StrCat("no attribute ", attr.name),
                   KindName(attr.kind), "add it");
    }
  }
  return absl::OkStatus();
}

std::string OperandCount(const OpDef& op) {
  const int least = MinOperands(op);
  const int most = MaxOperands(op);
  if (most == std::numeric_limits<int>::max()) {
    return absl::StrCat("at least ", least);
  }
  return least == most ? absl::StrCat(least) : absl::StrCat(least, "..", most);
}

}  // namespace

absl::Status Types::Set(int result, TensorType type) {
  PARTITA_RETURN_IF_ERROR(CheckType(type));
  if (static_cast<int>(types.size()) <= result) types.resize(result + 1);
  types[result] = std::move(type);
  return absl::OkStatus();
}

int MinOperands(const OpDef& op) {
  int count = 0;
  for (const OperandDef& operand : op.operands) {
    if (operand.name == nullptr || operand.arity == kOptional) break;
    ++count;
  }
  return count;
}

int MaxOperands(const OpDef& op) {
  int count = 0;
  for (const OperandDef& operand : op.operands) {
    if (operand.name == nullptr) break;
    if (operand.arity == kVariadic) return std::numeric_limits<int>::max();
    ++count;
  }
  return count;
}

const AttrDef* FindAttr(const OpDef& op, absl::string_view name) {
  for (const AttrDef& attr : op.attrs) {
    if (attr.name == nullptr) break;
    if (attr.name == name) return &attr;
  }
  return nullptr;
}

AttributeValue DefaultValue(const AttrDef& attr) {
  switch (attr.kind) {
    case AttributeKind::kInt:
      return attr.int_default;
    case AttributeKind::kFloat:
      return attr.float_default;
    case AttributeKind::kBool:
      return attr.int_default != 0;
    case AttributeKind::kString:
      return std::string(attr.string_default);
    case AttributeKind::kInts:
      return std::vector<int64_t>{};
    case AttributeKind::kFloats:
      return std::vector<double>{};
    case AttributeKind::kDType:
      return static_cast<DType>(attr.int_default);
    case AttributeKind::kNumber:
      return Number(attr.int_default);
    case AttributeKind::kLiteral:
      break;
  }
  return LiteralId();
}

Attributes WithoutDefaults(const OpDef& op, const Attributes& attributes) {
  Attributes kept;
  for (const auto& [name, value] : attributes.entries()) {
    const AttrDef* attr = FindAttr(op, name);
    const bool is_default = attr != nullptr && !attr->required &&
                            SameValue(DefaultValue(*attr), value);
    if (!is_default) kept.Set(name, value);
  }
  return kept;
}

absl::Status CheckSignature(const OpView& op) {
  if (op.num_operands() < MinOperands(op.op()) ||
      op.num_operands() > MaxOperands(op.op())) {
    return BadOp(op, absl::StrCat(op.num_operands(), " operands"),
                 OperandCount(op.op()), "see the op's page for its operands");
  }
  if (static_cast<int>(op.node().regions.size()) != op.op().num_regions) {
    return BadOp(op, absl::StrCat(op.node().regions.size(), " bodies"),
                 absl::StrCat(op.op().num_regions), "give each body once");
  }
  return CheckAttributes(op);
}

DimensionRule WholeRule(const OpView& op) {
  DimensionRule rule;
  const auto add = [&rule](const TensorType& type) {
    DimensionRule::Dims dims;
    for (int64_t extent : type.dims) {
      dims.push_back({static_cast<int>(rule.factors.size())});
      rule.factors.push_back({.name = absl::StrCat("w", rule.factors.size()),
                              .size = extent,
                              .kind = Factor::Kind::kWhole});
    }
    return dims;
  };
  for (int i = 0; i < op.num_operands(); ++i) {
    rule.operands.push_back(add(op.operand_type(i)));
  }
  for (int i = 0; i < op.num_results(); ++i) {
    rule.results.push_back(add(op.result_type(i)));
  }
  return rule;
}

}  // namespace partita
