// Prints docs/reference/ops.md: every op of the built-in table, from its
// definition.
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "graph/dtype.h"
#include "graph/graph.h"
#include "graph/literal_pool.h"
#include "graph/op_def.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_set.h"
#include "graph/ops/testing/op_samples.h"
#include "graph/text/number_text.h"
#include "tools/reference/print_page.h"

namespace partita {
namespace {

constexpr const char* kHead =
    R"(# Ops

Generated from the definitions in [graph/ops](../../graph/ops) by `bazel run --config=opt //tests/docs:reference_test -- --update`;
a test compares. `x?` may be left out, `x...` is one or more. An attribute without a default must be given.
The *rule* shows, for a sample, which dimensions share a factor, and the result of sharding along it: *kept* gives a shard of
the result, *reduced* a partial sum (or max, min, and, or), *halo* reads neighbouring rows, *whole* cannot be sharded. A
dimension may be a product of factors; only the outermost can be sharded. `1` cannot be sharded.
*Gradient* says whether there is one ([gradients](../internals/gradients.md)), and if not, why; that of an op that is constant wherever it is smooth is `zero`.
*Tolerance* is the error that a kernel may have against the op's `eval`.
)";

const char* KindText(AttributeKind kind) {
  constexpr const char* kNames[] = {"int",    "float",   "bool",
                                    "string", "ints",    "floats",
                                    "dtype",  "literal", "number"};
  return kNames[static_cast<int>(kind)];
}

const char* ToleranceText(Tolerance tolerance) {
  constexpr const char* kNames[] = {"exact", "rounding", "reduction",
                                    "approximate"};
  return kNames[static_cast<int>(tolerance)];
}

std::string OperandsText(const OpDef& op) {
  std::vector<std::string> names;
  for (const OperandDef& operand : op.operands) {
    if (operand.name == nullptr) break;
    const char* mark = operand.arity == kOptional   ? "?"
                       : operand.arity == kVariadic ? "..."
                                                    : "";
    names.push_back(absl::StrCat("`", operand.name, mark, "`"));
  }
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

std::string DefaultText(const AttrDef& attr) {
  if (attr.required) return "";
  switch (attr.kind) {
    case AttributeKind::kInt:
    case AttributeKind::kNumber:
      return absl::StrCat(" = ", attr.int_default);
    case AttributeKind::kFloat:
      return absl::StrCat(" = ", DoubleText(attr.float_default));
    case AttributeKind::kBool:
      return attr.int_default != 0 ? " = true" : " = false";
    case AttributeKind::kString:
      return absl::StrCat(" = \"", attr.string_default, "\"");
    case AttributeKind::kInts:
    case AttributeKind::kFloats:
      return " = []";
    case AttributeKind::kDType:
      return absl::StrCat(" = ",
                          DTypeName(static_cast<DType>(attr.int_default)));
    case AttributeKind::kLiteral:
      return "";
  }
  return "";
}

std::string AttributesText(const OpDef& op) {
  std::vector<std::string> attrs;
  for (const AttrDef& attr : op.attrs) {
    if (attr.name == nullptr) break;
    attrs.push_back(absl::StrCat("`", attr.name, ": ", KindText(attr.kind),
                                 DefaultText(attr), "`"));
  }
  return absl::StrJoin(attrs, ", ");
}

std::string FactorText(const Factor& factor) {
  constexpr const char* kKinds[] = {"kept", "reduced", "halo", "whole"};
  std::string text =
      absl::StrCat(factor.name, " ", kKinds[static_cast<int>(factor.kind)]);
  if (factor.kind == Factor::Kind::kHalo) {
    absl::StrAppend(&text, " (stride ", factor.stride, ", ", factor.before,
                    " before, ", factor.after, " after)");
  }
  return text;
}

std::string DimsText(const DimensionRule& rule,
                     const std::vector<DimensionRule::Dims>& values) {
  const auto one_dim = [&](const absl::InlinedVector<int, 2>& factors) {
    if (factors.empty()) return std::string("1");
    return absl::StrJoin(factors, "*", [&](std::string* out, int factor) {
      out->append(rule.factors[factor].name);
    });
  };
  std::vector<std::string> texts;
  for (const DimensionRule::Dims& dims : values) {
    std::vector<std::string> parts;
    for (const auto& factors : dims) parts.push_back(one_dim(factors));
    texts.push_back(absl::StrCat("[", absl::StrJoin(parts, " "), "]"));
  }
  return absl::StrJoin(texts, ", ");
}

// "[m k], [k n] -> [m n]; m kept, n kept, k reduced".
std::string RuleText(const DimensionRule& rule) {
  std::vector<std::string> kinds;
  for (const Factor& factor : rule.factors) kinds.push_back(FactorText(factor));
  return absl::StrCat("`", DimsText(rule, rule.operands), " -> ",
                      DimsText(rule, rule.results), "`",
                      kinds.empty() ? "" : "; ", absl::StrJoin(kinds, ", "));
}

// The first sample of each op that has one.
std::map<const OpDef*, std::string> SampleRules() {
  std::map<const OpDef*, std::string> rules;
  for (const OpSample& sample : OpSamples()) {
    if (rules.count(sample.op) != 0) continue;
    LiteralPool literals;
    Graph graph("sample", &literals);
    const absl::StatusOr<NodeId> node = AddSample(sample, graph);
    if (!node.ok()) continue;
    rules[sample.op] = absl::StrCat(
        "`", ToString(sample),
        "`: ", RuleText(sample.op->dimension_rule(graph.view(*node))));
  }
  return rules;
}

std::string GradientText(const OpDef& op) {
  if (op.gradient == nullptr)
    return absl::StrCat("none (", op.no_gradient, ")");
  return op.gradient == ZeroGradient ? "zero" : "yes";
}

std::string OpText(const OpDef& op, const std::string& rule) {
  std::string text = absl::StrCat("\n## ", op.name, "\n", op.doc, "\n\n",
                                  "* Operands: ", OperandsText(op), "\n");
  absl::StrAppend(&text, "* Results: ",
                  op.num_results == kAnyNumber ? "as many as its types say"
                                               : absl::StrCat(op.num_results),
                  "\n");
  if (op.attrs[0].name != nullptr) {
    absl::StrAppend(&text, "* Attributes: ", AttributesText(op), "\n");
  }
  if (op.num_regions != 0) {
    absl::StrAppend(&text, "* Bodies: ", op.num_regions, "\n");
  }
  if (!rule.empty()) absl::StrAppend(&text, "* Rule: ", rule, "\n");
  absl::StrAppend(&text, "* Gradient: ", GradientText(op), "\n");
  absl::StrAppend(&text, "* Tolerance: ", ToleranceText(op.tolerance));
  if (op.traits.commutative) text += "; operands may be swapped";
  if (op.traits.random) text += "; random, so never folded or merged";
  if (op.traits.placed_only) text += "; made by the compiler, not by users";
  return text + "\n";
}

std::string Page() {
  std::vector<const OpDef*> ops = OpSet::BuiltIn().ops();
  absl::c_sort(ops, [](const OpDef* a, const OpDef* b) {
    return absl::string_view(a->name) < absl::string_view(b->name);
  });
  const std::map<const OpDef*, std::string> rules = SampleRules();
  std::string text = kHead;
  for (const OpDef* op : ops) {
    const auto rule = rules.find(op);
    text += OpText(*op, rule == rules.end() ? "" : rule->second);
  }
  return text;
}

}  // namespace
}  // namespace partita

int main() { return partita::PrintPage(partita::Page()); }
