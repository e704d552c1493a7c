// Fuzz target: any bytes are safe to read as a .npy file, and an accepted one
// writes to a file that reads as the same.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/tensor_file/npy.h"
#include "tests/fuzz/expect.h"
#include "tools/partita/compare.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  const absl::StatusOr<HostTensor> tensor = ParseNpy(text, "input");
  if (!tensor.ok()) return 0;
  const absl::StatusOr<HostTensor> again =
      ParseNpy(NpyText(*tensor), "written");
  ExpectFuzz(again.ok(), "what was written cannot be read",
             again.status().ToString());
  ExpectFuzz(Compare(*again, *tensor, 0, 0).same_bits, "another tensor");
  return 0;
}
