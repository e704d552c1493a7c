// Fuzz target: any bytes are safe to read as an IDX file, plain or gzip, and an
// accepted one has the bytes of its type.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "absl/strings/string_view.h"
#include "runtime/dataset/idx.h"
#include "tests/fuzz/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  const absl::StatusOr<FileTensor> tensor =
      OpenIdx(BorrowedBytes(text, "input"));
  if (!tensor.ok()) return 0;
  ExpectFuzz(static_cast<int64_t>(tensor->elements.bytes.size()) ==
                 tensor->type.num_bytes(),
             "an array of another size", tensor->type.ToString());
  tensor->Copy();
  return 0;
}
