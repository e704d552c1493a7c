// ONNX's classification losses.
// SPDX-License-Identifier: Apache-2.0

#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// Scores [n, classes, d...], labels [n, d...], and a weight per class.
absl::Status CheckOperands(const NodeImport& node) {
  const TensorType& scores = node.type(0);
  if (scores.rank() < 2) {
    return node.Invalid(scores.ToString(), "scores of rank 2 and more");
  }
  Shape labels = scores.dims;
  labels.erase(labels.begin() + 1);
  if (node.type(1).dims != labels) {
    return OfExtents(
        node.Invalid(absl::StrCat("labels ", node.type(1).ToString()),
                     absl::StrCat("the extents of the scores ",
                                  scores.ToString(), " without dimension 1")));
  }
  if (node.has_input(2) && node.type(2).dims != Shape{scores.dims[1]}) {
    return node.Invalid(absl::StrCat("weights ", node.type(2).ToString()),
                        absl::StrCat(scores.dims[1], ", one per class"));
  }
  return absl::OkStatus();
}

// The weight of each label, or nullopt if all are 1. Ignored labels, which may
// be no class, have weight 0; `kept` says which are not ignored.
std::optional<Expr> WeightsOf(Composition& c, Expr labels,
                              std::optional<Expr> kept, DType dtype) {
  std::optional<Expr> weights;
  if (c.node().has_input(2)) weights = c.Input(2).Gathered(labels, 0);
  if (!kept.has_value()) return weights;
  if (!weights.has_value()) return kept->Cast(dtype);
  return Choose(*kept, *weights, c.Scalar(weights->dtype(), 0));
}

absl::StatusOr<Expr> Joined(Composition& c, Expr losses,
                            std::optional<Expr> weights) {
  PARTITA_ASSIGN_OR_RETURN(
      const std::string reduction,
      c.node().Choice("reduction", "mean", {"none", "sum", "mean"}));
  std::vector<int64_t> all(losses.rank());
  std::iota(all.begin(), all.end(), 0);
  if (reduction == "none") return losses;
  if (reduction == "sum") return losses.Sum(all, /*keep_dims=*/false);
  if (!weights.has_value()) return losses.Mean(all, /*keep_dims=*/false);
  return losses.Sum(all, /*keep_dims=*/false) /
         weights->Sum(all, /*keep_dims=*/false);
}

// -weight[label] * log_probabilities[label], reduced.
absl::Status SetLoss(Composition& c, Expr log_probabilities) {
  NodeImport& node = c.node();
  Expr labels = c.Input(1);
  std::optional<Expr> kept;
  const int64_t ignored = node.Int("ignore_index", 0);
  if (node.has_attr("ignore_index")) {
    kept = Joined(kNotEqual, labels, static_cast<double>(ignored));
    labels = Choose(*kept, labels, c.Scalar(labels.dtype(), 0));
  }
  Expr losses =
      c.Add(kGatherElements, {log_probabilities, labels.Unsqueezed(1)},
            {{"axis", int64_t{1}}, {"from_end", false}})
          .Squeezed(1)
          .Apply(kNeg);
  const std::optional<Expr> weights =
      WeightsOf(c, labels, kept, losses.dtype());
  if (node.has_input(2)) losses = losses * *weights;
  // Not a product, since 0 times an infinite loss is NaN.
  if (kept.has_value()) {
    losses = Choose(*kept, losses, c.Scalar(losses.dtype(), 0));
  }
  PARTITA_ASSIGN_OR_RETURN(const Expr loss, Joined(c, losses, weights));
  return c.Return(loss);
}

absl::Status NegativeLogLikelihood(NodeImport& node) {
  PARTITA_RETURN_IF_ERROR(CheckOperands(node));
  Composition c(node);
  return SetLoss(c, c.Input(0));
}

absl::Status SoftmaxCrossEntropy(NodeImport& node) {
  PARTITA_RETURN_IF_ERROR(CheckOperands(node));
  Composition c(node);
  const Expr log_probabilities =
      c.Input(0).Apply(kLogSoftmax, {{"axis", int64_t{1}}});
  c.Set(1, log_probabilities);
  return SetLoss(c, log_probabilities);
}

constexpr ConverterRow kRows[] = {
    {"NegativeLogLikelihoodLoss", NegativeLogLikelihood, 2, 1,
     "ignore_index reduction"},
    {"SoftmaxCrossEntropyLoss", SoftmaxCrossEntropy, 2, 2,
     "ignore_index reduction"},
};

}  // namespace

extern constinit const ConverterFamily kLossConverters = {kRows};

}  // namespace partita
