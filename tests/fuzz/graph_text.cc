// Fuzz target: any bytes are safe to parse as a graph, and an accepted graph
// prints to a text that parses to the same.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "tests/fuzz/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  const absl::StatusOr<Module> module =
      ParseModule(text, "input", OpSet::BuiltIn());
  if (!module.ok()) return 0;
  const std::string printed = PrintModule(*module);
  const absl::StatusOr<Module> again =
      ParseModule(printed, "printed", OpSet::BuiltIn());
  ExpectFuzz(again.ok(), "what was printed cannot be read",
             absl::StrCat(again.status().message(), "\n", printed));
  ExpectFuzz(PrintModule(*again) == printed, "printing again differs",
             absl::StrCat(printed, "\n", PrintModule(*again)));
  return 0;
}
