// The declaration of an op, which every layer reads.
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
struct OpSample;    // graph/ops/op_sample.h

// One operand. Optional operands come last. A variadic operand is the last and
// means one or more.
struct OperandDef {
  enum class Arity : uint8_t { kOne, kOptional, kVariadic };
  const char* name = nullptr;
  Arity arity = Arity::kOne;
};
inline constexpr auto kOptional = OperandDef::Arity::kOptional;
inline constexpr auto kVariadic = OperandDef::Arity::kVariadic;

// One attribute: its kind, and its default if it is not required. Defaults of
// ints and floats are empty lists.
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

// The allowed difference of a kernel, or another order of evaluation, from
// eval.
enum class Tolerance : uint8_t {
  kExact,        // the same bits
  kRounding,     // a few units in the last place
  kReduction,    // proportional to the number of summed elements
  kApproximate,  // transcendental functions of fused kernels
};

// Lower bounds of floating-point operations and bytes moved, for the roofline.
struct Cost {
  double flops = 0;
  double bytes = 0;
};

// Receives the result types from infer. Set checks the type first.
class Types {
 public:
  absl::Status Set(int result, TensorType type);
  std::vector<TensorType> types;
};

// An elementwise function, used by eval and by code generation. Floats are
// computed in double and rounded once; integers are exact and wrap.
struct ScalarFunction {
  double (*on_double)(absl::Span<const double> x, const OpView& op) = nullptr;
  int64_t (*on_int)(absl::Span<const int64_t> x, const OpView& op) = nullptr;
  uint64_t (*on_uint)(absl::Span<const uint64_t> x, const OpView& op) = nullptr;
  bool keeps_zero = false;  // f(0, ..., 0) == 0, so layout padding stays zero
};

// Bytes that an op moves unchanged: `count` blocks of `block` bytes, from
// operand to result. Both are row-major.
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
  bool reads_variable = false;  // the result is a module variable
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

  // Result types from operand types and attributes, without layouts. Uses BadOp
  // for every error.
  absl::Status (*infer)(const OpView& op, Types& results) = nullptr;
  // The reference semantics, over row-major tensors of the inferred types. The
  // caller allocates and zeroes the results. Fails only on bad data (an index
  // out of range).
  absl::Status (*eval)(const OpView& op, absl::Span<const HostTensor> operands,
                       absl::Span<HostTensor> results) = nullptr;
  // Builds nodes for the gradient of each float operand that needs one.
  // Missing: not differentiable.
  absl::Status (*gradient)(GradBuilder& builder) = nullptr;
  // Why there is no gradient, or why it is not the slope. For people; a test
  // requires one or the other.
  const char* no_gradient = nullptr;
  Cost (*cost)(const OpView& op) = nullptr;
  DimensionRule (*dimension_rule)(const OpView& op) = nullptr;
  // Attributes of the shard [begin, end) of a factor. Missing: the same as for
  // the whole node. Ops with extents in attributes (shapes, pads) need it.
  void (*shard_attributes)(const OpView& op, int factor, int64_t begin,
                           int64_t end, Attributes& attributes) = nullptr;
  // The moves of an op that only moves bytes; nullopt if ByteMove cannot
  // describe them for these attributes. Missing: the op computes.
  std::optional<std::vector<ByteMove>> (*moves)(const OpView& op) = nullptr;
  // Small instances for tests: every kind of attribute, uneven extents.
  // Elementwise ops have generated ones too.
  std::vector<OpSample> (*samples)() = nullptr;
};

// Helpers over the declarations.
int MinOperands(const OpDef& op);
int MaxOperands(const OpDef& op);  // INT_MAX when variadic
const AttrDef* FindAttr(const OpDef& op, absl::string_view name);
AttributeValue DefaultValue(const AttrDef& attr);

// The attributes that differ from their defaults.
Attributes WithoutDefaults(const OpDef& op, const Attributes& attributes);
// Checks what inference relies on: operand count, region count, and that all
// attributes are declared, of the declared kinds, and none is missing. BadOp
// otherwise.
absl::Status CheckSignature(const OpView& op);

// The default rule: every dimension whole.
DimensionRule WholeRule(const OpView& op);

}  // namespace partita

#endif  // PARTITA_GRAPH_OP_DEF_H_
