// The batch's statistics, and the running ones.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/batch_norm_training.h"

#include "absl/strings/str_cat.h"
#include "graph/builder/ops.h"

namespace partita {
namespace {

// A sum, of which parts can be computed apart, as a mean can not.
Tensor MeanOver(Tensor x, const Ints& axes, int64_t count) {
  return ReduceSum(x, axes, /*keep_dims=*/true) *
         (1 / static_cast<double>(count));
}

// All axes but that of the channels.
Ints OtherAxes(const Tensor& x) {
  Ints axes = {0};
  for (int d = 2; d < x.rank(); ++d) axes.push_back(d);
  return axes;
}

void MoveToward(const std::string& variable, Tensor value, double momentum) {
  if (!value.valid()) return;
  GraphBuilder& b = *value.builder();
  const Tensor old = b.ReadVariable(variable);
  b.Update(variable, old * (1 - momentum) + value * momentum);
}

}  // namespace

Tensor BatchNormTraining(Tensor x, Tensor scale, Tensor bias,
                         const std::string& mean, const std::string& variance,
                         BatchNormTrainingOptions options, CallSite site) {
  const GraphBuilder::At caller(x.builder(), site);
  if (!x.valid()) return {};
  const int64_t count =
      x.rank() < 2 || x.dim(1) == 0 ? 0 : x.type().num_elements() / x.dim(1);
  if (count < 2) {
    x.builder()->Fail(
        absl::StrCat("batch norm in training: found ", x.type().ToString(),
                     "; expected [n, channels, ...] of two elements a "
                     "channel or more; use a larger batch"));
    return {};
  }
  const Ints axes = OtherAxes(x);
  const Tensor batch_mean = MeanOver(x, axes, count);
  const Tensor centred = x - batch_mean;
  const Tensor batch_variance = MeanOver(centred * centred, axes, count);
  const Ints channels = {x.dim(1)};
  const Tensor flat_mean = Reshape(batch_mean, channels);
  const Tensor flat_variance = Reshape(batch_variance, channels);
  const double unbiased =
      static_cast<double>(count) / static_cast<double>(count - 1);
  MoveToward(mean, flat_mean, options.momentum);
  MoveToward(variance, flat_variance * unbiased, options.momentum);
  return BatchNorm(x, scale, bias, flat_mean, flat_variance, options.epsilon);
}

}  // namespace partita
