// Fuzz target: any bytes are safe to read as a machine file, and an accepted
// one prints to a text that reads as the same.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "placement/machine/machine.h"
#include "tests/fuzz/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  const absl::StatusOr<Machine> machine = ParseMachine(text, "input");
  if (!machine.ok()) return 0;
  const std::string printed = MachineToJson(*machine);
  const absl::StatusOr<Machine> again = ParseMachine(printed, "printed");
  ExpectFuzz(again.ok(), "what was printed cannot be read",
             absl::StrCat(again.status().message(), "\n", printed));
  ExpectFuzz(MachineToJson(*again) == printed, "printing again differs",
             absl::StrCat(printed, "\n", MachineToJson(*again)));
  return 0;
}
