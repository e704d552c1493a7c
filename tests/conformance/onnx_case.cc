// Finding and loading the cases of the ONNX test data.
// SPDX-License-Identifier: Apache-2.0

#include "tests/conformance/onnx_case.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/import.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/status_macros.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<std::vector<HostTensor>> ReadSet(const std::string& folder,
                                                const char* what) {
  std::vector<HostTensor> tensors;
  for (int i = 0;; ++i) {
    const std::string path =
        absl::StrCat(folder, "/test_data_set_0/", what, "_", i, ".pb");
    if (!fs::exists(path)) return tensors;
    PARTITA_ASSIGN_OR_RETURN(HostTensor tensor, ReadTensorFile(path));
    tensors.push_back(std::move(tensor));
  }
}

// A file that is no model has none; the importer says so.
std::vector<std::string> InputNames(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  onnx::ModelProto model;
  model.ParseFromIstream(&file);
  std::set<std::string> initializers;
  for (const auto& tensor : model.graph().initializer()) {
    initializers.insert(tensor.name());
  }
  std::vector<std::string> names;
  for (const auto& input : model.graph().input()) {
    if (!initializers.contains(input.name())) names.push_back(input.name());
  }
  return names;
}

// The model's inputs that are not initializers, in order, as the data set
// counts them; a first import fails only to learn what must be bound, so it
// asks the importer with shapes alone.
absl::StatusOr<Module> ImportFor(const std::string& model,
                                 const std::vector<HostTensor>& inputs,
                                 std::vector<bool>& bound) {
  const std::vector<std::string> names = InputNames(model);
  ImportOptions options;
  for (size_t i = 0; i < names.size() && i < inputs.size(); ++i) {
    const Shape& dims = inputs[i].type().dims;
    options.shapes[names[i]] = {dims.begin(), dims.end()};
  }
  bound.assign(inputs.size(), false);
  absl::StatusOr<Module> module = ImportOnnx(model, options);
  if (MendingOption(module.status()) != ImportOption::kValues) return module;
  // Some input's value decides a shape: bind those of integers.
  for (size_t i = 0; i < names.size() && i < inputs.size(); ++i) {
    const bool is_shape = !IsFloat(inputs[i].type().dtype) ||
                          inputs[i].type().num_elements() <= 8;
    if (i == 0 || !is_shape || inputs[i].type().num_elements() > 64) continue;
    std::vector<Number>& values = options.values[names[i]];
    for (int64_t e = 0; e < inputs[i].type().num_elements(); ++e) {
      values.push_back(GetNumber(inputs[i], e));
    }
    bound[i] = true;
  }
  absl::StatusOr<Module> again = ImportOnnx(model, options);
  if (again.ok() || inputs.size() != 1) return again;
  return module.status();
}

// The test data store bf16 as the u16 of its bits.
HostTensor AsDeclared(HostTensor tensor, const TensorType& declared) {
  if (tensor.type().dtype != DType::kU16 || declared.dtype != DType::kBF16) {
    return tensor;
  }
  HostTensor bits(TensorType{DType::kBF16, tensor.type().dims, {}});
  std::memcpy(bits.bytes(), tensor.bytes(), tensor.byte_span().size());
  return bits;
}

}  // namespace

const char* KnownBadData(absl::string_view case_name) {
  struct Row {
    absl::string_view name;
    const char* why;
  };
  static constexpr char kShape[] =
      "input `like` has shape [1], the model says [3, 4]";
  // As ONNX Runtime and PyTorch have it: see docs/numerics.md.
  static constexpr char kCorners[] =
      "the data align the last element with a fraction of the extent";
  static constexpr char kDrawn[] = "the data are NumPy's random numbers";
  static constexpr Row kRows[] = {
      {"node/test_cast_FLOAT_to_BFLOAT16", "the data truncate, not round"},
      {"node/test_castlike_BFLOAT16_to_FLOAT", kShape},
      {"node/test_castlike_BFLOAT16_to_FLOAT_expanded", kShape},
      {"node/test_castlike_FLOAT_to_BFLOAT16", kShape},
      {"node/test_castlike_FLOAT_to_BFLOAT16_expanded", kShape},
      {"node/test_resize_downsample_scales_cubic_align_corners", kCorners},
      {"node/test_resize_downsample_scales_linear_align_corners", kCorners},
      {"node/test_training_dropout", kDrawn},
      {"node/test_training_dropout_default", kDrawn},
      {"node/test_training_dropout_default_mask", kDrawn},
      {"node/test_training_dropout_mask", kDrawn},
  };
  for (const Row& row : kRows) {
    if (row.name == case_name) return row.why;
  }
  return nullptr;
}

std::vector<OnnxCase> FindOnnxCases(const std::string& root) {
  std::vector<OnnxCase> cases;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(root, error)) {
    if (entry.path().filename() != "model.onnx") continue;
    const fs::path folder = entry.path().parent_path();
    cases.push_back({fs::relative(folder, root).string(), folder.string()});
  }
  std::sort(
      cases.begin(), cases.end(),
      [](const OnnxCase& a, const OnnxCase& b) { return a.name < b.name; });
  return cases;
}

absl::StatusOr<LoadedCase> LoadOnnxCase(const OnnxCase& c) {
  const std::string model = c.folder + "/model.onnx";
  absl::StatusOr<std::vector<HostTensor>> inputs = ReadSet(c.folder, "input");
  absl::StatusOr<std::vector<HostTensor>> outputs = ReadSet(c.folder, "output");
  if (!inputs.ok() || !outputs.ok()) {
    // Data that are no tensors go with a model that takes none; it says so.
    const absl::Status refusal = ImportOnnx(model, {}).status();
    if (!refusal.ok()) return refusal;
    return inputs.ok() ? outputs.status() : inputs.status();
  }
  std::vector<bool> bound;
  PARTITA_ASSIGN_OR_RETURN(Module module, ImportFor(model, *inputs, bound));
  const Graph& graph = module.main();
  LoadedCase loaded;
  for (size_t i = 0; i < inputs->size(); ++i) {
    if (bound[i] || loaded.inputs.size() == graph.inputs().size()) continue;
    const ValueId id = graph.inputs()[loaded.inputs.size()];
    loaded.inputs.push_back(
        AsDeclared(std::move((*inputs)[i]), graph.type(id)));
  }
  for (size_t i = 0; i < outputs->size() && i < graph.outputs().size(); ++i) {
    loaded.outputs.push_back(
        AsDeclared(std::move((*outputs)[i]), graph.type(graph.outputs()[i])));
  }
  loaded.module = std::move(module);
  return loaded;
}

}  // namespace partita
