// Finds and loads the cases of the ONNX test data.
// SPDX-License-Identifier: Apache-2.0

#include "tests/conformance/onnx_case.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "graph/onnx/tensor_proto.h"
#include "graph/onnx/tested_model.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<std::vector<HostTensor>> ReadOutputs(const std::string& folder,
                                                    const Graph& graph) {
  std::vector<HostTensor> outputs;
  for (ValueId output : graph.outputs()) {
    const std::string path = TestDataPath(folder, "output", outputs.size());
    if (!fs::exists(path)) break;
    PARTITA_ASSIGN_OR_RETURN(HostTensor tensor, ReadTensorFile(path));
    outputs.push_back(AsDeclared(std::move(tensor), graph.type(output)));
  }
  return outputs;
}

}  // namespace

const char* KnownBadData(absl::string_view case_name) {
  struct Row {
    absl::string_view name;
    const char* why;
  };
  static constexpr char kShape[] =
      "input `like` has shape [1], the model says [3, 4]";
  // As in ONNX Runtime and PyTorch: see docs/internals/numerics.md.
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
  const std::string data = c.folder + "/test_data_set_0";
  PARTITA_ASSIGN_OR_RETURN(
      TestedModel tested,
      ImportForTestData(c.folder + "/model.onnx", {}, data));
  LoadedCase loaded;
  const Graph& graph = tested.module.main();
  for (ValueId input : graph.inputs()) {
    loaded.inputs.push_back(
        std::move(tested.inputs.at(graph.value(input).name)));
  }
  PARTITA_ASSIGN_OR_RETURN(loaded.outputs, ReadOutputs(data, graph));
  loaded.module = std::move(tested.module);
  return loaded;
}

}  // namespace partita
