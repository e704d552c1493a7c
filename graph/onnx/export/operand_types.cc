// The table of operand types, by name.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/export/operand_types.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace partita {
namespace {

struct Row {
  absl::string_view op_type;
  absl::string_view inputs;  // "f32 f64|i64": dtypes of each, or "any"
};

constexpr Row kRows[] = {
#include "graph/onnx/export/operand_types.inc"
};

constexpr absl::string_view kAny = "any";

// kAny for an op without inputs, or one that the standard does not have.
absl::string_view TakenBy(absl::string_view op_type, int input) {
  const Row* row = std::lower_bound(
      std::begin(kRows), std::end(kRows), op_type,
      [](const Row& r, absl::string_view name) { return r.op_type < name; });
  if (row == std::end(kRows) || row->op_type != op_type) return kAny;
  const std::vector<absl::string_view> inputs =
      absl::StrSplit(row->inputs, '|');
  return inputs[std::min<size_t>(input, inputs.size() - 1)];
}

std::vector<absl::string_view> Words(absl::string_view text) {
  return absl::StrSplit(text, ' ');
}

}  // namespace

bool OnnxTakes(absl::string_view op_type, int input, DType dtype) {
  const absl::string_view taken = TakenBy(op_type, input);
  return taken == kAny || absl::c_linear_search(Words(taken), DTypeName(dtype));
}

std::string TakenText(absl::string_view op_type, int input) {
  const std::vector<absl::string_view> words = Words(TakenBy(op_type, input));
  if (words.size() == 1) return std::string(words[0]);
  return absl::StrCat(absl::StrJoin(words.begin(), words.end() - 1, ", "),
                      " or ", words.back());
}

}  // namespace partita
