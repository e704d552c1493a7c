// Fuzz target: any bytes are safe to read as a safetensors file, and an
// accepted one writes to bytes that read as the same and write to the same.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/tensor_file/safetensors_file.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/tensor_file/safetensors_writer.h"
#include "tests/fuzz/expect.h"

namespace partita {
namespace {

std::string Written(const SafetensorsFile& file) {
  std::vector<NamedTensor> tensors;
  for (const SafetensorsFile::Entry& entry : file.entries()) {
    tensors.push_back(
        {entry.name, entry.tensor.type, entry.tensor.elements.bytes});
  }
  const auto layout = LayOutSafetensors(tensors, file.metadata());
  ExpectFuzz(layout.ok(), "what was read cannot be written",
             layout.status().ToString());
  std::string text = layout->head;
  for (int i : layout->order) {
    const absl::Span<const std::byte> bytes = tensors[i].bytes;
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return text;
}

void ExpectSameTensors(const SafetensorsFile& a, const SafetensorsFile& b) {
  ExpectFuzz(a.entries().size() == b.entries().size(), "other tensors");
  for (const SafetensorsFile::Entry& entry : a.entries()) {
    const FileTensor* other = b.Find(entry.name);
    ExpectFuzz(other != nullptr && other->type == entry.tensor.type &&
                   other->elements.bytes == entry.tensor.elements.bytes,
               "another tensor", entry.name);
    entry.tensor.Copy();
  }
  ExpectFuzz(a.metadata() == b.metadata(), "other metadata");
}

}  // namespace
}  // namespace partita

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto file = SafetensorsFile::Parse(BorrowedBytes(text, "input"));
  if (!file.ok()) return 0;
  const std::string written = Written(*file);
  const auto again = SafetensorsFile::Parse(BorrowedBytes(written, "written"));
  ExpectFuzz(again.ok(), "what was written cannot be read",
             again.status().ToString());
  ExpectSameTensors(*file, *again);
  ExpectFuzz(Written(*again) == written, "writing again differs");
  return 0;
}
