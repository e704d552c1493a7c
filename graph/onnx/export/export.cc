// Writes a function node by node, and collects all errors.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/export/export.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/onnx/export/model_draft.h"
#include "graph/onnx/export/node_export.h"
#include "graph/onnx/fault_list.h"
#include "graph/op_view.h"
#include "graph/round_up.h"
#include "graph/status_macros.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

// --- the bytes of a model, without copying its weights ---
//
// Protobuf's wire format, as far as needed for lengths before fields.

constexpr int64_t kPage = 4096;
constexpr size_t kSmallestOutside = 1024;

void AppendVarint(uint64_t value, std::string& text) {
  for (; value >= 0x80; value >>= 7) {
    text.push_back(static_cast<char>(value | 0x80));
  }
  text.push_back(static_cast<char>(value));
}

// The bytes before the `size` bytes of a message or of bytes.
std::string FieldHead(int field, uint64_t size) {
  constexpr int kLengthDelimited = 2;
  std::string head;
  AppendVarint(static_cast<uint64_t>(field) << 3 | kLengthDelimited, head);
  AppendVarint(size, head);
  return head;
}

uint64_t SizeOf(const std::vector<FileChunk>& chunks) {
  uint64_t size = 0;
  for (const FileChunk& chunk : chunks) {
    size += chunk.head.size() + chunk.weight.size();
  }
  return size;
}

onnx::TensorProto HeadOf(const Initializer& initializer) {
  onnx::TensorProto proto;
  proto.set_name(initializer.name);
  SetType(initializer.type, proto);
  return proto;
}

// Fields of a GraphProto, so they need no order.
FileChunk WithBytes(const Initializer& initializer) {
  const std::string type = HeadOf(initializer).SerializeAsString();
  const size_t size = initializer.bytes.size();
  const std::string raw =
      FieldHead(onnx::TensorProto::kRawDataFieldNumber, size);
  return {absl::StrCat(FieldHead(onnx::GraphProto::kInitializerFieldNumber,
                                 type.size() + raw.size() + size),
                       type, raw),
          initializer.bytes};
}

// The initializer in the model; its bytes go to the end of `weights`.
FileChunk Outside(const Initializer& initializer, const std::string& file,
                  std::vector<FileChunk>& weights, int64_t& offset) {
  const int64_t size = static_cast<int64_t>(initializer.bytes.size());
  const int64_t begin = RoundUp(offset, kPage);
  weights.push_back({std::string(begin - offset, '\0'), initializer.bytes});
  offset = begin + size;
  onnx::TensorProto proto = HeadOf(initializer);
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [&](const char* key, std::string value) {
    auto& entry = *proto.add_external_data();
    entry.set_key(key);
    entry.set_value(std::move(value));
  };
  add("location", file);
  add("offset", absl::StrCat(begin));
  add("length", absl::StrCat(size));
  const std::string text = proto.SerializeAsString();
  return {absl::StrCat(
              FieldHead(onnx::GraphProto::kInitializerFieldNumber, text.size()),
              text),
          {}};
}

// The model around its initializers.
std::vector<FileChunk> Assemble(ModelDraft& draft,
                                std::vector<FileChunk> initializers) {
  const std::string graph = draft.proto().graph().SerializeAsString();
  onnx::ModelProto outside = draft.proto();
  outside.clear_graph();
  FileChunk head = {absl::StrCat(outside.SerializeAsString(),
                                 FieldHead(onnx::ModelProto::kGraphFieldNumber,
                                           graph.size() + SizeOf(initializers)),
                                 graph),
                    {}};
  initializers.insert(initializers.begin(), std::move(head));
  return initializers;
}

// The draft as files. If the model would be larger than the options allow,
// weights of 1 KiB or more go into the weight file, each at a page of its own.
// What runtimes read while they load a model, such as shapes, stays in the
// model.
ExportedModel ChunksOf(ModelDraft draft, const ExportOptions& options) {
  ExportedModel exported;
  std::vector<FileChunk> inside;
  for (const Initializer& initializer : draft.initializers()) {
    inside.push_back(WithBytes(initializer));
  }
  exported.model = Assemble(draft, std::move(inside));
  if (SizeOf(exported.model) > static_cast<uint64_t>(options.largest_model)) {
    std::vector<FileChunk> outside;
    int64_t offset = 0;
    for (const Initializer& initializer : draft.initializers()) {
      outside.push_back(initializer.bytes.size() < kSmallestOutside
                            ? WithBytes(initializer)
                            : Outside(initializer, options.weight_file,
                                      exported.weights, offset));
    }
    exported.model = Assemble(draft, std::move(outside));
  }
  exported.owned = std::move(draft).TakeOwned();
  return exported;
}

// --- a function, node by node ---

class FunctionExporter {
 public:
  FunctionExporter(const Module& module, const Graph& graph,
                   const ExportOptions& options)
      : module_(module), graph_(graph), options_(options) {}

  absl::StatusOr<ModelDraft> Run() && {
    PARTITA_RETURN_IF_ERROR(CheckUpdates());
    FillHead();
    FindNeeded();
    PARTITA_RETURN_IF_ERROR(NameEnds());
    NameResults();
    PARTITA_RETURN_IF_ERROR(AddNodes());
    AddOutputs();
    return std::move(draft_);
  }

 private:
  absl::Status CheckUpdates() const {
    if (graph_.updates().empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "@", graph_.name(),
        ": found updates of variables; expected a function "
        "without, as models of ONNX keep no state; export one that only reads "
        "them, as @evaluate"));
  }

  void FillHead() {
    onnx::ModelProto& model = draft_.proto();
    model.set_ir_version(kExportedIrVersion);
    model.set_producer_name("partita");
    model.set_doc_string(
        absl::StrCat("Function @", graph_.name(), ", as Partita exports it."));
    auto& opset = *model.add_opset_import();
    opset.set_domain("");
    opset.set_version(kExportedOpset);
    model.mutable_graph()->set_name(graph_.name());
  }

  void FindNeeded() {
    needed_.assign(graph_.node_id_bound(), false);
    std::vector<ValueId> pending = graph_.outputs();
    while (!pending.empty()) {
      const NodeId node = graph_.value(pending.back()).defining_node;
      pending.pop_back();
      if (!node.valid() || needed_[node.index]) continue;
      needed_[node.index] = true;
      const ValueIds& operands = graph_.node(node).operands;
      pending.insert(pending.end(), operands.begin(), operands.end());
    }
  }

  // The caller identifies inputs and outputs by name, so they come first.
  absl::Status NameEnds() {
    for (const ValueId input : graph_.inputs()) {
      names_[input] = draft_.NewName(NameOr(input, "input"));
      draft_.AddInput(names_[input], graph_.type(input));
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const ValueId value = graph_.outputs()[i];
      const std::string& name = graph_.output_names()[i];
      if (names_.contains(value) && names_[value] == name) continue;
      if (!draft_.TakeName(name)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "output ", name,
            ": found an input of the same name; expected "
            "another, as ONNX knows both by their names; rename one"));
      }
      // A second name of a value is an Identity's (AddOutputs).
      const std::string& own = graph_.value(value).name;
      if (own.empty() || own == name) names_.emplace(value, name);
    }
    return absl::OkStatus();
  }

  std::string NameOr(ValueId value, const std::string& otherwise) const {
    const std::string& name = graph_.value(value).name;
    return name.empty() ? otherwise : name;
  }

  void NameResults() {
    for (const NodeId id : graph_.order()) {
      if (!needed_[id.index]) continue;
      for (const ValueId result : graph_.node(id).results) {
        if (names_.contains(result)) continue;
        names_[result] =
            draft_.NewName(NameOr(result, absl::StrCat("v", result.index)));
      }
    }
  }

  absl::Status AddNodes() {
    std::vector<std::string> faults;
    absl::Status first;
    for (const OpView& op : graph_.ops()) {
      if (!needed_[op.id().index]) continue;
      const absl::Status status = AddNode(op);
      if (status.ok()) continue;
      first.Update(status);
      faults.push_back(std::string(status.message()));
    }
    if (faults.empty()) return absl::OkStatus();
    return absl::Status(
        first.code(),
        absl::StrCat("@", graph_.name(), ": found ", faults.size(),
                     faults.size() == 1 ? " node" : " nodes",
                     " that cannot be exported:\n  ", JoinedFaults(faults)));
  }

  absl::Status AddNode(const OpView& op) {
    if (op.is(kConstant)) return AddConstant(op);
    if (op.is(kVariable)) return AddVariable(op);
    const ExportRow* row = FindExport(op.op());
    if (row == nullptr) {
      return absl::UnimplementedError(
          absl::StrCat(op.ToString(), ": found an op that is not in opset ",
                       kExportedOpset, " of ONNX; expected one that is"));
    }
    NodeExport node(op, *row, names_, draft_);
    PARTITA_RETURN_IF_ERROR(row->write(node));
    return node.fault();
  }

  absl::Status AddConstant(const OpView& op) {
    const LiteralId literal = op.attr_literal("value");
    if (!graph_.literals().has_bytes(literal)) {
      return absl::UnimplementedError(
          absl::StrCat(op.ToString(),
                       ": found only the hash of its bytes; expected the "
                       "bytes; export from what the text was printed from"));
    }
    draft_.AddInitializer(names_.at(op.result(0).id()), op.result_type(0),
                          graph_.literals().byte_span(literal));
    return absl::OkStatus();
  }

  absl::Status AddVariable(const OpView& op) {
    const std::string variable = op.attr_string("name");
    const std::string& name = names_.at(op.result(0).id());
    const TensorType& type = op.result_type(0);
    const auto given = options_.variables.find(variable);
    if (given == options_.variables.end()) {
      const LiteralId initial = module_.FindVariable(variable)->initial;
      draft_.AddInitializer(name, type, module_.literals().byte_span(initial));
      return absl::OkStatus();
    }
    const HostTensor& value = *given->second;
    if (value.type() != type) {
      return absl::InvalidArgumentError(absl::StrCat(
          op.ToString(), ": found a value of ", value.type().ToString(),
          "; expected ", type.ToString(), ", the variable's type"));
    }
    draft_.AddInitializer(name, type, value.byte_span());
    return absl::OkStatus();
  }

  void AddOutputs() {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const ValueId value = graph_.outputs()[i];
      const std::string& name = graph_.output_names()[i];
      const std::string& own = names_.at(value);
      if (own != name) draft_.AddNode(name, "Identity", {own}, {name});
      draft_.AddOutput(name, graph_.type(value));
    }
  }

  const Module& module_;
  const Graph& graph_;
  const ExportOptions& options_;
  ModelDraft draft_;
  std::vector<bool> needed_;                         // by node
  absl::flat_hash_map<ValueId, std::string> names_;  // in the model
};

absl::Status NoFunction(const Module& module, absl::string_view function) {
  std::vector<std::string> names;
  for (const auto& graph : module.functions()) {
    names.push_back(absl::StrCat("@", graph->name()));
  }
  return absl::NotFoundError(absl::StrCat("found no function @", function,
                                          "; expected one of ",
                                          absl::StrJoin(names, ", ")));
}

}  // namespace

absl::StatusOr<ExportedModel> ExportOnnx(const Module& module,
                                         absl::string_view function,
                                         const ExportOptions& options) {
  const Graph* graph = module.FindFunction(function);
  if (graph == nullptr) return NoFunction(module, function);
  PARTITA_ASSIGN_OR_RETURN(ModelDraft draft,
                           FunctionExporter(module, *graph, options).Run());
  return ChunksOf(std::move(draft), options);
}

}  // namespace partita
