// The table of first opsets, by name.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/opsets.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

struct Row {
  absl::string_view op_type;
  int since;
};

constexpr Row kRows[] = {
#include "graph/onnx/since_versions.inc"
};

}  // namespace

absl::Status CheckOpset(int64_t version) {
  if (version >= kOldestOpset && version <= kNewestOpset) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      absl::StrCat("found opset ", version, "; expected ", kOldestOpset, "..",
                   kNewestOpset, "; convert the model"));
}

int SinceOpset(absl::string_view op_type) {
  const Row* row = std::lower_bound(
      std::begin(kRows), std::end(kRows), op_type,
      [](const Row& r, absl::string_view name) { return r.op_type < name; });
  return row != std::end(kRows) && row->op_type == op_type ? row->since : 0;
}

}  // namespace partita
