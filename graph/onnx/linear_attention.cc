// ONNX's LinearAttention: a matrix for each head that every position updates
// and reads, in sequence.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/onnx/attention_sizes.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

enum Input { kQueries, kKeys, kValues, kPast, kDecay, kRate };

// Each position becomes nodes of its own.
constexpr int64_t kMaxPositions = 1024;

// Checks that exactly the rule's own inputs are present.
absl::Status CheckRuleInput(const NodeImport& node, Input input,
                            absl::string_view name, bool wanted,
                            absl::string_view rule) {
  if (node.has_input(input) == wanted) return absl::OkStatus();
  return node.Invalid(
      absl::StrCat(wanted ? "no input " : "an input ", name,
                   " with update_rule ", rule),
      wanted ? "it, as the rule reads it" : "none, as the rule reads none");
}

absl::Status CheckRule(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(
      const std::string name,
      node.Choice("update_rule", "gated_delta",
                  {"linear", "gated", "delta", "gated_delta"}));
  PARTITA_RETURN_IF_ERROR(CheckRuleInput(
      node, kDecay, "decay", name == "gated" || name == "gated_delta", name));
  return CheckRuleInput(node, kRate, "beta",
                        name == "delta" || name == "gated_delta", name);
}

// [batch, positions, one of the extents]
absl::Status CheckPerPosition(const NodeImport& node, Input input,
                              const HeadSizes& keys, int64_t a, int64_t b) {
  if (!node.has_input(input)) return absl::OkStatus();
  const Shape& dims = node.type(input).dims;
  const int64_t last = !dims.empty() && dims.back() == a ? a : b;
  return ExpectInput(
      node, input, node.type(kQueries).dtype,
      {keys.batch, keys.positions, last},
      absl::StrCat("with ", a, " or ", b, " numbers for each position"));
}

absl::Status CheckInputs(const NodeImport& node, const AttentionSizes& s) {
  if (s.keys.positions != s.queries.positions) {
    return node.Invalid(absl::StrCat(s.keys.positions, " keys for ",
                                     s.queries.positions, " queries"),
                        "as many keys as queries");
  }
  if (s.keys.positions < 1 || s.keys.positions > kMaxPositions) {
    return node.Unsupported(
        absl::StrCat(s.keys.positions, " positions"),
        absl::StrCat("1..", kMaxPositions,
                     "; give a longer sequence in parts, each with the state "
                     "that the one before leaves"));
  }
  const int64_t heads = s.keys.heads;
  PARTITA_RETURN_IF_ERROR(
      CheckPerPosition(node, kDecay, s.keys, heads * s.keys.size, heads));
  PARTITA_RETURN_IF_ERROR(CheckPerPosition(node, kRate, s.keys, 1, heads));
  if (!node.has_input(kPast)) return absl::OkStatus();
  const DType dtype = node.type(kPast).dtype;
  return ExpectInput(node, kPast,
                     IsFloat(dtype) ? dtype : node.type(kQueries).dtype,
                     {s.keys.batch, heads, s.keys.size, s.values.size},
                     "as [batch, heads, size of a key, size of a value]");
}

// By position, for an input [batch, positions, numbers]: as [batch, a, b, c].
struct Sequence {
  Expr At(int64_t position) const {
    return x.Sliced(1, position, 1)
        .Reshaped({x.dim(0), dims[0], dims[1], dims[2]});
  }
  Expr x;
  int64_t dims[3];
};

class Recurrence {
 public:
  Recurrence(Composition& c, const AttentionSizes& s)
      : s_(s),
        queries_{In(c, kQueries), {s.keys.heads, s.group(), s.keys.size}},
        keys_{In(c, kKeys), {s.keys.heads, 1, s.keys.size}},
        values_{In(c, kValues), {s.keys.heads, 1, s.values.size}} {
    if (c.node().has_input(kDecay)) {
      const Expr decay = In(c, kDecay).Apply(kExp);
      decay_ = Sequence{decay, {s.keys.heads, decay.dim(-1) / s.keys.heads, 1}};
    }
    if (!c.node().has_input(kRate)) return;
    const Expr rate = In(c, kRate);
    rate_ = Sequence{rate, {rate.dim(-1), 1, 1}};
  }

  // The position's result from its new state, [batch, 1, numbers].
  Expr Step(int64_t position, Expr& state) const {
    const Expr key = keys_.At(position);
    Expr value = values_.At(position);
    if (decay_.has_value()) state = state * decay_->At(position);
    if (rate_.has_value()) {
      value = rate_->At(position) * (value - Product(key, state));
    }
    state =
        state + key.Reshaped({key.dim(0), key.dim(1), s_.keys.size, 1}) * value;
    return Product(queries_.At(position), state)
        .Reshaped({key.dim(0), 1, s_.queries.heads * s_.values.size});
  }

 private:
  // As in the standard, states are f32.
  static Expr In(Composition& c, Input input) {
    return c.Input(input).Cast(DType::kF32);
  }

  const AttentionSizes& s_;
  Sequence queries_, keys_, values_;
  std::optional<Sequence> decay_, rate_;
};

Expr FirstState(Composition& c, const AttentionSizes& s) {
  if (c.node().has_input(kPast)) return c.Input(kPast).Cast(DType::kF32);
  return c.Scalar(DType::kF32, 0)
      .Expanded({s.keys.batch, s.keys.heads, s.keys.size, s.values.size});
}

absl::Status LinearAttention(NodeImport& node) {
  PARTITA_RETURN_IF_ERROR(CheckRule(node));
  if (node.rank(kQueries) != 3) {
    return node.Invalid(node.type(kQueries).ToString(),
                        "queries as [batch, positions, heads * size]");
  }
  PARTITA_ASSIGN_OR_RETURN(const AttentionSizes s, ReadAttentionSizes(node));
  PARTITA_RETURN_IF_ERROR(CheckInputs(node, s));
  (void)node.Int("chunk_size", 64);  // a hint for speed
  double scale = node.Float("scale", 0);
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(s.keys.size));
  Composition c(node);
  const Recurrence recurrence(c, s);
  Expr state = FirstState(c, s);
  std::vector<Expr> results;
  for (int64_t i = 0; i < s.keys.positions; ++i) {
    results.push_back(recurrence.Step(i, state));
  }
  const DType dtype = node.type(kQueries).dtype;
  c.Set(1, state.Cast(node.has_input(kPast) ? node.type(kPast).dtype : dtype));
  return c.Return((Concatenated(results, 1) * scale).Cast(dtype));
}

constexpr ConverterRow kRows[] = {
    {"LinearAttention", LinearAttention, 3, 2,
     "chunk_size kv_num_heads q_num_heads scale update_rule"},
};

}  // namespace

extern constinit const ConverterFamily kLinearAttentionConverters = {kRows};

}  // namespace partita
