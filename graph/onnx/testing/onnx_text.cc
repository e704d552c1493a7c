// Uses the parser of Debian's ONNX library.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/testing/onnx_text.h"

#include <cstdlib>
#include <iostream>

#include "onnx/defs/parser.h"

namespace partita {

onnx::ModelProto ModelOfText(const std::string& text) {
  onnx::ModelProto model;
  onnx::OnnxParser parser(text.c_str());
  const auto status = parser.Parse(model);
  if (status.IsOK()) return model;
  std::cerr << status.ErrorMessage() << "\n" << text;
  std::abort();
}

}  // namespace partita
