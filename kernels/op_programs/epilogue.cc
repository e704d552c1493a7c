// The head's program over its own operands and, after these, all of the node's;
// then the latter alone.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/op_programs/epilogue.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/ops/strided.h"
#include "graph/status_macros.h"
#include "kernels/codegen/not_generated.h"
#include "kernels/codegen/read_body.h"
#include "kernels/codegen/scalar_type.h"
#include "kernels/op_programs/index_node.h"
#include "kernels/op_programs/read_index_program.h"

namespace partita {
namespace {

class EpilogueReader {
 public:
  EpilogueReader(const OpView& fused, const OpView& head, bool has_fma)
      : fused_(fused),
        head_(head),
        head_operands_(static_cast<size_t>(head.num_operands())),
        node_(head_, has_fma) {}

  absl::StatusOr<IndexProgram> Read() {
    PARTITA_ASSIGN_OR_RETURN(const std::vector<uint64_t> operands,
                             OperandsOfHead());
    if (head_.num_results() != 1 ||
        head_.result_type(0).dims != fused_.result_type(0).dims) {
      return NotGenerated(fused_, "a result unlike its first op's");
    }
    node_.SetEpilogue([this](const IndexReader& read, Register value) {
      return Results(read, value);
    });
    is_read_ = NotGenerated(head_, "such an op before others");
    PARTITA_RETURN_IF_ERROR(BuildIndexProgram(node_));
    PARTITA_RETURN_IF_ERROR(is_read_);
    IndexProgram& program = node_.program();
    const auto renumber = [&](ProgramBody& body) {
      for (Instruction& i : body.instructions) {
        if (i.op != Opcode::kElement) continue;
        i.bits = i.bits < head_operands_ ? operands[i.bits]
                                         : i.bits - head_operands_;
      }
    };
    renumber(program.first);
    for (StepSum& sum : program.sums) renumber(sum.body);
    renumber(program.step);
    renumber(program.last);
    program.operands.erase(program.operands.begin(),
                           program.operands.begin() + head_operands_);
    return std::move(program);
  }

 private:
  // The node's operands by those of its head.
  absl::StatusOr<std::vector<uint64_t>> OperandsOfHead() const {
    const std::vector<ValueId>& inputs = fused_.region(0).inputs();
    std::vector<uint64_t> operands;
    for (ValueId operand : head_.node().operands) {
      const auto input = absl::c_find(inputs, operand);
      if (input == inputs.end()) {
        return NotGenerated(fused_, "a computed operand of its first op");
      }
      operands.push_back(static_cast<uint64_t>(input - inputs.begin()));
    }
    return operands;
  }

  std::vector<Register> Results(const IndexReader& read, Register value) {
    AddOperands();
    const BodySource source = {
        .builder = *value.builder,
        .operand = [&](int operand) { return Operand(read, operand); },
        .head = [&](const OpView& op) -> std::optional<Register> {
          if (op.id() != head_.id()) return std::nullopt;
          return value;
        }};
    absl::StatusOr<std::vector<Register>> results = ReadBody(fused_, source);
    is_read_ = results.status();
    if (results.ok()) return *std::move(results);
    return {value};
  }

  void AddOperands() {
    for (int i = 0; i < fused_.num_operands(); ++i) {
      const TensorType& type = fused_.operand_type(i);
      node_.program().operands.push_back(
          {ScalarTypeOf(type.dtype), type.num_stored_elements()});
    }
  }

  absl::StatusOr<Register> Operand(const IndexReader& read, int operand) const {
    const TensorType& type = fused_.operand_type(operand);
    const Shape& dims = fused_.result_type(0).dims;
    // The head's own operands need not broadcast to its result; no one else
    // reads them then.
    if (!BroadcastsTo(type.dims, dims)) return Like(read.Index(0), 0);
    return read.Element(
        head_operands_ + static_cast<size_t>(operand),
        read.Offset(Place(read, dims), BroadcastStrides(type.dims, dims)));
  }

  static bool BroadcastsTo(const Shape& from, const Shape& to) {
    if (from.size() > to.size()) return false;
    const size_t missing = to.size() - from.size();
    for (size_t d = 0; d < from.size(); ++d) {
      if (from[d] != 1 && from[d] != to[missing + d]) return false;
    }
    return true;
  }

  // The coordinates in the result. Dimensions of extent 1 have no loop.
  static std::vector<Register> Place(const IndexReader& read,
                                     const Shape& dims) {
    std::vector<Register> place;
    size_t loop = 0;
    for (int64_t extent : dims) {
      const bool has_loop = extent != 1 && Product(dims) > 0;
      place.push_back(has_loop ? read.Loop(loop++) : read.Index(0));
    }
    return place;
  }

  const OpView fused_;
  const OpView head_;
  const size_t head_operands_;
  IndexNode node_;
  absl::Status is_read_;
};

}  // namespace

std::optional<OpView> HeadOf(const OpView& node) {
  if (!node.is(kFused)) return std::nullopt;
  for (const OpView& op : node.region(0).ops()) {
    if (!op.is(kConstant) && !op.op().traits.elementwise) return op;
  }
  return std::nullopt;
}

absl::StatusOr<IndexProgram> ReadEpilogueProgram(const OpView& fused,
                                                 bool has_fma) {
  const std::optional<OpView> head = HeadOf(fused);
  if (!head.has_value()) return NotGenerated(fused, "elementwise ops only");
  return EpilogueReader(fused, *head, has_fma).Read();
}

}  // namespace partita
