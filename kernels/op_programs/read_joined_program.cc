// The table.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/op_programs/read_joined_program.h"

#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "kernels/op_programs/index_node.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {
namespace {

struct Row {
  const OpDef* op;
  absl::Status (*build)(IndexNode& node, int result);
};
constexpr Row kRows[] = {
    {&kSplit, BuildSplit},
    {&kAttentionGradient, BuildAttentionGradient},
};

const Row* FindRow(const OpDef& op) {
  const Row* row =
      absl::c_find_if(kRows, [&](const Row& known) { return known.op == &op; });
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace

bool IsJoinedOp(const OpDef& op) { return FindRow(op) != nullptr; }

absl::StatusOr<JoinedProgram> ReadJoinedProgram(const OpView& op,
                                                bool has_fma) {
  const Row* row = FindRow(op.op());
  if (row == nullptr) {
    return IndexNode(op, has_fma).NotGenerated("such an op");
  }
  JoinedProgram program;
  for (int i = 0; i < op.num_results(); ++i) {
    IndexNode node(op, has_fma);
    PARTITA_RETURN_IF_ERROR(row->build(node, i));
    program.parts.push_back(std::move(node.program()));
  }
  return program;
}

}  // namespace partita
