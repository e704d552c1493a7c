// The batch's statistics, and the running ones.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/batch_norm_training.h"

#include "absl/strings/str_cat.h"
#include "graph/builder/ops.h"

namespace partita {
namespace {

// What normalises, of each part of the batch.
struct Statistics {
  Tensor mean;
  Tensor variance;  // biased
};

// A sum, of which parts can be computed apart, as a mean can not.
Tensor MeanOver(Tensor x, const Ints& axes, int64_t count) {
  return ReduceSum(x, axes, /*keep_dims=*/true) *
         (1 / static_cast<double>(count));
}

// All axes but that of the channels and those before the examples.
Ints OtherAxes(const Tensor& x, int examples) {
  Ints axes = {examples};
  for (int d = examples + 2; d < x.rank(); ++d) axes.push_back(d);
  return axes;
}

Statistics StatisticsOver(Tensor x, const Ints& axes, int64_t count) {
  const Tensor mean = MeanOver(x, axes, count);
  const Tensor centred = x - mean;
  return {mean, MeanOver(centred * centred, axes, count)};
}

void MoveToward(const std::string& variable, Tensor value, double momentum) {
  if (!value.valid()) return;
  GraphBuilder& b = *value.builder();
  const Tensor old = b.ReadVariable(variable);
  b.Update(variable, old * (1 - momentum) + value * momentum);
}

// The layer's variables, and how far they move.
struct Running {
  const std::string& mean;
  const std::string& variance;
  double momentum;
};

// `of` [channels], over `count` elements each.
void Update(const Running& running, const Statistics& of, int64_t count) {
  const double unbiased =
      static_cast<double>(count) / static_cast<double>(count - 1);
  MoveToward(running.mean, of.mean, running.momentum);
  MoveToward(running.variance, of.variance * unbiased, running.momentum);
}

Tensor OfWholeBatch(Tensor x, Tensor scale, Tensor bias, const Running& running,
                    double epsilon) {
  const Ints channels = {x.dim(1)};
  const int64_t count = x.type().num_elements() / x.dim(1);
  const Statistics of = StatisticsOver(x, OtherAxes(x, 0), count);
  const Statistics flat = {Reshape(of.mean, channels),
                           Reshape(of.variance, channels)};
  Update(running, flat, count);
  return BatchNorm(x, scale, bias, flat.mean, flat.variance, epsilon);
}

// [n, channels, d...] as [parts, n / parts, channels, d...].
Tensor InParts(Tensor x, int parts) {
  Ints dims(x.type().dims.begin(), x.type().dims.end());
  dims[0] /= parts;
  dims.insert(dims.begin(), parts);
  return Reshape(x, dims);
}

// [channels] beside [parts, n, channels, d...].
Tensor PerChannel(Tensor x, int rank) {
  Ints dims(rank, 1);
  dims[2] = x.dim(0);
  return Reshape(x, dims);
}

// The first part's statistics, as [channels].
Tensor OfFirstPart(Tensor x) { return Reshape(Slice(x, 0, 0, 1), {x.dim(2)}); }

Tensor OfEachPart(Tensor x, Tensor scale, Tensor bias, const Running& running,
                  double epsilon, int parts) {
  const Tensor apart = InParts(x, parts);
  const int64_t count = x.type().num_elements() / x.dim(1) / parts;
  const Statistics of = StatisticsOver(apart, OtherAxes(apart, 1), count);
  Update(running, {OfFirstPart(of.mean), OfFirstPart(of.variance)}, count);
  const Tensor unit = (apart - of.mean) / Sqrt(of.variance + epsilon);
  const Tensor y =
      unit * PerChannel(scale, apart.rank()) + PerChannel(bias, apart.rank());
  return Reshape(y, Ints(x.type().dims.begin(), x.type().dims.end()));
}

bool PartsFit(const Tensor& x, int parts) {
  if (parts < 1 || x.rank() < 2 || x.dim(1) == 0) return false;
  return x.dim(0) % parts == 0 &&
         x.type().num_elements() / x.dim(1) / parts >= 2;
}

}  // namespace

Tensor BatchNormTraining(Tensor x, Tensor scale, Tensor bias,
                         const std::string& mean, const std::string& variance,
                         BatchNormTrainingOptions options, CallSite site) {
  const GraphBuilder::At caller(x.builder(), site);
  if (!x.valid()) return {};
  const int parts = options.parts;
  if (!PartsFit(x, parts)) {
    x.builder()->Fail(absl::StrCat(
        "batch norm in training: found ", x.type().ToString(), " in ", parts,
        parts == 1 ? " part" : " parts",
        "; expected [n, channels, ...] of equal parts with two elements a "
        "channel or more; use another batch"));
    return {};
  }
  const Running running = {mean, variance, options.momentum};
  return parts == 1
             ? OfWholeBatch(x, scale, bias, running, options.epsilon)
             : OfEachPart(x, scale, bias, running, options.epsilon, parts);
}

}  // namespace partita
