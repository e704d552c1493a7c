// A small ONNX model for a test, written in a few lines.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_TESTING_SKETCHED_MODEL_H_
#define PARTITA_GRAPH_ONNX_TESTING_SKETCHED_MODEL_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/host_tensor.h"
#include "graph/onnx/import.h"
#include "onnx/onnx_pb.h"

namespace partita {

class SketchedModel {
 public:
  explicit SketchedModel(int opset);
  explicit SketchedModel(onnx::ModelProto model) : model_(std::move(model)) {}

  // Types are onnx::TensorProto::DataType.
  SketchedModel& Input(const std::string& name, int type,
                       const std::vector<int64_t>& dims);
  // The declared type of a value between nodes.
  SketchedModel& Value(const std::string& name, int type,
                       const std::vector<int64_t>& dims);
  SketchedModel& Output(const std::string& name);
  SketchedModel& Output(const std::string& name, int type,
                        const std::vector<int64_t>& dims);
  SketchedModel& Constant(const std::string& name, int type,
                          const HostTensor& tensor);
  // A constant of 64-bit integers, one dimension unless it is a scalar.
  SketchedModel& Ints(const std::string& name,
                      const std::vector<int64_t>& values, bool scalar = false);
  // The next calls of Attr are for this node, which is named "n".
  SketchedModel& Node(const std::string& op,
                      const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs);
  SketchedModel& Attr(const std::string& name, int64_t value);
  SketchedModel& Attr(const std::string& name, float value);
  SketchedModel& Attr(const std::string& name, const HostTensor& tensor,
                      int type);
  SketchedModel& Attr(const std::string& name,
                      const std::vector<int64_t>& values);
  SketchedModel& Attr(const std::string& name,
                      const std::vector<float>& values);
  SketchedModel& Attr(const std::string& name,
                      const std::vector<std::string>& words);
  SketchedModel& Attr(const std::string& name, const std::string& word);

  absl::StatusOr<Module> Import(const ImportOptions& options = {}) const;
  // The outputs of the imported model as text, "i64[2] 1 2", or the error
  // without the file's name.
  std::string Run(const std::vector<HostTensor>& inputs = {},
                  const ImportOptions& options = {}) const;

 private:
  onnx::AttributeProto& NewAttr(const std::string& name, int type);
  onnx::ModelProto model_;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_TESTING_SKETCHED_MODEL_H_
