// Fuzz target: any bytes are safe to read as a profile, and an accepted one
// prints to a text that reads as the same.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "placement/machine/profile.h"
#include "tests/fuzz/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  const absl::StatusOr<Profile> profile = ParseProfile(text, "input");
  if (!profile.ok()) return 0;
  const std::string printed = ProfileToJson(*profile);
  const absl::StatusOr<Profile> again = ParseProfile(printed, "printed");
  ExpectFuzz(again.ok(), "what was printed cannot be read",
             absl::StrCat(again.status().message(), "\n", printed));
  ExpectFuzz(*again == *profile, "what was printed reads as another profile",
             printed);
  return 0;
}
