// A line of rates, a line of operands, and a graph of one node.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_question.h"

#include <bit>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/ops/op_set.h"
#include "graph/status_macros.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "kernels/cpu/onednn_recipe.h"

namespace partita {
namespace {

absl::Status BadText(absl::string_view what, absl::string_view found) {
  return absl::InvalidArgumentError(
      absl::StrCat("onednn: found ", what, " `", found,
                   "`; expected that of the same build"));
}

// Exact to the bit.
std::string NumberText(double number) {
  return absl::StrCat(std::bit_cast<uint64_t>(number));
}

bool ReadNumber(absl::string_view text, double& number) {
  uint64_t bits = 0;
  if (!absl::SimpleAtoi(text, &bits)) return false;
  number = std::bit_cast<double>(bits);
  return true;
}

std::string DeviceText(const DeviceTraits& device) {
  std::vector<std::string> fields = {absl::StrCat(device.threads),
                                     NumberText(device.memory_bandwidth),
                                     NumberText(device.launch_seconds)};
  for (double rate : device.peak_flops) fields.push_back(NumberText(rate));
  return absl::StrJoin(fields, " ");
}

absl::StatusOr<DeviceTraits> ParseDevice(absl::string_view text) {
  const std::vector<absl::string_view> fields = absl::StrSplit(text, ' ');
  DeviceTraits device;
  constexpr size_t kRates = 3;
  bool good = fields.size() == kRates + device.peak_flops.size() &&
              absl::SimpleAtoi(fields[0], &device.threads) &&
              ReadNumber(fields[1], device.memory_bandwidth) &&
              ReadNumber(fields[2], device.launch_seconds);
  for (size_t i = 0; good && i < device.peak_flops.size(); ++i) {
    good = ReadNumber(fields[kRates + i], device.peak_flops[i]);
  }
  if (!good) return BadText("the device", text);
  return device;
}

// Like `node`, without its names, locations and layouts.
NodeSpec Bare(const OpView& node, ValueIds operands, LiteralPool* literals) {
  NodeSpec spec = CopyOf(node.node(), std::move(operands), literals);
  spec.scope.clear();
  spec.location.clear();
  spec.placement = {};
  return spec;
}

// A constant whose bytes nobody reads: primitives depend only on its type.
ValueId AddUnread(const TensorType& type, Graph& graph) {
  alignas(64) static const std::byte kNone[64] = {};
  return graph.AddConstant(
      graph.literals().Add(HostTensor::ConstView(type, kNone)));
}

std::string LayoutsText(const std::vector<Layout>& layouts) {
  return absl::StrJoin(
      layouts, " ", [](std::string* text, const Layout& layout) {
        absl::StrAppend(text, layout.is_row_major() ? "-" : layout.ToString());
      });
}

// One layout for each value of the node; `rank` returns the values' ranks.
template <typename RankOf>
absl::StatusOr<std::vector<Layout>> ParseLayouts(absl::string_view text,
                                                 int count, RankOf rank) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, ' ', absl::SkipEmpty());
  std::vector<Layout> layouts(count);
  if (static_cast<int>(words.size()) != count) return BadText("layouts", text);
  for (int i = 0; i < count; ++i) {
    if (words[i] == "-") continue;
    PARTITA_ASSIGN_OR_RETURN(layouts[i], ParseLayout(words[i], rank(i)));
  }
  return layouts;
}

std::string PairsText(const std::vector<InPlacePair>& pairs) {
  return absl::StrJoin(pairs, " ",
                       [](std::string* text, const InPlacePair& pair) {
                         absl::StrAppend(text, pair.operand, ":", pair.result);
                       });
}

absl::StatusOr<std::vector<InPlacePair>> ParsePairs(absl::string_view text) {
  std::vector<InPlacePair> pairs;
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(word, absl::MaxSplits(':', 1));
    InPlacePair pair = {};
    if (!absl::SimpleAtoi(ends.first, &pair.operand) ||
        !absl::SimpleAtoi(ends.second, &pair.result)) {
      return BadText("in-place pairs", text);
    }
    pairs.push_back(pair);
  }
  return pairs;
}

constexpr int kLinesOfChoice = 7;

absl::StatusOr<KernelChoice> ParseChoice(
    absl::Span<const absl::string_view> lines, const OpView& node) {
  KernelChoice choice;
  choice.kernel = lines[0];
  PARTITA_ASSIGN_OR_RETURN(
      choice.operands, ParseLayouts(lines[1], node.num_operands(), [&](int i) {
        return node.operand_type(i).rank();
      }));
  PARTITA_ASSIGN_OR_RETURN(
      choice.results, ParseLayouts(lines[2], node.num_results(), [&](int i) {
        return node.result_type(i).rank();
      }));
  if (!absl::SimpleAtoi(lines[3], &choice.workspace) ||
      !ReadNumber(lines[4], choice.seconds)) {
    return BadText("figures of a choice", lines[3]);
  }
  PARTITA_ASSIGN_OR_RETURN(choice.in_place, ParsePairs(lines[5]));
  choice.arithmetics = {Arithmetic::Parse(lines[6])};
  choice.fallback = IsReferenceLoop(choice.arithmetics[0]);
  return choice;
}

}  // namespace

std::string ConstantOperands(const OpView& node) {
  std::string constants;
  for (int i = 0; i < node.num_operands(); ++i) {
    constants += node.operand(i).is_constant() ? 'c' : '-';
  }
  return constants;
}

std::string OnednnQuestionText(const OpView& node, const DeviceTraits& device) {
  LiteralPool* const literals = &node.graph().literals();
  Graph graph("question", literals);
  ValueIds operands;
  for (int i = 0; i < node.num_operands(); ++i) {
    operands.push_back(graph.AddInput("", node.operand_type(i).RowMajor()));
  }
  // The op accepted the same operands when the node was created.
  const NodeId id = *graph.AddNode(Bare(node, std::move(operands), literals));
  const ValueIds& results = graph.node(id).results;
  graph.SetOutputs({results.begin(), results.end()});
  return absl::StrCat(DeviceText(device), "\n", ConstantOperands(node), "\n",
                      PrintGraph(graph));
}

absl::StatusOr<OnednnQuestion> ParseOnednnQuestion(absl::string_view text) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('\n', 2));
  if (parts.size() != 3) return BadText("a question", text);
  OnednnQuestion question;
  PARTITA_ASSIGN_OR_RETURN(question.device, ParseDevice(parts[0]));
  PARTITA_ASSIGN_OR_RETURN(question.module,
                           ParseModule(parts[2], "question", OpSet::BuiltIn()));
  if (question.module.functions().size() != 1 ||
      question.module.main().num_nodes() != 1) {
    return BadText("a graph", parts[2]);
  }
  const OpView node = question.module.main().ops().front();
  if (static_cast<int>(parts[1].size()) != node.num_operands()) {
    return BadText("operands", parts[1]);
  }
  Graph& graph = question.module.AddFunction("asked");
  ValueIds operands;
  for (int i = 0; i < node.num_operands(); ++i) {
    const TensorType& type = node.operand_type(i);
    operands.push_back(parts[1][i] == 'c' ? AddUnread(type, graph)
                                          : graph.AddInput("", type));
  }
  PARTITA_ASSIGN_OR_RETURN(
      question.id,
      graph.AddNode(Bare(node, std::move(operands), &graph.literals())));
  return question;
}

std::string OnednnAnswerText(const std::vector<KernelChoice>& choices) {
  std::string text;
  for (const KernelChoice& choice : choices) {
    absl::StrAppend(
        &text, choice.kernel.ToString(), "\n", LayoutsText(choice.operands),
        "\n", LayoutsText(choice.results), "\n", choice.workspace, "\n",
        NumberText(choice.seconds), "\n", PairsText(choice.in_place), "\n",
        ArithmeticsText(choice.arithmetics), "\n");
  }
  return text;
}

absl::StatusOr<std::vector<KernelChoice>> ParseOnednnAnswer(
    absl::string_view text, const OpView& node) {
  std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  lines.pop_back();  // the text after the last line end
  if (lines.size() % kLinesOfChoice != 0) return BadText("an answer", text);
  std::vector<KernelChoice> choices;
  for (size_t i = 0; i < lines.size(); i += kLinesOfChoice) {
    PARTITA_ASSIGN_OR_RETURN(
        choices.emplace_back(),
        ParseChoice(absl::MakeConstSpan(lines).subspan(i, kLinesOfChoice),
                    node));
  }
  return choices;
}

}  // namespace partita
