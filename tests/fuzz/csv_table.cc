// Fuzz target: any bytes are safe to read as a table, and every sample of an
// accepted table can be copied and has finite numbers.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/host_tensor.h"
#include "runtime/dataset/csv.h"
#include "tests/fuzz/expect.h"

namespace partita {
namespace {

void ReadAll(const Dataset& dataset) {
  std::vector<HostTensor> fields;
  std::vector<std::byte*> to;
  for (const DatasetField& field : dataset.fields()) {
    to.push_back(fields.emplace_back(field.type).bytes());
  }
  for (int64_t i = 0; i < dataset.num_samples(); ++i) {
    ExpectFuzz(dataset.CopySample(i, to).ok(), "a sample cannot be copied");
    for (float x : fields[0].data<float>()) {
      ExpectFuzz(std::isfinite(x), "a number that is not finite");
    }
  }
}

}  // namespace
}  // namespace partita

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  const FileBytes file = BorrowedBytes(text, "input");
  for (const CsvOptions& options :
       {CsvOptions{}, CsvOptions{.label = "y"},
        CsvOptions{.header = std::nullopt},
        CsvOptions{.label = "y", .label_words = true},
        CsvOptions{.header = std::nullopt,
        .label = "1",
        .label_words = true,
        .known_words = {"a", "b"}},
        CsvOptions{.header = false, .delimiter = ';', .label = "1"}}) {
    const absl::StatusOr<SharedDataset> dataset = ParseCsv(file, options);
    if (dataset.ok()) ReadAll(**dataset);
  }
  return 0;
}
