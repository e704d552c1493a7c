// Accessors of nodes and values.
// SPDX-License-Identifier: Apache-2.0

#include "graph/op_view.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"

namespace partita {

std::optional<OpView> ValueView::defining_op() const {
  const NodeId node = graph_->value(id_).defining_node;
  if (!node.valid()) return std::nullopt;
  return OpView(graph_, node);
}

std::optional<OpView> ValueView::only_reader() const {
  if (num_uses() != 1 || !has_one_reader()) return std::nullopt;
  return OpView(graph_, graph_->value(id_).uses.front().node);
}

LiteralId ValueView::KnownLiteral() const {
  const std::optional<OpView> op = defining_op();
  if (!op.has_value() || !op->is(kConstant)) return LiteralId();
  const LiteralId literal = op->attr_literal("value");
  return graph_->literals().has_bytes(literal) ? literal : LiteralId();
}

const HostTensor* ValueView::constant() const {
  const LiteralId literal = KnownLiteral();
  return literal.valid() ? &graph_->literals().tensor(literal) : nullptr;
}

absl::string_view OpView::op_name() const { return op().name; }

const AttributeValue* OpView::Stored(absl::string_view name) const {
  return node().attributes.Find(name);
}

const AttrDef& OpView::Declared(absl::string_view name) const {
  const AttrDef* attr = FindAttr(op(), name);
  if (attr == nullptr) {
    std::fprintf(stderr, "bug: op %s declares no attribute %s\n", op().name,
                 std::string(name).c_str());
    std::abort();
  }
  return *attr;
}

int64_t OpView::attr_int(absl::string_view name) const {
  if (const AttributeValue* value = Stored(name)) {
    return std::get<int64_t>(*value);
  }
  return Declared(name).int_default;
}

double OpView::attr_float(absl::string_view name) const {
  if (const AttributeValue* value = Stored(name)) {
    return std::get<double>(*value);
  }
  return Declared(name).float_default;
}

bool OpView::attr_bool(absl::string_view name) const {
  if (const AttributeValue* value = Stored(name)) return std::get<bool>(*value);
  return Declared(name).int_default != 0;
}

std::string OpView::attr_string(absl::string_view name) const {
  if (const AttributeValue* value = Stored(name)) {
    return std::get<std::string>(*value);
  }
  return Declared(name).string_default;
}

const std::vector<int64_t>& OpView::attr_ints(absl::string_view name) const {
  static const auto& empty = *new std::vector<int64_t>;
  if (const AttributeValue* value = Stored(name)) {
    return std::get<std::vector<int64_t>>(*value);
  }
  return Declared(name), empty;
}

const std::vector<double>& OpView::attr_floats(absl::string_view name) const {
  static const auto& empty = *new std::vector<double>;
  if (const AttributeValue* value = Stored(name)) {
    return std::get<std::vector<double>>(*value);
  }
  return Declared(name), empty;
}

DType OpView::attr_dtype(absl::string_view name) const {
  if (const AttributeValue* value = Stored(name))
    return std::get<DType>(*value);
  return static_cast<DType>(Declared(name).int_default);
}

LiteralId OpView::attr_literal(absl::string_view name) const {
  if (const AttributeValue* value = Stored(name)) {
    return std::get<LiteralId>(*value);
  }
  return Declared(name), LiteralId();
}

Number OpView::attr_number(absl::string_view name) const {
  if (const AttributeValue* value = Stored(name)) {
    return std::get<Number>(*value);
  }
  return Number(Declared(name).int_default);
}

std::string OpView::ToString() const {
  if (num_results() == 0) return std::string(op_name());
  return absl::StrCat(op_name(), " ", ValueText(*graph_, result(0).id()));
}

std::string OpView::OperandTypesText() const {
  std::string text;
  for (int i = 0; i < num_operands(); ++i) {
    absl::StrAppend(&text, i > 0 ? ", " : "", operand_type(i).ToString());
  }
  return text;
}

std::string ValueText(const Graph& graph, ValueId value) {
  const std::string& name = graph.value(value).name;
  return absl::StrCat("%", name.empty() ? absl::StrCat(value.index) : name);
}

}  // namespace partita
