// ONNX's Attention: products of queries and keys, a mask, a softmax, and
// weighted means of the values.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/onnx/attention_attributes.h"
#include "graph/onnx/attention_sizes.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

enum Input { kQueries, kKeys, kValues, kMask, kPastKeys, kPastValues, kFilled };
enum Output { kResult, kPresentKeys, kPresentValues, kScores };

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// --- operands ---

absl::Status ReadPast(NodeImport& node, AttentionSizes& sizes) {
  if (!node.has_input(kPastKeys) && !node.has_input(kPastValues)) {
    return absl::OkStatus();
  }
  if (!node.has_input(kPastKeys) || !node.has_input(kPastValues)) {
    return node.Invalid(
        absl::StrCat("past_", node.has_input(kPastKeys) ? "key" : "value",
                     " alone"),
        "both past_key and past_value, or none");
  }
  if (node.has_input(kFilled)) {
    return node.Invalid("past_key beside nonpad_kv_seqlen", "one of them");
  }
  HeadSizes past = sizes.keys;
  if (node.rank(kPastKeys) == 4) past.positions = node.type(kPastKeys).dims[2];
  PARTITA_RETURN_IF_ERROR(
      ExpectInput(node, kPastKeys, node.type(kKeys).dtype, past.dims(),
                  "as [batch, heads, past positions, size] of the keys"));
  sizes.past = past.positions;
  past.size = sizes.values.size;
  return ExpectInput(node, kPastValues, node.type(kValues).dtype, past.dims(),
                     "as [batch, heads, past positions, size] of the values");
}

// The last extent may be smaller than the number of keys.
absl::Status CheckMask(const NodeImport& node, const AttentionSizes& sizes) {
  if (!node.has_input(kMask)) return absl::OkStatus();
  const Shape scores = sizes.scores();
  const Shape& dims = node.type(kMask).dims;
  bool fits = !dims.empty() && dims.size() <= scores.size();
  for (size_t i = 0; i < dims.size() && fits; ++i) {
    const int64_t most = scores[scores.size() - dims.size() + i];
    const bool is_last = i + 1 == dims.size();
    fits = dims[i] == most || dims[i] == 1 || (is_last && dims[i] < most);
  }
  if (fits) return absl::OkStatus();
  return OfExtents(node.Invalid(
      absl::StrCat("a mask ", node.type(kMask).ToString()),
      absl::StrCat("extents that broadcast to ",
                   TensorType{node.type(kMask).dtype, scores, {}}.ToString(),
                   ": [batch, heads of queries, queries, keys]")));
}

absl::StatusOr<AttentionSizes> ReadSizes(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(AttentionSizes sizes, ReadAttentionSizes(node));
  PARTITA_RETURN_IF_ERROR(ReadPast(node, sizes));
  PARTITA_RETURN_IF_ERROR(CheckMask(node, sizes));
  if (node.has_input(kFilled)) {
    PARTITA_RETURN_IF_ERROR(ExpectInput(node, kFilled, DType::kI64,
                                        {sizes.queries.batch},
                                        "a number of keys for each sample"));
  }
  return sizes;
}

// --- masks ---

// The mask for all keys; keys after it are not seen. Up to opset 23 an extent
// of 1 broadcasts to all keys.
Expr WholeMask(Composition& c, int64_t keys) {
  const Expr mask = c.Input(kMask);
  const int64_t missing = keys - mask.dim(-1);
  const bool stands_for_all = mask.dim(-1) == 1 && c.node().opset() < 24;
  const bool failed = mask.rank() == 0;  // a mask has dimensions
  if (missing <= 0 || stands_for_all || failed) return mask;
  std::vector<int64_t> before(mask.rank(), 0);
  std::vector<int64_t> after = before;
  after.back() = missing;
  const double unseen = mask.dtype() == DType::kBool ? 0 : -kInfinity;
  return mask.Apply(kPad, {{"before", std::move(before)},
                           {"after", std::move(after)},
                           {"value", Number(unseen)}});
}

// The keys that a query sees: the conjunction of conditions.
class Sight {
 public:
  explicit Sight(Composition& c) : c_(c) {}

  void Demand(Expr condition) {
    seen_ = seen_.has_value() ? Joined(kAnd, *seen_, condition) : condition;
  }
  // What is added to a score of the dtype: minus infinity for a key that is not
  // seen, else `added`. Nullopt if nothing is added.
  std::optional<Expr> Bias(DType dtype, std::optional<Expr> added) const {
    if (!seen_.has_value()) return added;
    const Expr visible = added.has_value() ? *added : c_.Scalar(dtype, 0);
    return Choose(*seen_, visible, c_.Scalar(dtype, -kInfinity));
  }

 private:
  Composition& c_;
  std::optional<Expr> seen_;
};

// By position. A query's position is its own number plus the number of keys
// before the first query: the past ones, or those already filled in.
void DemandPositions(Composition& c, const AttentionSizes& sizes,
                     const AttentionAttributes& options, Sight& sight) {
  const bool counted = c.node().has_input(kFilled);
  const bool ordered =
      options.causal || options.left >= 0 || options.right >= 0;
  if (!counted && !ordered) return;
  const Expr keys = c.Iota(0, sizes.total());
  Expr queries = c.Iota(sizes.past, sizes.queries.positions).Unsqueezed(1);
  if (counted) {
    const Expr filled =
        c.Input(kFilled).Reshaped({sizes.queries.batch, 1, 1, 1});
    sight.Demand(Joined(kLess, keys, filled));
    queries = queries + (filled - static_cast<double>(sizes.queries.positions));
  }
  if (options.causal) sight.Demand(Joined(kLessEqual, keys, queries));
  if (options.left >= 0) {
    sight.Demand(Joined(kGreaterEqual, keys,
                        queries - static_cast<double>(options.left)));
  }
  if (options.right >= 0) {
    sight.Demand(
        Joined(kLessEqual, keys, queries + static_cast<double>(options.right)));
  }
}

// What is added to scores; nullopt if every query sees all keys.
std::optional<Expr> Bias(Composition& c, const AttentionSizes& sizes,
                         const AttentionAttributes& options) {
  const DType dtype = c.node().type(kQueries).dtype;
  Sight sight(c);
  std::optional<Expr> added;
  if (c.node().has_input(kMask)) {
    const Expr mask = WholeMask(c, sizes.total());
    if (mask.dtype() == DType::kBool) {
      sight.Demand(mask);
    } else {
      added = mask.Cast(dtype);
    }
  }
  DemandPositions(c, sizes, options, sight);
  return sight.Bias(dtype, added);
}

// If only order hides keys, every query sees the first key.
bool AllSeeSomething(const NodeImport& node,
                     const AttentionAttributes& options) {
  return !node.has_input(kMask) && !node.has_input(kFilled) &&
         options.left < 0 && options.right < 0;
}

// --- the computation ---

// Stacks the rows of all the queries that share a head of keys.
Expr Grouped(Expr x, const AttentionSizes& s) {
  if (s.group() == 1) return x;
  return x.Reshaped({x.dim(0), s.keys.heads, s.group() * x.dim(2), x.dim(3)});
}
Expr Ungrouped(Expr x, const AttentionSizes& s) {
  if (s.group() == 1) return x;
  return x.Reshaped({x.dim(0), s.queries.heads, s.queries.positions, x.dim(3)});
}

Expr WithPast(Composition& c, Input input, const HeadSizes& sizes, Input past) {
  const Expr fresh = InHeads(c.Input(input), sizes);
  if (!c.node().has_input(past)) return fresh;
  return Concatenated({c.Input(past), fresh}, 2);
}

// The softmax of capped and masked products; sets the output that returns them.
class Probabilities {
 public:
  Probabilities(Composition& c, const AttentionSizes& sizes,
                const AttentionAttributes& options)
      : c_(c), options_(options), bias_(Bias(c, sizes, options)) {
    if (!bias_.has_value() || AllSeeSomething(c.node(), options)) return;
    const Expr top = bias_->Apply(
        kReduceMax, {{"axes", std::vector<int64_t>{bias_->rank() - 1}},
                     {"keep_dims", true}});
    blind_ = Joined(kEqual, top, -kInfinity);
  }

  // Rows of queries without keys are NaN.
  Expr Of(Expr products) const {
    Show(AttentionStage::kProducts, products);
    Expr scores = products;
    if (options_.softcap > 0) {
      scores = (scores / options_.softcap).Apply(kTanh) * options_.softcap;
    }
    Show(AttentionStage::kCapped, scores);
    if (bias_.has_value()) scores = scores + *bias_;
    Show(AttentionStage::kMasked, scores);
    const Expr probabilities = scores.Cast(options_.softmax_dtype)
                                   .Apply(kSoftmax, {{"axis", int64_t{-1}}})
                                   .Cast(products.dtype());
    if (Shows(AttentionStage::kProbabilities))
      Show(AttentionStage::kProbabilities, Seeing(probabilities));
    return probabilities;
  }

  // Sets the rows of queries without keys to zero.
  Expr Seeing(Expr x) const {
    return blind_.has_value() ? Choose(*blind_, c_.Scalar(x.dtype(), 0), x) : x;
  }

 private:
  bool Shows(AttentionStage stage) const {
    return options_.stage == stage && c_.node().has_output(kScores);
  }
  void Show(AttentionStage stage, Expr value) const {
    if (Shows(stage)) c_.Set(kScores, value);
  }

  Composition& c_;
  const AttentionAttributes& options_;
  std::optional<Expr> bias_;
  std::optional<Expr> blind_;  // [.., queries, 1]
};

// True if the node computes f32 and returns no scores.
bool IsOneOp(const NodeImport& node, const AttentionAttributes& options) {
  return node.type(kQueries).dtype == DType::kF32 &&
         node.type(kValues).dtype == DType::kF32 &&
         options.softmax_dtype == DType::kF32 && !node.has_output(kScores);
}

// If only order hides keys, an attribute says so; for counts, a mask.
Attributes OpAttributes(const NodeImport& node, const AttentionSizes& sizes,
                        const AttentionAttributes& options) {
  Attributes attributes = {{"scale", options.scale},
                           {"softcap", options.softcap},
                           {"zero_blind", !AllSeeSomething(node, options)}};
  if (options.causal && !node.has_input(kFilled)) {
    attributes.Set("causal", true);
    attributes.Set("past", sizes.past);
  }
  return attributes;
}

Expr OneOp(Composition& c, const AttentionSizes& sizes,
           const AttentionAttributes& options, absl::Span<const Expr> operands,
           bool positions_first) {
  AttentionAttributes masked = options;
  masked.causal = options.causal && c.node().has_input(kFilled);
  Attributes attributes = OpAttributes(c.node(), sizes, options);
  attributes.Set("positions_first", positions_first);
  std::vector<Expr> all(operands.begin(), operands.end());
  const std::optional<Expr> bias = Bias(c, sizes, masked);
  if (bias.has_value()) all.push_back(*bias);
  return c.Add(kAttention, all, std::move(attributes));
}

// Inputs [batch, positions, heads * size] that no other output needs.
bool StaysPacked(const NodeImport& node) {
  return node.rank(kQueries) == 3 && node.rank(kKeys) == 3 &&
         node.rank(kValues) == 3 && !node.has_input(kPastKeys) &&
         !node.has_output(kPresentKeys) && !node.has_output(kPresentValues);
}

absl::Status PackedAttention(Composition& c, const AttentionSizes& sizes,
                             const AttentionAttributes& options) {
  const auto rows = [&](Input input, const HeadSizes& s) {
    return c.Input(input).Reshaped({s.batch, s.positions, s.heads, s.size});
  };
  const Expr result =
      OneOp(c, sizes, options,
            {rows(kQueries, sizes.queries), rows(kKeys, sizes.keys),
             rows(kValues, sizes.values)},
            /*positions_first=*/true);
  return c.Return(result.Reshaped(
      {result.dim(0), result.dim(1), result.dim(2) * result.dim(3)}));
}

// Only queries are scaled: they are fewer than keys if keys are cached.
Expr Composed(Composition& c, const AttentionSizes& sizes,
              const AttentionAttributes& options, Expr queries, Expr keys,
              Expr values) {
  const Expr products =
      Product(Grouped(queries * options.scale, sizes), keys, false, true);
  const Probabilities probabilities(c, sizes, options);
  const Expr means =
      Product(Grouped(probabilities.Of(Ungrouped(products, sizes)), sizes),
              values.Cast(queries.dtype()));
  return probabilities.Seeing(Ungrouped(means, sizes));
}

absl::Status Attention(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const AttentionSizes sizes, ReadSizes(node));
  PARTITA_ASSIGN_OR_RETURN(const AttentionAttributes options,
                           ReadAttentionAttributes(node, sizes.queries.size));
  Composition c(node);
  const bool one_op = IsOneOp(node, options);
  if (one_op && StaysPacked(node)) return PackedAttention(c, sizes, options);
  const Expr queries = InHeads(c.Input(kQueries), sizes.queries);
  const Expr keys = WithPast(c, kKeys, sizes.keys, kPastKeys);
  const Expr values = WithPast(c, kValues, sizes.values, kPastValues);
  c.Set(kPresentKeys, keys);
  c.Set(kPresentValues, values);
  const Expr result = one_op
                          ? OneOp(c, sizes, options, {queries, keys, values},
                                  /*positions_first=*/false)
                          : Composed(c, sizes, options, queries, keys, values);
  return c.Return(node.rank(kQueries) == 3 ? Packed(result) : result);
}

constexpr ConverterRow kRows[] = {
    {"Attention", Attention, 3, 4,
     "is_causal kv_num_heads left_window_size q_num_heads "
     "qk_matmul_output_mode right_window_size scale softcap "
     "softmax_precision"},
};

}  // namespace

extern constinit const ConverterFamily kAttentionConverters = {kRows};

}  // namespace partita
