// Imports again until no refused node needs the value of an input that the data
// have.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/tested_model.h"

#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/onnx/declared_type.h"
#include "graph/onnx/graph_import.h"
#include "graph/onnx/graph_inputs.h"
#include "graph/onnx/import.h"
#include "graph/onnx/model_file.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

std::vector<Number> NumbersOf(const HostTensor& tensor) {
  std::vector<Number> numbers;
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    numbers.push_back(GetNumber(tensor, i));
  }
  return numbers;
}

// True if the element type is the declared one, and the extents are if all of
// them are declared. Others are compared once the open ones are known.
bool IsDataOf(const onnx::ValueInfoProto& input, const HostTensor& tensor) {
  const std::optional<DType> dtype =
      DTypeOfOnnx(input.type().tensor_type().elem_type());
  if (!dtype.has_value()) return true;  // the import refuses the input
  const TensorType declared{*dtype, tensor.type().dims, {}};
  const bool is_stored_so =
      tensor.type().dtype == *dtype ||
      (tensor.type().dtype == DType::kU16 && *dtype == DType::kBF16);
  return is_stored_so && (HasOpenShape(input) || IsDeclaredAs(input, declared));
}

absl::StatusOr<std::map<std::string, HostTensor>> ReadInputs(
    const std::vector<const onnx::ValueInfoProto*>& inputs,
    const ImportOptions& options, const std::string& folder) {
  PARTITA_RETURN_IF_ERROR(
      ExpectNoMoreTestData(folder, "input", static_cast<int>(inputs.size())));
  std::map<std::string, HostTensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (options.values.contains(inputs[i]->name())) continue;
    const std::string path = TestDataPath(folder, "input", static_cast<int>(i));
    PARTITA_ASSIGN_OR_RETURN(HostTensor tensor, ReadTensorFile(path));
    if (!IsDataOf(*inputs[i], tensor)) {
      return GivenWrongly(
          ImportOption::kInputs, inputs[i]->name(),
          absl::StrCat(path, ": found ",
                       FoundAndDeclared(tensor.type(), *inputs[i]),
                       "; convert it, or take the folder of its test data"));
    }
    tensors.insert_or_assign(inputs[i]->name(), std::move(tensor));
  }
  return tensors;
}

void AddShapes(const std::vector<const onnx::ValueInfoProto*>& inputs,
               const std::map<std::string, HostTensor>& tensors,
               ImportOptions& options) {
  for (const onnx::ValueInfoProto* input : inputs) {
    const auto it = tensors.find(input->name());
    if (it == tensors.end() || !HasOpenShape(*input)) continue;
    const Shape& dims = it->second.type().dims;
    options.shapes.try_emplace(input->name(), dims.begin(), dims.end());
  }
}

// False if the data add no binding.
absl::StatusOr<bool> BindDeciding(
    const absl::Status& refusal,
    const std::vector<const onnx::ValueInfoProto*>& inputs,
    const std::map<std::string, HostTensor>& tensors, ImportOptions& options) {
  const std::vector<std::string> deciding = DecidingInputs(refusal);
  bool more = false;
  for (const onnx::ValueInfoProto* input : inputs) {
    const std::string& name = input->name();
    const auto it = tensors.find(name);
    if (it == tensors.end() || options.values.contains(name) ||
        !absl::c_linear_search(deciding, name)) {
      continue;
    }
    // A file of any size may be given.
    if (!IsDeclaredAs(*input, it->second.type())) {
      return GivenWrongly(
          ImportOption::kInputs, name,
          absl::StrCat("input ", name, ": found ",
                       FoundAndDeclared(it->second.type(), *input)));
    }
    options.values.emplace(name, NumbersOf(it->second));
    more = true;
  }
  return more;
}

absl::Status CheckNames(const std::vector<const onnx::ValueInfoProto*>& inputs,
                        const std::map<std::string, HostTensor>& tensors) {
  std::vector<std::string> known;
  for (const onnx::ValueInfoProto* input : inputs) {
    known.push_back(input->name());
  }
  for (const auto& [name, _] : tensors) {
    if (absl::c_linear_search(known, name)) continue;
    return GivenWrongly(
        ImportOption::kInputs, name,
        absl::StrCat("input ", name, ": found no such input; expected ",
                     known.empty() ? "none, as the model has none"
                                   : absl::StrCat("one of: ",
                                                  absl::StrJoin(known, ", "))));
  }
  return absl::OkStatus();
}

absl::StatusOr<TestedModel> ImportDecided(
    const ModelFile& model,
    const std::vector<const onnx::ValueInfoProto*>& inputs,
    std::map<std::string, HostTensor> tensors, ImportOptions options) {
  for (;;) {
    absl::StatusOr<Module> module = ImportGraph(model, options);
    if (!module.ok()) {
      PARTITA_ASSIGN_OR_RETURN(
          const bool more,
          BindDeciding(module.status(), inputs, tensors, options));
      if (more) continue;
      return module.status();
    }
    TestedModel tested{*std::move(module), {}};
    const Graph& graph = tested.module.main();
    for (ValueId input : graph.inputs()) {
      const auto it = tensors.find(graph.value(input).name);
      if (it == tensors.end()) continue;
      tested.inputs.insert_or_assign(
          it->first, AsDeclared(std::move(it->second), graph.type(input)));
    }
    return tested;
  }
}

absl::StatusOr<TestedModel> ImportWith(
    const std::string& path, const ModelFile& model,
    std::map<std::string, HostTensor> tensors, ImportOptions options) {
  const auto inputs = InputsOf(model.proto.graph());
  const absl::Status names = CheckNames(inputs, tensors);
  if (!names.ok()) return AtFile(path, names);
  AddShapes(inputs, tensors, options);
  absl::StatusOr<TestedModel> tested =
      ImportDecided(model, inputs, std::move(tensors), std::move(options));
  if (!tested.ok()) return AtFile(path, tested.status());
  return tested;
}

}  // namespace

std::string TestDataPath(const std::string& folder, const char* kind,
                         int index) {
  return absl::StrCat(folder, "/", kind, "_", index, ".pb");
}

absl::Status ExpectNoMoreTestData(const std::string& folder, const char* kind,
                                  int count) {
  const std::string path = TestDataPath(folder, kind, count);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": found a file after the model's ", count, " ", kind,
                   count == 1 ? "" : "s",
                   "; expected none; take the folder of its test data"));
}

HostTensor AsDeclared(HostTensor tensor, const TensorType& declared) {
  if (tensor.type().dtype != DType::kU16 || declared.dtype != DType::kBF16) {
    return tensor;
  }
  HostTensor bits(TensorType{DType::kBF16, tensor.type().dims, {}});
  const size_t size = tensor.byte_span().size();
  if (size > 0) std::memcpy(bits.bytes(), tensor.bytes(), size);
  return bits;
}

absl::StatusOr<TestedModel> ImportForInputs(
    const std::string& path, ImportOptions options,
    std::map<std::string, HostTensor> inputs) {
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<ModelFile> model,
                           OpenModel(path));
  return ImportWith(path, *model, std::move(inputs), std::move(options));
}

absl::StatusOr<TestedModel> ImportForTestData(const std::string& path,
                                              ImportOptions options,
                                              const std::string& folder) {
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<ModelFile> model,
                           OpenModel(path));
  absl::StatusOr<std::map<std::string, HostTensor>> tensors =
      ReadInputs(InputsOf(model->proto.graph()), options, folder);
  if (!tensors.ok()) {
    // Data that are not tensors belong to a model without tensor inputs, whose
    // error is better.
    const absl::Status refusal = ImportGraph(*model, options).status();
    const bool is_models_fault = absl::IsUnimplemented(refusal);
    return is_models_fault ? AtFile(path, refusal) : tensors.status();
  }
  return ImportWith(path, *model, *std::move(tensors), std::move(options));
}

}  // namespace partita
