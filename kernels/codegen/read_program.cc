// Converts a node's body, or the node itself, into instructions.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/read_program.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "graph/host_capacity.h"
#include "graph/literal_pool.h"
#include "graph/node_key.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "kernels/codegen/not_generated.h"
#include "kernels/codegen/program.h"
#include "kernels/codegen/program_builder.h"
#include "kernels/codegen/read_body.h"
#include "kernels/codegen/scalar_type.h"

namespace partita {
namespace {

using Strides = std::vector<int64_t>;

bool HasPadding(const TensorType& type) {
  return type.num_stored_elements() != type.num_elements();
}

// By dimension of `to`; 0 if the row-major `from` has one element there.
Strides BroadcastStrides(const TensorType& from, const TensorType& to) {
  Strides strides(to.dims.size(), 0);
  const Shape own = RowMajorStrides(from.dims);
  const size_t missing = to.dims.size() - from.dims.size();
  for (size_t i = 0; i < from.dims.size(); ++i) {
    if (from.dims[i] != 1) strides[missing + i] = own[i];
  }
  return strides;
}

// Converts strides by dimension into strides by loop over the memory of
// `result`. The part of a dimension outside its blocks steps over all of them,
// an outer block over the inner ones.
Strides AlongMemory(const TensorType& result, const Strides& by_dimension) {
  const Layout& layout = result.layout;
  if (layout.is_row_major()) return by_dimension;
  Strides step = by_dimension;
  Strides inner;
  for (size_t i = layout.blocks.size(); i-- > 0;) {
    const Layout::Block& block = layout.blocks[i];
    inner.push_back(step[block.dim]);
    step[block.dim] *= block.size;
  }
  Strides along;
  for (uint8_t dim : layout.order) along.push_back(step[dim]);
  along.insert(along.end(), inner.rbegin(), inner.rend());
  return along;
}

// True if the loops `outer` and `inner` can be merged for this operand.
bool Continues(const Strides& strides, size_t outer, int64_t inner_extent) {
  return strides[outer] == strides[outer + 1] * inner_extent;
}

void EraseLoop(ElementwiseProgram& program, size_t loop) {
  program.loops.erase(program.loops.begin() + loop);
  for (ProgramOperand& operand : program.operands) {
    operand.strides.erase(operand.strides.begin() + loop);
  }
}

// Fewer loops mean longer lines, and so fewer rests that do not fill a vector.
// From the inside: a loop that was merged can be merged with the next outer
// one.
void JoinLoops(ElementwiseProgram& program) {
  for (size_t loop = program.loops.size(); loop-- > 0;) {
    if (program.loops[loop] == 1) EraseLoop(program, loop);
  }
  for (size_t loop = program.loops.size(); loop-- > 1;) {
    const int64_t inner = program.loops[loop];
    if (!std::all_of(program.operands.begin(), program.operands.end(),
                     [&](const ProgramOperand& operand) {
                       return Continues(operand.strides, loop - 1, inner);
                     })) {
      continue;
    }
    program.loops[loop] *= program.loops[loop - 1];
    EraseLoop(program, loop - 1);
  }
}

// Sets the loops and the operands' strides from the types of the node, whose
// operands broadcast to its results. Merges loops that all operands traverse
// contiguously. Unimplemented for padding, for results of several layouts, and
// for operands that are neither like them nor row-major. (A shard's operand
// that the whole broadcasts may have the results' extents.)
absl::Status ReadLoops(const OpView& node, ElementwiseProgram& program) {
  const TensorType& result = node.result_type(0);
  if (HasPadding(result)) {
    return NotGenerated(node, absl::StrCat("padding in ", result.ToString()));
  }
  const Shape memory = PhysicalDims(result.layout, result.dims);
  for (int i = 1; i < node.num_results(); ++i) {
    if (node.result_type(i).layout == result.layout) continue;
    return NotGenerated(
        node, absl::StrCat("result ", i, " of ", node.result_type(i).ToString(),
                           " beside ", result.ToString()));
  }
  program.loops.assign(memory.begin(), memory.end());
  for (int i = 0; i < node.num_operands(); ++i) {
    const TensorType& operand = node.operand_type(i);
    if (operand.dims == result.dims && operand.layout == result.layout) {
      const Shape dense = RowMajorStrides(memory);
      program.operands[i].strides.assign(dense.begin(), dense.end());
    } else if (operand.layout.is_row_major()) {
      program.operands[i].strides =
          AlongMemory(result, BroadcastStrides(operand, result));
    } else {
      return NotGenerated(
          node, absl::StrCat("operand ", i, " of ", operand.ToString(),
                             " beside ", result.ToString()));
    }
  }
  if (result.num_elements() == 0) {
    program.loops = {0};
    for (ProgramOperand& operand : program.operands) operand.strides = {0};
  }
  JoinLoops(program);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ElementwiseProgram> ReadInstructions(const OpView& node,
                                                    bool has_fma) {
  ElementwiseProgram program;
  ProgramBuilder builder(has_fma);
  const auto load = [&](int operand) -> absl::StatusOr<Register> {
    return builder.Load(ScalarTypeOf(node.operand_type(operand).dtype),
                        operand);
  };
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Register> results,
                           ReadBody(node, {builder, load}));
  builder.Finish(results, program);
  for (int i = 0; i < node.num_operands(); ++i) {
    program.operands.push_back({ScalarTypeOf(node.operand_type(i).dtype), {}});
  }
  return program;
}

std::optional<int> CountInstructions(const OpView& node) {
  if (node.num_operands() == 0) return std::nullopt;
  const auto program = ReadInstructions(node, /*has_fma=*/true);
  if (!program.ok()) return std::nullopt;
  return static_cast<int>(program->instructions.size());
}

absl::StatusOr<ElementwiseProgram> ReadProgram(const OpView& node,
                                               absl::string_view isa) {
  PARTITA_ASSIGN_OR_RETURN(ElementwiseProgram program,
                           ReadInstructions(node, HasFma(isa)));
  PARTITA_RETURN_IF_ERROR(ReadLoops(node, program));
  program.name = EntryName(node, "elementwise");
  return program;
}

bool HasFma(absl::string_view isa) { return MeantIsa(isa) != "sse4"; }

std::string EntryName(const OpView& node, absl::string_view kind) {
  std::string key = NodeKey(node);
  for (int i = 0; i < node.num_operands(); ++i) {
    absl::StrAppend(&key, " ", node.operand_type(i).layout.ToString());
    if (const HostTensor* exponent = KnownExponent(node, i)) {
      absl::StrAppend(&key, "^", GetAsDouble(*exponent, 0));
    }
  }
  absl::StrAppend(&key, " ->");
  for (int i = 0; i < node.num_results(); ++i) {
    absl::StrAppend(&key, " ", node.result_type(i).layout.ToString());
  }
  const ContentHash hash =
      HashBytes({reinterpret_cast<const std::byte*>(key.data()), key.size()});
  return absl::StrCat("partita_", kind, "_", hash.ToString());
}

std::string CodeTarget(absl::string_view isa) {
  return TraitsOf(DeviceKind::kCpu).code_target(isa);
}

Arithmetic CodegenArithmetic(absl::string_view isa) {
  return {.source = "codegen 3", .implementation = CodeTarget(isa)};
}

Arithmetic PtxArithmetic() {
  return {.source = "codegen 3", .implementation = "ptx"};
}

bool IsKnownIsa(absl::string_view isa) {
  return isa.empty() || absl::c_linear_search(CpuIsas(), isa);
}

}  // namespace partita
