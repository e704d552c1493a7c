// Fuzz target: any bytes are safe to read as a .npz file, and every array in it
// has the bytes of its type.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/tensor_file/npz.h"
#include "tests/fuzz/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto file = NpzFile::Open(BorrowedBytes(text, "input"));
  if (!file.ok()) return 0;
  for (const std::string& name : file->names()) {
    const absl::StatusOr<FileTensor> tensor = file->Array(name);
    if (!tensor.ok()) continue;
    ExpectFuzz(static_cast<int64_t>(tensor->elements.bytes.size()) ==
                   tensor->type.num_bytes(),
               "an array of another size", name);
    tensor->Copy();
  }
  return 0;
}
