// Calls the library, which throws its findings.
// SPDX-License-Identifier: Apache-2.0

#include "tests/conformance/onnx_checker.h"

#include <exception>
#include <fstream>

#include "onnx/checker.h"
#include "onnx/shape_inference/implementation.h"

namespace partita {

std::string OnnxFault(const std::string& path) {
  onnx::ModelProto model;
  std::ifstream file(path, std::ios::binary);
  if (!model.ParseFromIstream(&file)) return "no serialised model";
  try {
    onnx::checker::check_model(model);
    const onnx::ShapeInferenceOptions strict(/*check_type_val=*/true,
                                             /*strict_mode_val=*/1,
                                             /*data_prop_val=*/true);
    onnx::shape_inference::InferShapes(
        model, onnx::OpSchemaRegistry::Instance(), strict);
  } catch (const std::exception& fault) {
    return fault.what();
  }
  return "";
}

}  // namespace partita
