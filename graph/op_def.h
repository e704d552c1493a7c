// What an op is: the one declaration that every layer reads.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OP_DEF_H_
#define PARTITA_GRAPH_OP_DEF_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/attributes.h"
#include "graph/dimension_rule.h"
#include "graph/host_tensor.h"
#include "graph/op_error.h"
#include "graph/op_view.h"
#include "graph/tensor_type.h"

namespace partita {

class GradBuilder;  // graph/ops/grad_builder.h

// One operand. Optional operands come last; a variadic one is the last and
// stands for one or more.
struct OperandDef {
  enum class Arity : uint8_t { kOne, kOptional, kVariadic };
  const char* name = nullptr;
  Arity arity = Arity::kOne;
};
inline constexpr auto kOptional = OperandDef::Arity::kOptional;
inline constexpr auto kVariadic = OperandDef::Arity::kVariadic;

// One attribute: its kind, and its default unless the node must give it.
// Defaults of ints and floats are empty lists.
struct AttrDef {
  const char* name = nullptr;
  AttributeKind kind = AttributeKind::kInt;
  bool required = false;
  int64_t int_default = 0;  // also bool (0 or 1), dtype and number
  double float_default = 0;
  const char* string_default = "";
};
constexpr AttrDef IntAttr(const char* name, int64_t value) {
  return {name, AttributeKind::kInt, false, value};
}
constexpr AttrDef FloatAttr(const char* name, double value) {
  return {name, AttributeKind::kFloat, false, 0, value};
}
constexpr AttrDef BoolAttr(const char* name, bool value) {
  return {name, AttributeKind::kBool, false, value};
}
constexpr AttrDef StringAttr(const char* name, const char* value) {
  return {name, AttributeKind::kString, false, 0, 0, value};
}
constexpr AttrDef IntsAttr(const char* name) {
  return {name, AttributeKind::kInts, false};
}
constexpr AttrDef FloatsAttr(const char* name) {
  return {name, AttributeKind::kFloats, false};
}
constexpr AttrDef NumberAttr(const char* name, int64_t value) {
  return {name, AttributeKind::kNumber, false, value};
}
constexpr AttrDef RequiredAttr(const char* name, AttributeKind kind) {
  return {name, kind, true};
}

// How close a kernel or another order of evaluation must come to eval.
enum class Tolerance : uint8_t {
  kExact,        // the same bits
  kRounding,     // a few units in the last place
  kReduction,    // grows with the number of summed elements
  kApproximate,  // transcendental functions of fused kernels
};

// Floating-point operations and bytes moved, at least; for the roofline.
struct Cost {
  double flops = 0;
  double bytes = 0;
};

// Where infer puts the result types. Set checks the type first.
class Types {
 public:
  absl::Status Set(int result, TensorType type);
  std::vector<TensorType> types;
};

// An elementwise function: eval and code generation both start from it. Floats
// are computed in double and rounded once; integers exactly, wrapping.
struct ScalarFunction {
  double (*on_double)(absl::Span<const double> x, const OpView& op) = nullptr;
  int64_t (*on_int)(absl::Span<const int64_t> x, const OpView& op) = nullptr;
  uint64_t (*on_uint)(absl::Span<const uint64_t> x, const OpView& op) = nullptr;
  bool keeps_zero = false;  // f(0, ..., 0) == 0, so layout padding stays zero
};

// Bytes that an op moves unchanged: `count` blocks of `block` bytes, from
// operand to result, row-major on both sides.
struct ByteMove {
  int operand = 0;
  int result = 0;
  int64_t operand_offset = 0;
  int64_t result_offset = 0;
  int64_t block = 0;
  int64_t count = 1;
  int64_t operand_stride = 0;
  int64_t result_stride = 0;
};

struct OpTraits {
  bool elementwise = false;  // ScalarFunction over broadcast operands
  bool commutative = false;
  bool random = false;          // never folded or merged
  bool reads_variable = false;  // value comes from a module variable
  bool placed_only =
      false;  // copy, reorder: made by the compiler, not by users
  bool keeps_layout = false;  // any one layout for all operands and results
};

inline constexpr int kMaxOperandDefs = 8;
inline constexpr int kMaxAttrDefs = 16;
inline constexpr int kAnyNumber = -1;

// A plain aggregate, constant-initialised: `extern constinit const OpDef kName`
// in graph/ops/<file>.cc. The build lists every such constant (op_table.bzl).
struct OpDef {
  const char* name = nullptr;  // as in the textual IR: "conv", "reduce_sum"
  const char* doc = nullptr;   // one sentence
  std::array<OperandDef, kMaxOperandDefs> operands = {};
  int num_results = 1;  // kAnyNumber: infer decides
  int num_regions = 0;
  std::array<AttrDef, kMaxAttrDefs> attrs = {};
  Tolerance tolerance = Tolerance::kExact;
  OpTraits traits = {};
  const ScalarFunction* scalar = nullptr;

  // Result types from operand types and attributes. Layouts are not its
  // business. Uses BadOp for every fault.
  absl::Status (*infer)(const OpView& op, Types& results) = nullptr;
  // The meaning, over row-major tensors of the inferred types; results are
  // allocated, and zeroed, by the caller. Fails only on what data decide (an
  // index out of range).
  absl::Status (*eval)(const OpView& op, absl::Span<const HostTensor> operands,
                       absl::Span<HostTensor> results) = nullptr;
  // Yields the gradient of each float operand that is needed, as nodes.
  // Missing: not differentiable.
  absl::Status (*gradient)(GradBuilder& builder) = nullptr;
  Cost (*cost)(const OpView& op) = nullptr;
  DimensionRule (*dimension_rule)(const OpView& op) = nullptr;
  // Attributes of the piece [begin, end) of a factor; missing: the same as the
  // whole's. Ops whose attributes speak of extents (shapes, pads) need it.
  void (*piece_attributes)(const OpView& op, int factor, int64_t begin,
                           int64_t end, Attributes& attributes) = nullptr;
  // For an op that only moves bytes: which; nullopt if these attributes make it
  // do more than ByteMove can say. Missing: the op computes.
  std::optional<std::vector<ByteMove>> (*moves)(const OpView& op) = nullptr;
};

// Helpers over the declarations.
int MinOperands(const OpDef& op);
int MaxOperands(const OpDef& op);  // INT_MAX when variadic
const AttrDef* FindAttr(const OpDef& op, absl::string_view name);
AttributeValue DefaultValue(const AttrDef& attr);

// The attributes that differ from their defaults.
Attributes WithoutDefaults(const OpDef& op, const Attributes& attributes);
// What inference may rely on: operand count, region count, attributes that
// exist, of the declared kinds, none missing. BadOp otherwise.
absl::Status CheckSignature(const OpView& op);

// The default rule: every dimension whole.
DimensionRule WholeRule(const OpView& op);

}  // namespace partita

#endif  // PARTITA_GRAPH_OP_DEF_H_
