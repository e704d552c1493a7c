// Compares the results of passes with golden files.
// SPDX-License-Identifier: Apache-2.0

#include "tests/golden/golden_runner.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/fingerprint.h"
#include "graph/ops/op_set.h"
#include "graph/status_macros.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "graph/verifier.h"

namespace partita {
namespace {

using Ending = GoldenExample::Ending;

constexpr absl::string_view kSource = "example";

absl::Status RunPass(const std::string& name, absl::Span<const Pass> table,
                     const Module& module) {
  const auto pass = std::find_if(
      table.begin(), table.end(),
      [&](const Pass& candidate) { return name == candidate.name; });
  if (pass == table.end()) {
    return absl::NotFoundError(
        absl::StrCat("found no pass ", name, "; correct the line `// run:`"));
  }
  for (const auto& function : module.functions()) {
    PARTITA_RETURN_IF_ERROR(pass->run(*function));
  }
  return absl::OkStatus();
}

// The text parses to the same graph and prints the same.
absl::Status CheckRoundTrip(const Module& module) {
  const std::string text = PrintModule(module);
  PARTITA_ASSIGN_OR_RETURN(const Module again,
                           ParseModule(text, kSource, OpSet::BuiltIn()));
  if (PrintModule(again) != text) {
    return absl::InternalError(absl::StrCat(
        "bug: found text that prints otherwise when it is read back:\n", text,
        "and then:\n", PrintModule(again)));
  }
  if (FingerprintOf(again) != FingerprintOf(module)) {
    return absl::InternalError(absl::StrCat(
        "bug: found text that reads back as another graph:\n", text));
  }
  return absl::OkStatus();
}

absl::Status Run(absl::string_view input, absl::Span<const std::string> names,
                 absl::Span<const Pass> table, GoldenOutcome& outcome) {
  PARTITA_ASSIGN_OR_RETURN(const Module module,
                           ParseModule(input, kSource, OpSet::BuiltIn()));
  PARTITA_RETURN_IF_ERROR(VerifyModule(module));
  PARTITA_RETURN_IF_ERROR(CheckRoundTrip(module));
  outcome.before = PrintModule(module);
  for (const std::string& name : names) {
    PARTITA_RETURN_IF_ERROR(RunPass(name, table, module));
    PARTITA_RETURN_IF_ERROR(VerifyModule(module));
  }
  PARTITA_RETURN_IF_ERROR(CheckRoundTrip(module));
  outcome.text = PrintModule(module);
  return absl::OkStatus();
}

absl::Status Differs(absl::string_view expected, absl::string_view found) {
  return absl::FailedPreconditionError(
      absl::StrCat("--- expected\n", expected, "--- found\n", found));
}

absl::Status CheckSameAs(const GoldenFile& file, const GoldenExample& example,
                         absl::Span<const Pass> table,
                         const GoldenOutcome& outcome) {
  for (const GoldenExample& other : file.examples) {
    if (other.title != example.expected) continue;
    const GoldenOutcome theirs = RunPasses(other.input, file.passes, table);
    PARTITA_ASSIGN_OR_RETURN(
        const Module a, ParseModule(outcome.text, kSource, OpSet::BuiltIn()));
    PARTITA_ASSIGN_OR_RETURN(
        const Module b, ParseModule(theirs.text, kSource, OpSet::BuiltIn()));
    if (FingerprintOf(a) == FingerprintOf(b)) return absl::OkStatus();
    return Differs(theirs.text, outcome.text);
  }
  return absl::NotFoundError(absl::StrCat("found no example \"",
                                          example.expected,
                                          "\"; expected a title of this file"));
}

}  // namespace

GoldenOutcome RunPasses(absl::string_view input,
                        absl::Span<const std::string> names,
                        absl::Span<const Pass> table) {
  GoldenOutcome outcome;
  if (absl::Status status = Run(input, names, table, outcome); !status.ok()) {
    outcome.failed = true;
    outcome.text = absl::StrCat(status.message(), "\n");
  }
  return outcome;
}

absl::Status CheckExample(const GoldenFile& file, const GoldenExample& example,
                          absl::Span<const Pass> table) {
  const GoldenOutcome outcome = RunPasses(example.input, file.passes, table);
  const bool should_fail = example.ending == Ending::kFails;
  if (outcome.failed != should_fail) {
    return Differs(should_fail ? "a failure\n" : "success\n", outcome.text);
  }
  if (example.ending == Ending::kSameAs) {
    return CheckSameAs(file, example, table, outcome);
  }
  const std::string& expected =
      example.ending == Ending::kUnchanged ? outcome.before : example.expected;
  if (outcome.text == expected) return absl::OkStatus();
  return Differs(expected, outcome.text);
}

GoldenFile Updated(GoldenFile file, absl::Span<const Pass> table) {
  for (GoldenExample& example : file.examples) {
    if (example.ending == Ending::kSameAs) continue;
    const GoldenOutcome outcome = RunPasses(example.input, file.passes, table);
    example.ending = outcome.failed                   ? Ending::kFails
                     : outcome.text == outcome.before ? Ending::kUnchanged
                                                      : Ending::kBecomes;
    example.expected = outcome.text;
  }
  return file;
}

}  // namespace partita
