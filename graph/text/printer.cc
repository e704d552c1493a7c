// Writes the textual IR.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/printer.h"

#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/sharding_text.h"
#include "graph/text/names.h"
#include "graph/text/number_text.h"

namespace partita {
namespace {

constexpr int64_t kMostElementsInFull = 16;
constexpr size_t kLineWidth = 100;

std::string TypedLiteral(const LiteralPool& literals, LiteralId id) {
  if (!id.valid() || id.index >= literals.size()) return "#none";
  return absl::StrCat(literals.type(id).ToString(), " ",
                      LiteralText(literals, id));
}

// The value of one attribute, by its kind.
class AttributePrinter {
 public:
  explicit AttributePrinter(const LiteralPool& literals)
      : literals_(literals) {}

  std::string operator()(int64_t value) const { return absl::StrCat(value); }
  std::string operator()(double value) const { return DoubleText(value); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const std::string& value) const {
    return Quoted(value);
  }
  std::string operator()(DType value) const {
    return std::string(DTypeName(value));
  }
  std::string operator()(const Number& value) const {
    return NumberText(value);
  }
  std::string operator()(LiteralId value) const {
    return TypedLiteral(literals_, value);
  }
  template <typename T>
  std::string operator()(const std::vector<T>& values) const {
    const auto append = [this](std::string* out, T value) {
      out->append((*this)(value));
    };
    return absl::StrCat("[", absl::StrJoin(values, ", ", append), "]");
  }

 private:
  const LiteralPool& literals_;
};

std::string ShardingsText(absl::Span<const Sharding> shardings) {
  const auto append = [](std::string* out, const Sharding& sharding) {
    out->append(ShardingText(sharding));
  };
  return absl::StrCat("(", absl::StrJoin(shardings, ", ", append), ")");
}

// "by onednn.conv {workspace = 64, in_place = [0 -> 0], arithmetic = "..."}"
std::string KernelText(const KernelBinding& kernel) {
  std::vector<std::string> fields;
  if (kernel.workspace != 0) {
    fields.push_back(absl::StrCat("workspace = ", kernel.workspace));
  }
  if (!kernel.in_place.empty()) {
    const auto append = [](std::string* out, const InPlacePair& pair) {
      absl::StrAppend(out, pair.operand, " -> ", pair.result);
    };
    fields.push_back(absl::StrCat(
        "in_place = [", absl::StrJoin(kernel.in_place, ", ", append), "]"));
  }
  if (!kernel.arithmetics.empty()) {
    fields.push_back(absl::StrCat("arithmetic = ",
                                  Quoted(ArithmeticsText(kernel.arithmetics))));
  }
  std::string text = absl::StrCat("by ", WordText(kernel.kernel.ToString()));
  if (!fields.empty()) {
    absl::StrAppend(&text, " {", absl::StrJoin(fields, ", "), "}");
  }
  return text;
}

// The placement at the end of a node's line: "on gpu:0", "on {gpu:0, gpu:1}
// (split 0, replicated) -> (partial sum)"; empty if not placed.
std::string PlacementText(const Placement& placement) {
  if (!placement.placed()) return "";
  const auto append = [](std::string* out, const std::string& device) {
    out->append(WordText(device));
  };
  std::string text = absl::StrJoin(placement.devices, ", ", append);
  if (placement.devices.size() > 1) text = absl::StrCat("{", text, "}");
  text = absl::StrCat("on ", text);
  if (!placement.operands.empty()) {
    absl::StrAppend(&text, " ", ShardingsText(placement.operands));
  }
  if (!placement.results.empty()) {
    absl::StrAppend(&text, " -> ", ShardingsText(placement.results));
  }
  return text;
}

class GraphPrinter {
 public:
  GraphPrinter(const Graph& graph, int indent)
      : graph_(graph), names_(ValueNames(graph)), indent_(indent, ' ') {}

  // graph @f(%x: f32[2]) -> f32[2] { ... }
  std::string Function() const {
    std::vector<std::string> types;
    for (ValueId id : graph_.outputs()) {
      types.push_back(graph_.type(id).ToString());
    }
    std::string results = absl::StrJoin(types, ", ");
    if (types.size() != 1) results = absl::StrCat("(", results, ")");
    const std::string head = absl::StrCat("graph @", NameText(graph_.name()));
    const std::string tail = absl::StrCat(" -> ", results, " {");
    std::string inputs = Inputs(", ");
    if (head.size() + inputs.size() + tail.size() > kLineWidth) {
      inputs = Inputs(",\n    ");
      inputs.insert(1, "\n    ");
    }
    return absl::StrCat(head, inputs, tail, "\n", Body(), "}\n");
  }

  std::string NodeLine(const OpView& node) const {
    std::string line = absl::StrCat(Results(node), node.op_name());
    Append(line, " ", Values(node.node().operands));
    if (node.is(kConstant)) {
      Append(line, " ", TypedLiteral(graph_.literals(), Literal(node)));
    } else {
      Append(line, " ", AttributesText(node));
    }
    for (const auto& region : node.node().regions) {
      absl::StrAppend(&line, " ", Region(*region, line));
    }
    Append(line, " : ", ResultTypes(node));
    return WithSuffixes(std::move(line), node.node());
  }

 private:
  static void Append(std::string& line, absl::string_view separator,
                     absl::string_view part) {
    if (!part.empty()) absl::StrAppend(&line, separator, part);
  }

  static LiteralId Literal(const OpView& node) {
    const AttributeValue* value = node.node().attributes.Find("value");
    const LiteralId* id =
        value == nullptr ? nullptr : std::get_if<LiteralId>(value);
    return id == nullptr ? LiteralId() : *id;
  }

  std::string ValueText(ValueId id) const {
    return absl::StrCat("%", names_[id.index]);
  }

  std::string Values(absl::Span<const ValueId> ids) const {
    const auto append = [this](std::string* out, ValueId id) {
      out->append(ValueText(id));
    };
    return absl::StrJoin(ids, ", ", append);
  }

  std::string Results(const OpView& node) const {
    if (node.num_results() == 0) return "";
    return absl::StrCat(Values(node.node().results), " = ");
  }

  std::string AttributesText(const OpView& node) const {
    const Attributes attributes =
        WithoutDefaults(node.op(), node.node().attributes);
    if (attributes.entries().empty()) return "";
    const auto append = [this](std::string* out,
                               const Attributes::Entry& entry) {
      absl::StrAppend(
          out, entry.first, " = ",
          std::visit(AttributePrinter(graph_.literals()), entry.second));
    };
    return absl::StrCat("{", absl::StrJoin(attributes.entries(), ", ", append),
                        "}");
  }

  // A constant's type is its literal's unless a pass chose another layout.
  std::string ResultTypes(const OpView& node) const {
    if (node.is(kConstant) && node.num_results() == 1) {
      const LiteralId id = Literal(node);
      const LiteralPool& pool = graph_.literals();
      if (id.valid() && id.index < pool.size() &&
          pool.type(id) == node.result_type(0)) {
        return "";
      }
    }
    std::vector<std::string> types;
    for (int i = 0; i < node.num_results(); ++i) {
      types.push_back(node.result_type(i).ToString());
    }
    return absl::StrJoin(types, ", ");
  }

  std::string Inputs(absl::string_view separator) const {
    std::vector<std::string> inputs;
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const ValueId id = graph_.inputs()[i];
      std::string input =
          absl::StrCat(ValueText(id), ": ", graph_.type(id).ToString());
      const Placement& placement = graph_.input_placement(static_cast<int>(i));
      Append(input, " ", PlacementText(placement));
      inputs.push_back(std::move(input));
    }
    return absl::StrCat("(", absl::StrJoin(inputs, separator), ")");
  }

  // `line` is the text before it.
  std::string Region(const Graph& region, absl::string_view line) const {
    const GraphPrinter printer(region, static_cast<int>(indent_.size()) + 2);
    std::string inputs = printer.Inputs(", ");
    if (!region.name().empty()) {
      inputs = absl::StrCat("@", NameText(region.name()), inputs);
    }
    if (Width(line) + inputs.size() + 3 > kLineWidth) {
      const std::string separator = absl::StrCat(",\n", indent_, "      ");
      inputs = printer.Inputs(separator);
      inputs.insert(1, separator.substr(1));
      if (!region.name().empty()) {
        inputs = absl::StrCat("@", NameText(region.name()), inputs);
      }
    }
    return absl::StrCat(inputs, " {\n", printer.Body(), indent_, "  }");
  }

  // The length of a node's last line so far.
  size_t Width(absl::string_view line) const {
    const size_t start = line.rfind('\n');
    return start == absl::string_view::npos ? line.size() + indent_.size() + 2
                                            : line.size() - start - 1;
  }

  std::string Body() const {
    std::string text;
    for (const OpView& node : graph_.ops()) {
      absl::StrAppend(&text, indent_, "  ", NodeLine(node), "\n");
    }
    for (const VariableUpdate& update : graph_.updates()) {
      absl::StrAppend(&text, indent_, "  update @", NameText(update.variable),
                      " = ", ValueText(update.value), "\n");
    }
    return absl::StrCat(text, indent_, "  return", Outputs(), "\n");
  }

  // `as name` if the output's name differs from its value's.
  std::string Outputs() const {
    std::vector<std::string> outputs;
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const ValueId id = graph_.outputs()[i];
      std::string output = ValueText(id);
      const std::string& name = graph_.output_names()[i];
      const bool as_value = graph_.value(id).name.empty()
                                ? name == absl::StrCat("output_", i)
                                : NameText(name) == names_[id.index];
      if (!as_value) absl::StrAppend(&output, " as ", WordText(name));
      outputs.push_back(std::move(output));
    }
    return absl::StrCat(outputs.empty() ? "" : " ",
                        absl::StrJoin(outputs, ", "));
  }

  // Placement and kernel, on separate lines if the line would be too long.
  std::string WithSuffixes(std::string line, const Node& node) const {
    std::vector<std::string> suffixes;
    if (node.placement.placed()) {
      suffixes.push_back(PlacementText(node.placement));
    }
    if (node.kernel.has_value()) suffixes.push_back(KernelText(*node.kernel));
    if (!node.scope.empty()) {
      suffixes.push_back(absl::StrCat("scope ", Quoted(node.scope)));
    }
    if (!node.location.empty()) {
      suffixes.push_back(absl::StrCat("at ", Quoted(node.location)));
    }
    size_t width = Width(line);
    for (const std::string& suffix : suffixes) {
      const bool fits = width + 1 + suffix.size() <= kLineWidth;
      absl::StrAppend(&line, fits ? " " : absl::StrCat("\n", indent_, "      "),
                      suffix);
      width = suffix.size() + (fits ? width + 1 : indent_.size() + 6);
    }
    return line;
  }

  const Graph& graph_;
  const std::vector<std::string> names_;
  const std::string indent_;  // of the line that opens the graph
};

std::string VariableLine(const LiteralPool& literals,
                         const Variable& variable) {
  return absl::StrCat(
      "variable @", NameText(variable.name), ": ", variable.type.ToString(),
      variable.trainable ? " trainable" : "",
      variable.initial.valid() ? " = " : "",
      variable.initial.valid() ? TypedLiteral(literals, variable.initial) : "",
      "\n");
}

}  // namespace

std::string LiteralText(const LiteralPool& literals, LiteralId id) {
  const TensorType& type = literals.type(id);
  const int64_t elements = type.num_stored_elements();
  if (elements > kMostElementsInFull || !literals.has_bytes(id)) {
    return absl::StrCat("#", literals.hash(id).ToString());
  }
  const HostTensor& tensor = literals.tensor(id);
  if (type.rank() == 0) return ElementText(tensor, 0);
  std::vector<std::string> texts;
  for (int64_t i = 0; i < elements; ++i) {
    texts.push_back(ElementText(tensor, i));
  }
  return absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
}

std::string PrintGraph(const Graph& graph) {
  return GraphPrinter(graph, 0).Function();
}

std::string PrintModule(const Module& module) {
  std::string text;
  for (const Variable& variable : module.variables()) {
    absl::StrAppend(&text, VariableLine(module.literals(), variable));
  }
  for (const auto& function : module.functions()) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", PrintGraph(*function));
  }
  return text;
}

}  // namespace partita
