// Registers by value of the body.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/read_body.h"

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "kernels/codegen/emit_op.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/codegen/not_generated.h"
#include "kernels/codegen/scalar_type.h"

namespace partita {
namespace {

// Bodies have a few dozen ops (passes/fuse_elementwise); a longer one is not
// worth its compile time.
constexpr int kMaxOps = 256;

// Functions are those of float_functions.h.
absl::string_view WhyNotEmitted(const OpView& op) {
  for (int i = 0; i < op.num_operands(); ++i) {
    if (op.operand_type(i).dtype == DType::kF64) return "a function in f64";
  }
  return "such an op or dtype";
}

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

absl::StatusOr<Register> OperandOrExponent(const OpView& node, int operand,
                                           const BodySource& source) {
  if (const HostTensor* exponent = KnownExponent(node, operand)) {
    return source.builder.Constant(ScalarType::kF32, GetAsDouble(*exponent, 0));
  }
  PARTITA_ASSIGN_OR_RETURN(const Register loaded, source.operand(operand));
  return Loaded(loaded);
}

class BodyReader {
 public:
  BodyReader(const OpView& node, const BodySource& source)
      : node_(node),
        body_(node.region(0)),
        source_(source),
        registers_(body_.value_id_bound()) {}

  absl::StatusOr<std::vector<Register>> Read() {
    if (body_.outputs().empty() || !body_.updates().empty() ||
        body_.num_nodes() > kMaxOps) {
      return absl::UnimplementedError("found a body of another shape");
    }
    for (size_t i = 0; i < body_.inputs().size(); ++i) {
      PARTITA_ASSIGN_OR_RETURN(
          registers_[body_.inputs()[i].index],
          OperandOrExponent(node_, static_cast<int>(i), source_));
    }
    for (const OpView& op : body_.ops()) {
      PARTITA_RETURN_IF_ERROR(op.is(kConstant) ? ReadConstant(op) : ReadOp(op));
    }
    std::vector<Register> results;
    for (ValueId output : body_.outputs()) {
      if (body_.type(output).dims != node_.result_type(0).dims) {
        return NotGenerated(node_, "results of other extents");
      }
      results.push_back(Narrowed(ScalarTypeOf(body_.type(output).dtype),
                                 *registers_[output.index]));
    }
    return results;
  }

 private:
  absl::Status ReadConstant(const OpView& op) {
    const HostTensor* constant = op.result(0).constant();
    if (constant == nullptr || constant->type().num_elements() != 1) {
      return NotGenerated(op, "a constant that is not one known element");
    }
    const ScalarType type = ComputedType(ScalarTypeOf(op.result_type(0).dtype));
    registers_[op.result(0).id().index] =
        IsFloatType(type)
            ? source_.builder.Constant(type, GetAsDouble(*constant, 0))
            : source_.builder.Integer(type, ToInt64s(*constant)[0]);
    return absl::OkStatus();
  }

  absl::Status ReadOp(const OpView& op) {
    PARTITA_ASSIGN_OR_RETURN(
        registers_[op.result(0).id().index],
        op.op().traits.elementwise ? ReadElementwise(op) : ReadHead(op));
    return absl::OkStatus();
  }

  absl::StatusOr<Register> ReadHead(const OpView& op) {
    std::optional<Register> value;
    if (source_.head != nullptr) value = source_.head(op);
    if (value.has_value()) return *value;
    return NotGenerated(op, "an op that is not elementwise");
  }

  absl::StatusOr<Register> ReadElementwise(const OpView& op) {
    if (op.num_results() != 1) return NotGenerated(op, "several results");
    std::vector<Register> operands;
    for (ValueId operand : op.node().operands) {
      operands.push_back(*registers_[operand.index]);
    }
    const std::optional<Register> result = EmitOp(op, operands);
    if (result.has_value()) return *result;
    return NotGenerated(op, WhyNotEmitted(op));
  }

  const OpView node_;
  const Graph& body_;
  const BodySource& source_;
  std::vector<std::optional<Register>> registers_;
};

// The value of an elementwise op in its graph.
absl::StatusOr<std::vector<Register>> ReadAlone(const OpView& op,
                                                const BodySource& source) {
  if (!op.op().traits.elementwise || op.num_results() != 1) {
    return NotGenerated(op, "an op that is not elementwise");
  }
  std::vector<Register> operands;
  for (int i = 0; i < op.num_operands(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(const Register operand,
                             OperandOrExponent(op, i, source));
    operands.push_back(operand);
  }
  const std::optional<Register> result = EmitOp(op, operands);
  if (!result.has_value()) return NotGenerated(op, WhyNotEmitted(op));
  return std::vector<Register>{
      Narrowed(ScalarTypeOf(op.result_type(0).dtype), *result)};
}

}  // namespace

absl::StatusOr<std::vector<Register>> ReadBody(const OpView& node,
                                               const BodySource& source) {
  if (!node.is(kFused)) return ReadAlone(node, source);
  return BodyReader(node, source).Read();
}

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

}  // namespace partita
