// Runs passes over the examples of golden files.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GOLDEN_GOLDEN_RUNNER_H_
#define PARTITA_TESTS_GOLDEN_GOLDEN_RUNNER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "passes/pipeline.h"
#include "tests/golden/golden_file.h"

namespace partita {

// The end of an example: the text of its module, or a message.
struct GoldenOutcome {
  bool failed = false;
  std::string text;    // printed, or the message and a line end
  std::string before;  // the input, printed
};

// Parses the input, runs the passes of `table` that `names` lists on each
// function, and verifies after each. Fails on a graph that does not print to
// text that parses to the same graph.
GoldenOutcome RunPasses(absl::string_view input,
                        absl::Span<const std::string> names,
                        absl::Span<const Pass> table);

// OK, or the expected and the actual result.
absl::Status CheckExample(const GoldenFile& file, const GoldenExample& example,
                          absl::Span<const Pass> table);

// Every example with its present ending; `same as` stays.
GoldenFile Updated(GoldenFile file, absl::Span<const Pass> table);

}  // namespace partita

#endif  // PARTITA_TESTS_GOLDEN_GOLDEN_RUNNER_H_
