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
#include "graph/core_ops.h"
#include "graph/device_kind_traits.h"
#include "graph/host_capacity.h"
#include "graph/literal_pool.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "kernels/codegen/emit_op.h"
#include "kernels/codegen/halves.h"
#include "kernels/codegen/program.h"
#include "kernels/codegen/scalar_type.h"
#include "kernels/cpu/node_key.h"

namespace partita {
namespace {

using Strides = std::vector<int64_t>;

absl::Status NotGenerated(const OpView& node, absl::string_view found) {
  return absl::UnimplementedError(
      absl::StrCat(node.ToString(), ": found ", found,
                   "; expected what codegen makes code for"));
}

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

// Bodies have a few dozen ops (passes/fuse_elementwise); a longer one is not
// worth its compile time.
constexpr int kMaxOps = 256;

// The exponent of pow must be a constant and counts as part of the node,
// although the graph holds it outside the node.
bool IsExponent(const OpView& op, int operand) {
  return op.is(kPow) && operand == 1;
}

bool IsExponentOnly(const Graph& body, ValueId input) {
  const auto& uses = body.value(input).uses;
  return !uses.empty() && absl::c_all_of(uses, [&](const Use& use) {
    return IsExponent(body.view(use.node), use.operand);
  });
}

bool IsF32OrHalf(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16;
}

// The one element of an operand that is a constant exponent; null otherwise.
const HostTensor* KnownExponent(const OpView& node, int operand) {
  const bool is_exponent =
      node.is(kFused)
          ? IsExponentOnly(node.region(0), node.region(0).inputs()[operand])
          : IsExponent(node, operand);
  if (!is_exponent) return nullptr;
  const TensorType& type = node.operand_type(operand);
  if (!IsF32OrHalf(type.dtype) || type.num_elements() != 1) return nullptr;
  return node.operand(operand).constant();
}

absl::StatusOr<Register> OperandOrExponent(const OpView& node, int operand,
                                           ProgramBuilder& builder) {
  if (const HostTensor* exponent = KnownExponent(node, operand)) {
    return builder.Constant(ScalarType::kF32, GetAsDouble(*exponent, 0));
  }
  const TensorType& type = node.operand_type(operand);
  const std::optional<ScalarType> scalar = ScalarTypeOf(type.dtype);
  if (!scalar.has_value()) {
    return NotGenerated(node, absl::StrCat(type.ToString(), " as operand"));
  }
  const Register loaded = builder.Load(*scalar, operand);
  return IsHalf(*scalar) ? Widen(loaded) : loaded;
}

// A computed value as its type is stored in memory.
Register Stored(DType dtype, Register value) {
  const std::optional<ScalarType> scalar = ScalarTypeOf(dtype);
  const bool is_half = scalar.has_value() && IsHalf(*scalar);
  return is_half ? Narrow(*scalar, value) : value;
}

// Registers by value of the body.
class BodyReader {
 public:
  BodyReader(const OpView& node, bool has_fma)
      : node_(node),
        body_(node.region(0)),
        builder_(has_fma),
        registers_(body_.value_id_bound()) {}

  absl::StatusOr<std::vector<Register>> Read() {
    if (body_.outputs().empty() || !body_.updates().empty() ||
        body_.num_nodes() > kMaxOps) {
      return absl::UnimplementedError("found a body of another shape");
    }
    for (size_t i = 0; i < body_.inputs().size(); ++i) {
      PARTITA_RETURN_IF_ERROR(ReadInput(static_cast<int>(i)));
    }
    for (const OpView& op : body_.ops()) {
      PARTITA_RETURN_IF_ERROR(op.is(kConstant) ? ReadConstant(op) : ReadOp(op));
    }
    std::vector<Register> results;
    for (ValueId output : body_.outputs()) {
      if (body_.type(output).dims != node_.result_type(0).dims) {
        return NotGenerated(node_, "results of other extents");
      }
      results.push_back(
          Stored(body_.type(output).dtype, *registers_[output.index]));
    }
    return results;
  }

  // The value of a single elementwise op in its graph.
  static absl::StatusOr<Register> ReadAlone(const OpView& op,
                                            ProgramBuilder& builder) {
    if (!op.op().traits.elementwise || op.num_results() != 1) {
      return NotGenerated(op, "an op that is not elementwise");
    }
    std::vector<Register> operands;
    for (int i = 0; i < op.num_operands(); ++i) {
      PARTITA_ASSIGN_OR_RETURN(const Register operand,
                               OperandOrExponent(op, i, builder));
      operands.push_back(operand);
    }
    const std::optional<Register> result = EmitOp(op, operands);
    if (!result.has_value()) return NotGenerated(op, "such an op or dtype");
    return Stored(op.result_type(0).dtype, *result);
  }

  ProgramBuilder& builder() { return builder_; }

 private:
  absl::Status ReadInput(int input) {
    PARTITA_ASSIGN_OR_RETURN(registers_[body_.inputs()[input].index],
                             OperandOrExponent(node_, input, builder_));
    return absl::OkStatus();
  }

  absl::Status ReadConstant(const OpView& op) {
    const HostTensor* constant = op.result(0).constant();
    std::optional<ScalarType> type = ScalarTypeOf(op.result_type(0).dtype);
    if (constant == nullptr || !type.has_value() ||
        constant->type().num_elements() != 1) {
      return NotGenerated(op, "a constant that is not one known element");
    }
    if (IsHalf(*type)) type = ScalarType::kF32;
    registers_[op.result(0).id().index] =
        *type == ScalarType::kF32 || *type == ScalarType::kF64
            ? builder_.Constant(*type, GetAsDouble(*constant, 0))
            : builder_.Integer(*type, ToInt64s(*constant)[0]);
    return absl::OkStatus();
  }

  absl::Status ReadOp(const OpView& op) {
    if (!op.op().traits.elementwise || op.num_results() != 1) {
      return NotGenerated(op, "an op that is not elementwise");
    }
    std::vector<Register> operands;
    for (ValueId operand : op.node().operands) {
      operands.push_back(*registers_[operand.index]);
    }
    const std::optional<Register> result = EmitOp(op, operands);
    if (!result.has_value()) return NotGenerated(op, "such an op or dtype");
    registers_[op.result(0).id().index] = *result;
    return absl::OkStatus();
  }

  const OpView node_;
  const Graph& body_;
  ProgramBuilder builder_;
  std::vector<std::optional<Register>> registers_;
};

absl::Status ReadInstructions(const OpView& node, bool has_fma,
                              ElementwiseProgram& program) {
  if (!node.is(kFused)) {
    ProgramBuilder builder(has_fma);
    PARTITA_ASSIGN_OR_RETURN(const Register result,
                             BodyReader::ReadAlone(node, builder));
    builder.Finish({result}, program);
    return absl::OkStatus();
  }
  BodyReader reader(node, has_fma);
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Register> results, reader.Read());
  reader.builder().Finish(results, program);
  return absl::OkStatus();
}

}  // namespace

std::optional<int> CountInstructions(const OpView& node) {
  if (node.num_operands() == 0) return std::nullopt;
  ElementwiseProgram program;
  if (!ReadInstructions(node, /*has_fma=*/true, program).ok()) {
    return std::nullopt;
  }
  return static_cast<int>(program.instructions.size());
}

absl::StatusOr<ElementwiseProgram> ReadProgram(const OpView& node,
                                               absl::string_view isa) {
  ElementwiseProgram program;
  PARTITA_RETURN_IF_ERROR(ReadInstructions(node, HasFma(isa), program));
  for (int i = 0; i < node.num_operands(); ++i) {
    const std::optional<ScalarType> type =
        ScalarTypeOf(node.operand_type(i).dtype);
    if (!type.has_value()) return NotGenerated(node, "such a dtype");
    program.operands.push_back({*type, {}});
  }
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
