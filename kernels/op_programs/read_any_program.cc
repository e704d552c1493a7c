// Tries one kind of program after the other.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/op_programs/read_any_program.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen/live_words.h"
#include "kernels/codegen/not_generated.h"
#include "kernels/codegen/read_program.h"
#include "kernels/op_programs/epilogue.h"
#include "kernels/op_programs/read_index_program.h"
#include "kernels/op_programs/read_joined_program.h"
#include "kernels/op_programs/read_row_program.h"

namespace partita {
namespace {

bool IsElementwise(const OpView& node) {
  return node.is(kFused) ? !HeadOf(node).has_value()
                         : node.op().traits.elementwise;
}

bool HasIndices(const OpView& node) {
  return node.is(kFused) || IsIndexOp(node.op());
}

absl::StatusOr<IndexProgram> ReadIndices(const OpView& node, bool has_fma) {
  return node.is(kFused) ? ReadEpilogueProgram(node, has_fma)
                         : ReadIndexProgram(node, has_fma);
}

bool IsRowMajor(const OpView& node) {
  for (int i = 0; i < node.num_operands(); ++i) {
    if (!node.operand_type(i).layout.is_row_major()) return false;
  }
  for (int i = 0; i < node.num_results(); ++i) {
    if (!node.result_type(i).layout.is_row_major()) return false;
  }
  return true;
}

// Each step of a recurrence needs all units of the one before, which are other
// threads' in a kernel of independent ones.
absl::Status WhyOnHost(const OpView& node, const absl::Status& rows) {
  for (const OpDef* op :
       {&kRnn, &kGru, &kLstm, &kRnnGradient, &kGruGradient, &kLstmGradient}) {
    if (node.is(*op)) {
      return NotGenerated(node, "a recurrence, whose steps need one another");
    }
  }
  return rows;
}

absl::StatusOr<GpuWork> WorkOfElementwise(const OpView& node) {
  if (node.num_operands() == 0) return NotGenerated(node, "no operands");
  PARTITA_ASSIGN_OR_RETURN(const ElementwiseProgram program,
                           ReadInstructions(node, /*has_fma=*/true));
  const double count = static_cast<double>(program.instructions.size());
  const double points = static_cast<double>(node.result_type(0).num_elements());
  return GpuWork{.kind = ProgramKind::kElementwise,
                 .instructions = count * points,
                 .longest = count,
                 .words = LiveWords(program, /*group=*/1)};
}

GpuWork WorkOf(const RowProgram& program) {
  double of_element = static_cast<double>(program.elements.instructions.size());
  for (const RowPhase& phase : program.phases) {
    of_element += static_cast<double>(phase.elements.instructions.size());
  }
  const double length = static_cast<double>(RowLength(program));
  const double threads = RowShapeOf(program).row_threads;
  return {.kind = ProgramKind::kRows,
          .instructions =
              of_element * length * static_cast<double>(NumRows(program)),
          .longest = of_element * length / threads,
          .words = ThreadWords(program)};
}

GpuWork WorkOf(const IndexProgram& program) {
  const IndexTile tile = TileOf(program);
  const double of_tile = InstructionsOf(program, tile);
  return {.kind = ProgramKind::kIndices,
          .instructions =
              of_tile * static_cast<double>(NumPoints(program)) / tile.points(),
          .longest = of_tile,
          .words = ThreadWords(program)};
}

GpuWork WorkOf(const JoinedProgram& program) {
  GpuWork work = {.kind = ProgramKind::kIndices};
  for (const IndexProgram& part : program.parts) {
    const GpuWork of_part = WorkOf(part);
    work.instructions += of_part.instructions;
    work.longest += of_part.longest;
    work.words = std::max(work.words, of_part.words);
  }
  return work;
}

absl::StatusOr<GpuWork> WorkOf(const OpView& node) {
  if (IsElementwise(node)) return WorkOfElementwise(node);
  const absl::StatusOr<RowProgram> rows = ReadRowProgram(node, true);
  if (rows.ok()) return WorkOf(*rows);
  if (IsJoinedOp(node.op())) {
    PARTITA_ASSIGN_OR_RETURN(const JoinedProgram joined,
                             ReadJoinedProgram(node, true));
    return WorkOf(joined);
  }
  if (!HasIndices(node)) return WhyOnHost(node, rows.status());
  PARTITA_ASSIGN_OR_RETURN(const IndexProgram indices, ReadIndices(node, true));
  return WorkOf(indices);
}

}  // namespace

absl::StatusOr<AnyProgram> ReadAnyProgram(const OpView& node,
                                          absl::string_view isa) {
  if (IsElementwise(node)) {
    PARTITA_ASSIGN_OR_RETURN(ElementwiseProgram program,
                             ReadProgram(node, isa));
    return program;
  }
  if (!IsRowMajor(node) && !node.is(kReorder)) {
    return NotGenerated(node, "a layout that is not row-major");
  }
  absl::StatusOr<RowProgram> rows = ReadRowProgram(node, HasFma(isa));
  if (rows.ok()) {
    rows->name = EntryName(node, "rows");
    return *std::move(rows);
  }
  if (IsJoinedOp(node.op())) {
    PARTITA_ASSIGN_OR_RETURN(JoinedProgram joined,
                             ReadJoinedProgram(node, HasFma(isa)));
    joined.name = EntryName(node, "indices");
    return joined;
  }
  if (!HasIndices(node)) return WhyOnHost(node, rows.status());
  PARTITA_ASSIGN_OR_RETURN(IndexProgram indices,
                           ReadIndices(node, HasFma(isa)));
  indices.name = EntryName(node, "indices");
  return indices;
}

absl::StatusOr<GpuWork> CountGpuWork(const OpView& node) {
  PARTITA_ASSIGN_OR_RETURN(const GpuWork work, WorkOf(node));
  if (FitsThread(work.words)) return work;
  return NotGenerated(
      node, absl::StrCat(work.words, " registers of live values in a thread"));
}

}  // namespace partita
