// Runs Debian's ONNX test data through all stages: import, passes, placement
// over two devices, kernels, lowering, proof, a run on virtual devices.
// SPDX-License-Identifier: Apache-2.0

#include <iostream>
#include <utility>

#include "absl/strings/match.h"
#include "graph/status_macros.h"
#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"
#include "tests/conformance/onnx_case.h"
#include "tests/end_to_end/virtual_steps.h"

namespace partita {
namespace {

constexpr char kRoot[] = "/usr/share/libonnx-testdata/data";

const Machine& TwoDevices() {
  static const Machine& machine = *new Machine(EqualCpus(2, 1 << 28));
  return machine;
}

// In two stages, or in one if there is only one node to place.
absl::StatusOr<Compiled> CompileStages(const Module& module) {
  CompileOptions options;
  options.strategy = "pipeline";
  options.planner.stages = 2;
  absl::StatusOr<Compiled> compiled =
      Compile(module.Clone(), TwoDevices(), options);
  if (compiled.ok() ||
      !absl::StartsWith(compiled.status().message(), "stages: found 2;")) {
    return compiled;
  }
  options.planner.stages = 1;
  return Compile(module.Clone(), TwoDevices(), options);
}

absl::Status RunCase(const LoadedCase& loaded, bool stages, int& spanning) {
  PARTITA_ASSIGN_OR_RETURN(Compiled compiled,
                           stages ? CompileStages(loaded.module)
                                  : Compile(loaded.module.Clone(), TwoDevices(),
                                            {.strategy = "list"}));
  spanning += compiled.report.entries[0].copies > 0;
  PARTITA_ASSIGN_OR_RETURN(
      const VirtualRun run,
      RunVirtually(std::move(compiled.plan), loaded.inputs));
  PARTITA_RETURN_IF_ERROR(SameBits(run.outputs, run.reference));
  return Close(run.outputs, loaded.outputs, 1e-3, 1e-5);
}

// The importer names the op, by its node, or the unknown type or opset.
bool NamesWhatIsMissing(const absl::Status& refusal) {
  if (refusal.code() != absl::StatusCode::kUnimplemented) return false;
  for (const char* name :
       {"(node ", "(giving ", "element type", "no tensor of numbers",
        "found opset ", "sparse initializers"}) {
    if (absl::StrContains(refusal.message(), name)) return true;
  }
  return false;
}

TEST(ChainConformance, EveryCaseAgreesOrIsRefusedByName) {
  const std::vector<OnnxCase> cases = FindOnnxCases(kRoot);
  ASSERT_GT(cases.size(), 1000u) << "install libonnx-testdata";
  int passed = 0;
  int failed = 0;
  int refused = 0;
  int left_out = 0;
  int spanning = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (KnownBadData(cases[i].name) != nullptr) {
      ++left_out;
      continue;
    }
    absl::StatusOr<LoadedCase> loaded = LoadOnnxCase(cases[i]);
    if (!loaded.ok()) {
      ++refused;
      EXPECT_TRUE(NamesWhatIsMissing(loaded.status()))
          << cases[i].name << ": " << loaded.status();
      continue;
    }
    const absl::Status status = RunCase(*loaded, i % 2 == 1, spanning);
    ++(status.ok() ? passed : failed);
    if (!status.ok()) ADD_FAILURE() << cases[i].name << ": " << status;
  }
  std::cout << "chain: " << passed << " pass, " << failed << " fail, "
            << refused << " refused of " << cases.size() << " (" << left_out
            << " left out: their data contradict the standard; " << spanning
            << " plans copy between devices)\n";
  EXPECT_EQ(failed, 0);
  EXPECT_GE(spanning, 50);
  EXPECT_GE(passed, 829);  // the number that passes; it must not shrink
}

}  // namespace
}  // namespace partita
