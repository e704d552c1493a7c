// Imports Debian's ONNX test data and evaluates it: compares importer and ops
// with results computed elsewhere.
// SPDX-License-Identifier: Apache-2.0

#include <iostream>

#include "graph/evaluate.h"
#include "gtest/gtest.h"
#include "tests/conformance/onnx_case.h"
#include "tools/partita/compare.h"

namespace partita {
namespace {

constexpr char kRoot[] = "/usr/share/libonnx-testdata/data";

TEST(ImportConformance, EveryCaseAgreesOrIsRefusedByName) {
  int passed = 0;
  int refused = 0;
  const std::vector<OnnxCase> cases = FindOnnxCases(kRoot);
  ASSERT_GT(cases.size(), 1000u) << "install libonnx-testdata";
  for (const OnnxCase& c : cases) {
    SCOPED_TRACE(c.name);
    if (const char* why = KnownBadData(c.name)) {
      std::cout << "left out: " << c.name << ": " << why << "\n";
      continue;
    }
    absl::StatusOr<LoadedCase> loaded = LoadOnnxCase(c);
    if (!loaded.ok()) {
      ++refused;
      EXPECT_EQ(loaded.status().code(), absl::StatusCode::kUnimplemented)
          << loaded.status();
      continue;
    }
    absl::StatusOr<std::vector<HostTensor>> outputs =
        Evaluate(loaded->module.main(), loaded->inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    if (!outputs.ok()) continue;
    bool agrees = outputs->size() == loaded->outputs.size();
    for (size_t i = 0; agrees && i < outputs->size(); ++i) {
      const Difference difference =
          Compare((*outputs)[i], loaded->outputs[i], 1e-3, 1e-5);
      agrees = difference.within;
      EXPECT_TRUE(agrees) << "output " << i << ": " << difference.problem
                          << " absolute " << difference.absolute << " relative "
                          << difference.relative;
    }
    passed += agrees;
  }
  std::cout << "eval: " << passed << " of " << cases.size() << " cases pass, "
            << refused << " are refused\n";
  EXPECT_GE(passed, 829);  // the number that passes; it must not shrink
}

}  // namespace
}  // namespace partita
