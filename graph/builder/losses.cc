// Losses as graphs.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/losses.h"

#include "absl/strings/str_cat.h"
#include "graph/builder/ops.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

Ints AllAxes(const Tensor& x) {
  Ints axes;
  for (int d = 0; d < x.rank(); ++d) axes.push_back(d);
  return axes;
}

Tensor SumOfAll(Tensor x) {
  return x.valid() ? ReduceSum(x, AllAxes(x), /*keep_dims=*/false) : x;
}

bool AreScoresOf(const Tensor& scores, const Tensor& labels) {
  if (scores.rank() != labels.rank() + 1 || labels.rank() < 1) return false;
  Shape dims = labels.type().dims;
  dims.insert(dims.begin() + 1, scores.dim(1));
  return scores.type().dims == dims;
}

// The log-probability of each example's label: [n, d...]. A label out of range
// ends the step.
Tensor PickLabels(Tensor log_probabilities, Tensor labels) {
  if (!labels.valid()) return {};
  const Shape& dims = labels.type().dims;
  Ints flat(dims.begin(), dims.end());
  Ints column = flat;
  column.insert(column.begin() + 1, 1);
  const Tensor picked =
      Op(kGatherElements, {log_probabilities, Reshape(labels, column)},
         {{"axis", 1}, {"from_end", false}});
  return Reshape(picked, flat);
}

// The elements with a target that is not NaN.
Tensor MeanSquareOfKnown(Tensor difference, Tensor target) {
  const Tensor unknown = Op(kIsNan, {target});
  const Tensor zero = difference.builder()->Scalar(difference.type().dtype, 0);
  const Tensor known = Select(unknown, zero, difference);
  const Tensor counted = 1 - Cast(unknown, difference.type().dtype);
  return SumOfAll(known * known) / SumOfAll(counted);
}

}  // namespace

Tensor NllLoss(Tensor log_probabilities, Tensor labels,
               ClassLossOptions options, CallSite site) {
  const GraphBuilder::At caller(labels.builder(), site);
  if (!log_probabilities.valid() || !labels.valid()) return {};
  if (!AreScoresOf(log_probabilities, labels)) {
    labels.builder()->Fail(
        absl::StrCat("loss: found labels ", labels.type().ToString(), " for ",
                     log_probabilities.type().ToString(),
                     "; expected [n, d...] for [n, classes, d...]; "
                     "reshape one of them"));
    return {};
  }
  const double smoothing = options.label_smoothing;
  const Tensor ignored =
      Equal(labels, static_cast<double>(options.ignore_index));
  const Tensor counted = 1 - Cast(ignored, log_probabilities.type().dtype);
  // An ignored example may use any class.
  const Tensor zero = labels.builder()->Scalar(labels.type().dtype, 0);
  const Tensor picked =
      PickLabels(log_probabilities, Select(ignored, zero, labels));
  Tensor likelihood = picked;
  if (smoothing != 0) {
    likelihood = picked * (1 - smoothing) +
                 ReduceMean(log_probabilities, {1}, false) * smoothing;
  }
  // Not a product: 0 times the infinite gradient of an empty mean is a NaN.
  const Tensor none =
      labels.builder()->Scalar(log_probabilities.type().dtype, 0);
  return -SumOfAll(Select(ignored, none, likelihood)) / SumOfAll(counted);
}

Tensor CrossEntropyLoss(Tensor scores, Tensor labels, ClassLossOptions options,
                        CallSite site) {
  const GraphBuilder::At caller(labels.builder(), site);
  return NllLoss(LogSoftmax(scores, 1), labels, options);
}

Tensor MseLoss(Tensor x, Tensor target, SquareLossOptions options,
               CallSite site) {
  const GraphBuilder::At caller(x.builder(), site);
  const Tensor difference = Sub(x, target);
  if (!difference.valid()) return {};
  if (options.ignore_nan) return MeanSquareOfKnown(difference, target);
  // A sum, not a mean: a sum can be sharded.
  return SumOfAll(difference * difference) /
         static_cast<double>(difference.type().num_elements());
}

}  // namespace partita
