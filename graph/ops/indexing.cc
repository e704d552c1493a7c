// Checks of index operands.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/indexing.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/op_error.h"
#include "graph/ops/op_checks.h"

namespace partita {
namespace {

struct Name {
  const char* text;
  ScatterReduction reduction;
};
constexpr Name kNames[] = {{"none", ScatterReduction::kReplace},
                           {"add", ScatterReduction::kAdd},
                           {"mul", ScatterReduction::kMul},
                           {"min", ScatterReduction::kMin},
                           {"max", ScatterReduction::kMax}};

const Name* FindReduction(const OpView& op) {
  for (const Name& name : kNames) {
    if (op.attr_string("reduction") == name.text) return &name;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> ReadIndices(
    const OpView& op, const HostTensor& indices,
    absl::Span<const int64_t> extents, NegativeIndex negative) {
  std::vector<int64_t> positions = ToInt64s(indices);
  if (extents.empty()) return positions;
  size_t column = 0;
  for (int64_t& position : positions) {
    const int64_t extent = extents[column];
    if (++column == extents.size()) column = 0;
    const int64_t least = negative == NegativeIndex::kFromEnd ? -extent : 0;
    if (position < least || position >= extent) {
      return BadOp(op, absl::StrCat("index ", position),
                   absl::StrCat(least, "..", extent - 1),
                   "correct the indices");
    }
    if (position < 0) position += extent;
  }
  return positions;
}

absl::Status InferUpdates(const OpView& op, absl::Span<const int64_t> updates,
                          Types& results) {
  if (FindReduction(op) == nullptr) {
    return BadOp(
        op, absl::StrCat("reduction \"", op.attr_string("reduction"), "\""),
        "\"none\", \"add\", \"mul\", \"min\" or \"max\"", "name one of them");
  }
  PARTITA_RETURN_IF_ERROR(ExpectDims(op, 2, updates));
  if (op.operand_type(2).dtype != op.operand_type(0).dtype) {
    return BadOp(op, Describe(op, 2),
                 absl::StrCat("the type of ", Describe(op, 0)),
                 "cast the updates");
  }
  return results.Set(0, op.operand_type(0).RowMajor());
}

void CopyBytes(const HostTensor& from, HostTensor& to) {
  const absl::Span<const std::byte> bytes = from.byte_span();
  std::copy(bytes.begin(), bytes.end(), to.bytes());
}

ScatterReduction ScatterReductionOf(const OpView& op) {
  return FindReduction(op)->reduction;
}

}  // namespace partita
