// Fuzz target: any bytes are safe to read as a .pb tensor, and no tensor is
// larger than its bytes allow.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "absl/strings/string_view.h"
#include "graph/onnx/tensor_proto.h"
#include "tests/fuzz/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  constexpr int64_t kWidestElement = 8;
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  const absl::StatusOr<HostTensor> tensor = ParseTensorFile(text, "input");
  if (!tensor.ok()) return 0;
  // One byte of protobuf may encode up to eight in memory.
  ExpectFuzz(
      tensor->type().num_bytes() <= kWidestElement * static_cast<int64_t>(size),
      "more elements than bytes", tensor->type().ToString());
  return 0;
}
