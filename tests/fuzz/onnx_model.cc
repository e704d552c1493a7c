// Fuzz target: any bytes are safe to import as an ONNX model, and what was
// imported is a valid module.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "absl/strings/string_view.h"
#include "graph/onnx/import.h"
#include "graph/verifier.h"
#include "tests/fuzz/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  const absl::StatusOr<Module> module = ImportOnnxBytes(text, "input", {});
  if (!module.ok()) return 0;
  const absl::Status status = VerifyModule(*module);
  ExpectFuzz(status.ok(), "an imported module is not valid", status.ToString());
  return 0;
}
