// ONNX's own checker.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_CONFORMANCE_ONNX_CHECKER_H_
#define PARTITA_TESTS_CONFORMANCE_ONNX_CHECKER_H_

#include <string>

namespace partita {

// The checker's complaint about a model file, including types and shapes of
// every value; "" if there is none.
std::string OnnxFault(const std::string& path);

}  // namespace partita

#endif  // PARTITA_TESTS_CONFORMANCE_ONNX_CHECKER_H_
