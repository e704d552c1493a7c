// ONNX's own judgement of a model.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_CONFORMANCE_ONNX_CHECKER_H_
#define PARTITA_TESTS_CONFORMANCE_ONNX_CHECKER_H_

#include <string>

namespace partita {

// What the checker of Debian's ONNX library finds wrong with a model file,
// types and shapes of every value included; empty: nothing.
std::string OnnxFault(const std::string& path);

}  // namespace partita

#endif  // PARTITA_TESTS_CONFORMANCE_ONNX_CHECKER_H_
