// Translates a model node by node, gathering every fault on the way.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/import.h"

#include <climits>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/status_macros.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

constexpr int kOldestOpset = 7;
constexpr size_t kMaxFaults = 20;

absl::Status InSource(const absl::Status& status, absl::string_view source) {
  return absl::Status(status.code(),
                      absl::StrCat(source, ": ", status.message()));
}

absl::Status Parse(absl::string_view bytes, onnx::ModelProto& model) {
  if (bytes.size() > INT_MAX) {
    return absl::InvalidArgumentError(
        "found a model of over 2 GiB; expected one that keeps its weights as "
        "external data");
  }
  google::protobuf::io::ArrayInputStream stream(bytes.data(),
                                                static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(100);
  if (!model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
    return absl::InvalidArgumentError(
        "found bytes that are no ONNX model, or one cut short; expected a "
        "serialised ModelProto");
  }
  if (!model.has_graph()) {
    return absl::InvalidArgumentError(
        "found no graph; expected a serialised ModelProto with one");
  }
  return absl::OkStatus();
}

absl::StatusOr<int> OpsetOf(const onnx::ModelProto& model) {
  std::optional<int64_t> version;
  for (const auto& opset : model.opset_import()) {
    if (opset.domain().empty() || opset.domain() == "ai.onnx") {
      version = opset.version();
    }
  }
  if (!version.has_value() || *version < kOldestOpset || *version > 1000) {
    return absl::UnimplementedError(absl::StrCat(
        "found opset ", version.has_value() ? absl::StrCat(*version) : "none",
        "; expected ", kOldestOpset, " or newer; convert the model"));
  }
  return static_cast<int>(*version);
}

class Importer {
 public:
  Importer(const onnx::ModelProto& model, int opset, std::string folder,
           const ImportOptions& options)
      : proto_(model.graph()),
        opset_(opset),
        folder_(std::move(folder)),
        options_(options),
        graph_(module_.AddFunction("main")),
        known_(graph_) {}

  absl::StatusOr<Module> Run() && {
    PARTITA_RETURN_IF_ERROR(CheckOps());
    PARTITA_RETURN_IF_ERROR(AddInitializers());
    PARTITA_RETURN_IF_ERROR(AddInputs());
    PARTITA_RETURN_IF_ERROR(AddNodes());
    PARTITA_RETURN_IF_ERROR(SetOutputs());
    return std::move(module_);
  }

 private:
  // Ops without a converter, all at once, before anything else is reported.
  absl::Status CheckOps() const {
    std::vector<std::string> faults;
    for (const auto& node : proto_.node()) {
      const bool ours = node.domain().empty() || node.domain() == "ai.onnx";
      if (ours && FindConverter(node.op_type()) != nullptr) continue;
      const std::string domain =
          ours ? "" : absl::StrCat(" of domain ", node.domain());
      faults.push_back(absl::StrCat(
          node.op_type(), domain, " (node ",
          node.name().empty() && node.output_size() > 0 ? node.output(0)
                                                        : node.name(),
          ")"));
    }
    if (faults.empty()) return absl::OkStatus();
    return absl::UnimplementedError(
        absl::StrCat("found ", faults.size(), " nodes whose op is not ",
                     "supported:\n  ", Joined(faults)));
  }

  static std::string Joined(const std::vector<std::string>& lines) {
    const size_t shown = std::min(lines.size(), kMaxFaults);
    std::string text =
        absl::StrJoin(lines.begin(), lines.begin() + shown, "\n  ");
    if (shown < lines.size()) {
      absl::StrAppend(&text, "\n  and ", lines.size() - shown, " more");
    }
    return text;
  }

  absl::Status AddInitializers() {
    if (proto_.sparse_initializer_size() > 0) {
      return absl::UnimplementedError(
          "found sparse initializers; expected dense ones");
    }
    for (const onnx::TensorProto& tensor : proto_.initializer()) {
      PARTITA_ASSIGN_OR_RETURN(
          const LiteralId literal,
          AddProtoLiteral(tensor, folder_, module_.literals()));
      PARTITA_RETURN_IF_ERROR(
          Define(tensor.name(), graph_.AddConstant(literal, tensor.name())));
    }
    return absl::OkStatus();
  }

  absl::Status Define(const std::string& name, ValueId value) {
    if (!name.empty() && values_.emplace(name, value).second) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("value ", name.empty() ? "(unnamed)" : name,
                     ": found a second definition; expected one"));
  }

  absl::Status AddInputs() {
    std::vector<std::string> unbound;
    for (const onnx::ValueInfoProto& input : proto_.input()) {
      // Old models list their initializers as inputs too.
      if (values_.contains(input.name())) continue;
      PARTITA_ASSIGN_OR_RETURN(const TensorType type,
                               InputType(input, unbound));
      PARTITA_RETURN_IF_ERROR(AddInput(input.name(), type));
    }
    PARTITA_RETURN_IF_ERROR(CheckBindings());
    if (unbound.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "found symbolic dimensions without a value: ",
        absl::StrJoin(unbound, ", "),
        "; expected a number for each; bind them by --dim NAME=N or "
        "--shape INPUT=N,N,..."));
  }

  absl::Status AddInput(const std::string& name, const TensorType& type) {
    auto bound = options_.values.find(name);
    if (bound == options_.values.end()) {
      return Define(name, graph_.AddInput(name, type));
    }
    if (static_cast<int64_t>(bound->second.size()) != type.num_elements()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--bind ", name, ": found ", bound->second.size(),
          " values; expected ", type.num_elements(), " for ", type.ToString()));
    }
    HostTensor tensor(type);
    for (int64_t i = 0; i < type.num_elements(); ++i) {
      SetFromDouble(tensor, i, bound->second[i]);
    }
    return Define(name, graph_.AddConstant(
                            module_.literals().Add(std::move(tensor)), name));
  }

  absl::StatusOr<TensorType> InputType(
      const onnx::ValueInfoProto& input,
      std::vector<std::string>& unbound) const {
    const std::optional<DType> dtype =
        input.type().has_tensor_type()
            ? DTypeOfOnnx(input.type().tensor_type().elem_type())
            : std::nullopt;
    if (!dtype.has_value()) {
      return absl::UnimplementedError(
          absl::StrCat("input ", input.name(),
                       ": found a type that is no tensor of numbers; expected "
                       "one"));
    }
    const auto& shape = input.type().tensor_type().shape();
    TensorType type{*dtype, {}, {}};
    auto given = options_.shapes.find(input.name());
    if (given != options_.shapes.end()) {
      PARTITA_RETURN_IF_ERROR(CheckGivenShape(input, given->second));
      type.dims.assign(given->second.begin(), given->second.end());
    } else {
      for (int i = 0; i < shape.dim_size(); ++i) {
        type.dims.push_back(Extent(input.name(), i, shape.dim(i), unbound));
      }
    }
    if (absl::Status status = CheckType(type); !status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", input.name(), ": ", status.message()));
    }
    return type;
  }

  static absl::Status CheckGivenShape(const onnx::ValueInfoProto& input,
                                      const std::vector<int64_t>& given) {
    const auto& shape = input.type().tensor_type().shape();
    bool fits = shape.dim_size() == static_cast<int>(given.size());
    for (int i = 0; fits && i < shape.dim_size(); ++i) {
      const auto& dim = shape.dim(i);
      fits = !dim.has_dim_value() || dim.dim_value() <= 0 ||
             dim.dim_value() == given[i];
    }
    if (fits || !input.type().tensor_type().has_shape())
      return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "--shape ", input.name(), ": found [", absl::StrJoin(given, ", "),
        "]; expected [", ShapeText(shape), "]"));
  }

  static std::string ShapeText(const onnx::TensorShapeProto& shape) {
    std::vector<std::string> dims;
    for (const auto& dim : shape.dim()) {
      dims.push_back(dim.has_dim_param() && !dim.dim_param().empty()
                         ? dim.dim_param()
                     : dim.has_dim_value() ? absl::StrCat(dim.dim_value())
                                           : "?");
    }
    return absl::StrJoin(dims, ", ");
  }

  // A dimension without value or name goes by INPUT.POSITION. Some exporters
  // write -1 or 0 for one that is open.
  int64_t Extent(const std::string& input, int position,
                 const onnx::TensorShapeProto::Dimension& dim,
                 std::vector<std::string>& unbound) const {
    if (dim.has_dim_value() && dim.dim_value() > 0) return dim.dim_value();
    std::string name = dim.dim_param();
    if (name.empty()) name = absl::StrCat(input, ".", position);
    auto bound = options_.dims.find(name);
    if (bound != options_.dims.end()) return bound->second;
    if (dim.has_dim_value() && dim.dim_value() == 0) return 0;
    if (std::find(unbound.begin(), unbound.end(), name) == unbound.end()) {
      unbound.push_back(name);
    }
    return 1;
  }

  // A name in --shape or --bind that no input has is a slip of the pen.
  absl::Status CheckBindings() const {
    absl::flat_hash_set<std::string> inputs;
    for (const auto& input : proto_.input()) inputs.insert(input.name());
    const auto check = [&](const char* flag, const std::string& name) {
      if (inputs.contains(name)) return absl::OkStatus();
      return absl::InvalidArgumentError(
          absl::StrCat(flag, " ", name, ": found no such input; expected one ",
                       "of: ", absl::StrJoin(inputs, ", ")));
    };
    for (const auto& [name, _] : options_.shapes) {
      PARTITA_RETURN_IF_ERROR(check("--shape", name));
    }
    for (const auto& [name, _] : options_.values) {
      PARTITA_RETURN_IF_ERROR(check("--bind", name));
    }
    return absl::OkStatus();
  }

  // Nodes that read a value which a refused node would have given are skipped:
  // their own fault, if any, cannot be told.
  absl::Status AddNodes() {
    std::vector<std::string> faults;
    absl::StatusCode code = absl::StatusCode::kOk;
    absl::flat_hash_set<std::string> lost;
    for (const onnx::NodeProto& node : proto_.node()) {
      absl::Status status;
      if (!ReadsAny(node, lost)) {
        status = AddNode(node);
        if (status.ok()) continue;
        if (code == absl::StatusCode::kOk) code = status.code();
        faults.push_back(std::string(status.message()));
      }
      for (const std::string& output : node.output()) lost.insert(output);
    }
    if (faults.empty()) return absl::OkStatus();
    if (faults.size() == 1) return absl::Status(code, faults[0]);
    return absl::Status(
        code, absl::StrCat("found ", faults.size(), " faulty nodes:\n  ",
                           Joined(faults)));
  }

  static bool ReadsAny(const onnx::NodeProto& node,
                       const absl::flat_hash_set<std::string>& lost) {
    for (const std::string& input : node.input()) {
      if (lost.contains(input)) return true;
    }
    return false;
  }

  absl::Status AddNode(const onnx::NodeProto& proto) {
    NodeImport node(proto, opset_, graph_, known_, values_, folder_);
    for (const std::string& input : proto.input()) {
      if (input.empty() || values_.contains(input)) continue;
      return node.Invalid(
          absl::StrCat("input ", input, ", which no earlier ", "node gives"),
          "nodes in topological order without a cycle");
    }
    if (proto.output_size() == 0) return node.Invalid("no output", "one");
    const ConverterRow& row = *FindConverter(proto.op_type());
    PARTITA_RETURN_IF_ERROR(CheckOperands(node, row.required_inputs));
    if (row.outputs != kAnyNumber && proto.output_size() > row.outputs) {
      return node.Invalid(absl::StrCat(proto.output_size(), " outputs"),
                          absl::StrCat("at most ", row.outputs));
    }
    PARTITA_RETURN_IF_ERROR(row.convert(node));
    if (node.mistyped().has_value()) {
      return node.Invalid(
          absl::StrCat("attribute ", *node.mistyped(), " of another kind"),
          "the kind of value that the ONNX standard gives it");
    }
    if (std::optional<std::string> name = node.UnreadAttribute()) {
      return node.Unsupported(absl::StrCat("attribute ", *name),
                              "attributes that this importer knows");
    }
    return absl::OkStatus();
  }

  static absl::Status CheckOperands(const NodeImport& node, int required) {
    for (int i = 0; i < required; ++i) {
      if (node.has_input(i)) continue;
      return node.Invalid(absl::StrCat("no input ", i),
                          absl::StrCat("at least ", required));
    }
    return absl::OkStatus();
  }

  absl::Status SetOutputs() {
    std::vector<ValueId> outputs;
    std::vector<std::string> names;
    for (const onnx::ValueInfoProto& output : proto_.output()) {
      auto it = values_.find(output.name());
      if (it == values_.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("output ", output.name(),
                         ": found no node that gives it; expected one"));
      }
      outputs.push_back(it->second);
      names.push_back(output.name());
    }
    graph_.SetOutputs(std::move(outputs), std::move(names));
    return absl::OkStatus();
  }

  const onnx::GraphProto& proto_;
  int opset_;
  std::string folder_;
  const ImportOptions& options_;
  Module module_;
  Graph& graph_;
  KnownValues known_;
  absl::flat_hash_map<std::string, ValueId> values_;  // by ONNX name
};

absl::StatusOr<Module> Import(absl::string_view bytes, std::string folder,
                              const ImportOptions& options) {
  onnx::ModelProto model;
  PARTITA_RETURN_IF_ERROR(Parse(bytes, model));
  PARTITA_ASSIGN_OR_RETURN(const int opset, OpsetOf(model));
  return Importer(model, opset, std::move(folder), options).Run();
}

}  // namespace

absl::StatusOr<Module> ImportOnnx(const std::string& path,
                                  const ImportOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  const std::string folder =
      std::filesystem::absolute(path).parent_path().string();
  absl::StatusOr<Module> module = Import(
      absl::string_view(reinterpret_cast<const char*>(file->bytes().data()),
                        file->bytes().size()),
      folder, options);
  if (module.ok()) return module;
  return InSource(module.status(), path);
}

absl::StatusOr<std::vector<std::string>> OnnxInputNames(
    const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  onnx::ModelProto model;
  if (absl::Status status = Parse(
          absl::string_view(reinterpret_cast<const char*>(file->bytes().data()),
                            file->bytes().size()),
          model);
      !status.ok()) {
    return InSource(status, path);
  }
  absl::flat_hash_set<std::string> initializers;
  for (const auto& tensor : model.graph().initializer()) {
    initializers.insert(tensor.name());
  }
  std::vector<std::string> names;
  for (const auto& input : model.graph().input()) {
    if (!initializers.contains(input.name())) names.push_back(input.name());
  }
  return names;
}

absl::StatusOr<Module> ImportOnnxBytes(absl::string_view bytes,
                                       absl::string_view source,
                                       const ImportOptions& options) {
  absl::StatusOr<Module> module = Import(bytes, "", options);
  if (module.ok()) return module;
  return InSource(module.status(), source);
}

}  // namespace partita
