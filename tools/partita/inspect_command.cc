// partita inspect: the contents of an ONNX model, and its unsupported ops.
// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/literal_pool.h"
#include "graph/onnx/inspect.h"
#include "graph/status_macros.h"
#include "graph/text/names.h"
#include "partita/options/recognize_file.h"
#include "placement/machine/byte_size.h"
#include "tools/partita/json_text.h"
#include "tools/partita/output.h"
#include "tools/partita/report_text.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

using Json = nlohmann::ordered_json;

constexpr FlagDef kFlags[] = {
    {"json", nullptr, "report as JSON"},
};
// The default width of a terminal.
constexpr size_t kWidth = 80;
// One screen: the rest of inputs, outputs or faults is counted.
constexpr size_t kMostLines = 20;

// "  Conv 53, Relu 49, ...", wrapped at the width.
std::string Wrapped(const std::vector<std::string>& words) {
  std::string text, line = "  ";
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word =
        absl::StrCat(words[i], i + 1 < words.size() ? ", " : "");
    if (line.size() > 2 && line.size() + word.size() > kWidth) {
      absl::StrAppend(&text, line.substr(0, line.size() - 1), "\n");
      line = "  ";
    }
    line += word;
  }
  return words.empty() ? "" : absl::StrCat(text, line, "\n");
}

std::string Listed(absl::string_view title,
                   const std::vector<std::string>& lines) {
  std::string text = absl::StrCat(title, "\n");
  for (size_t i = 0; i < lines.size() && i < kMostLines; ++i) {
    absl::StrAppend(&text, "  ", lines[i], "\n");
  }
  if (lines.size() > kMostLines) {
    absl::StrAppend(&text, "  and ", lines.size() - kMostLines, " more\n");
  }
  return lines.empty() ? "" : text;
}

std::vector<std::string> PortLines(
    const std::vector<ModelSummary::Port>& ports) {
  std::vector<std::string> lines;
  for (const ModelSummary::Port& port : ports) {
    lines.push_back(absl::StrCat(WordText(port.name), ": ", port.type));
  }
  return lines;
}

std::vector<std::string> UnsupportedLines(const ModelSummary& summary) {
  std::vector<std::string> lines = summary.faults;
  for (const ModelSummary::Unsupported& op : summary.unsupported) {
    lines.push_back(absl::StrCat(
        op.op, " ", op.count, ", first ", op.first,
        op.why.empty() ? "" : absl::StrCat(", which ", op.why),
        op.instead.empty() ? "" : absl::StrCat("; instead: ", op.instead)));
  }
  return lines;
}

std::string ParametersText(const ModelSummary& summary) {
  std::vector<std::string> parts;
  int64_t bytes = 0;
  for (const auto& [element, size] : summary.bytes) {
    bytes += size;
    parts.push_back(absl::StrCat(element, " ", RoundedByteSize(size)));
  }
  std::string text =
      absl::StrCat("parameters ", summary.parameters, " in ",
                   CountText(summary.parameter_tensors, "tensor"), ", ",
                   RoundedByteSize(bytes));
  if (parts.size() > 1) {
    absl::StrAppend(&text, " (", absl::StrJoin(parts, ", "), ")");
  }
  if (!summary.external.empty()) {
    absl::StrAppend(&text, ", in ",
                    absl::StrJoin(summary.external, ", ",
                                  [](std::string* out, const auto& file) {
                                    absl::StrAppend(
                                        out, file.first, " ",
                                        RoundedByteSize(file.second));
                                  }));
  }
  return text + "\n";
}

std::string NodesText(const ModelSummary& summary) {
  std::string text = CountText(summary.nodes, "node");
  if (summary.nodes_inside > 0) {
    absl::StrAppend(
        &text, ", and ", summary.nodes_inside, " in ",
        summary.functions == 0
            ? ""
            : absl::StrCat(CountText(summary.functions, "function"), " and "),
        "bodies of nodes");
  }
  return text + "\n";
}

std::string TextOf(const ModelSummary& summary) {
  std::vector<std::string> ops;
  for (const ModelSummary::Op& op : summary.ops) {
    ops.push_back(absl::StrCat(op.name, " ", op.count));
  }
  const std::vector<std::string> unsupported = UnsupportedLines(summary);
  return absl::StrCat(
      "ONNX IR ", summary.ir_version, ", opset ",
      absl::StrJoin(summary.opsets, ", "),
      summary.producer.empty() ? "" : ", by ", summary.producer, "\n",
      Listed("inputs", PortLines(summary.inputs)),
      Listed("outputs", PortLines(summary.outputs)),
      summary.open_dims.empty()
          ? ""
          : absl::StrCat("open dimensions\n", Wrapped(summary.open_dims)),
      ParametersText(summary), NodesText(summary), Wrapped(ops),
      unsupported.empty() ? "no op is missing\n"
                          : Listed("not supported", unsupported));
}

Json JsonOf(const std::vector<ModelSummary::Port>& ports) {
  Json list = Json::array();
  for (const ModelSummary::Port& port : ports) {
    list.push_back({{"name", port.name}, {"type", port.type}});
  }
  return list;
}

std::string JsonOf(const ModelSummary& summary) {
  Json ops = Json::array(), unsupported = Json::array();
  for (const ModelSummary::Op& op : summary.ops) {
    ops.push_back(
        {{"op", op.name}, {"count", op.count}, {"inside", op.inside}});
  }
  for (const ModelSummary::Unsupported& op : summary.unsupported) {
    unsupported.push_back({{"op", op.op},
                           {"count", op.count},
                           {"first", op.first},
                           {"why", op.why},
                           {"instead", op.instead}});
  }
  const Json json = {{"ir_version", summary.ir_version},
                     {"producer", summary.producer},
                     {"opsets", summary.opsets},
                     {"faults", summary.faults},
                     {"inputs", JsonOf(summary.inputs)},
                     {"outputs", JsonOf(summary.outputs)},
                     {"open_dimensions", summary.open_dims},
                     {"parameters", summary.parameters},
                     {"parameter_tensors", summary.parameter_tensors},
                     {"bytes", summary.bytes},
                     {"external_files", summary.external},
                     {"nodes", summary.nodes},
                     {"nodes_inside", summary.nodes_inside},
                     {"functions", summary.functions},
                     {"ops", ops},
                     {"unsupported", unsupported}};
  return JsonText(json);
}

absl::Status Run(const Arguments& arguments) {
  const std::string& path = arguments.positional()[0];
  if (absl::StartsWith(path, "builtin:")) {
    return CalledWrongly(absl::StrCat(
        path, ": found a built-in model, which is no file; expected an ONNX ",
        "model; print its graph: partita compile ", path,
        " --stop-after imported"));
  }
  PARTITA_RETURN_IF_ERROR(MappedFile::Open(path).status());
  if (KindOfFile(path) == FileKind::kGraphText) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": found a graph as text; expected an ONNX model; print it with ",
        "its types: partita compile ", path, " --stop-after imported"));
  }
  Progress progress("inspect");
  progress.Stage("read");
  PARTITA_ASSIGN_OR_RETURN(const ModelSummary summary, InspectOnnx(path));
  progress.Done();
  return WriteText("-",
                   arguments.has("json") ? JsonOf(summary) : TextOf(summary));
}

}  // namespace

const Subcommand kInspectCommand = {
    .name = "inspect",
    .usage = "inspect MODEL [--json]",
    .doc =
        "Says what an ONNX model holds, and what of it is not supported.\n"
        "Inputs, outputs, dimensions that are left open, ops with their "
        "counts, "
        "parameters;\nops that are not there are named with the first node, "
        "inside functions and bodies\ntoo, and with what would replace them. "
        "Weights are not read.",
    .operand = "model",
    .reads = kModelFiles,
    .flags = kFlags,
    .run = Run,
};

}  // namespace partita
