// Fuzz target: any bytes are safe to parse as a plan, and an accepted plan
// prints to a text that parses to the same.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/plan_text.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/ops/op_set.h"
#include "tests/fuzz/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  const absl::StatusOr<Plan> plan = ParsePlan(text, "input", OpSet::BuiltIn());
  if (!plan.ok()) return 0;
  const std::string printed = PrintPlan(*plan);
  const absl::StatusOr<Plan> again =
      ParsePlan(printed, "printed", OpSet::BuiltIn());
  ExpectFuzz(again.ok(), "what was printed cannot be read",
             absl::StrCat(again.status().message(), "\n", printed));
  ExpectFuzz(PrintPlan(*again) == printed, "printing again differs",
             absl::StrCat(printed, "\n", PrintPlan(*again)));
  for (const Entry& entry : plan->entries) Expand(entry).status().IgnoreError();
  return 0;
}
