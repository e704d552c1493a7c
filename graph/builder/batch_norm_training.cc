// The statistics of the batch, and the running statistics.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/batch_norm_training.h"

#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/ops.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

// The statistics that normalise each shard of the batch.
struct Statistics {
  Tensor mean;
  Tensor variance;  // biased
};

// The sums of x and of its squares, in f64, so that subtracting the squared
// mean loses no digits. One pass over x gives both, and replicas need one
// collective.
struct Moments {
  Tensor sum;
  Tensor squares;
};

Moments MomentsOver(Tensor x, const Ints& axes) {
  const std::vector<Tensor> moments =
      x.builder()->Ops(kMoments, {x}, {{"axes", axes}});
  if (moments.empty()) return {};
  return {moments[0], moments[1]};
}

// For equal elements rounding may give a negative variance.
Statistics StatisticsOf(const Moments& of, int64_t count, DType dtype) {
  const double inverse_count = 1 / static_cast<double>(count);
  const Tensor mean = of.sum * inverse_count;
  const Tensor variance = Clip(of.squares * inverse_count - mean * mean, 0,
                               std::numeric_limits<double>::infinity());
  return {Cast(mean, dtype), Cast(variance, dtype)};
}

void MoveToward(const std::string& variable, Tensor value, double momentum) {
  if (!value.valid()) return;
  GraphBuilder& b = *value.builder();
  const Tensor old = b.ReadVariable(variable);
  b.Update(variable, old * (1 - momentum) + value * momentum);
}

// Moves the layer's running statistics.
struct Running {
  const std::string& mean;
  const std::string& variance;
  double momentum;
};

// `of` has dimensions [channels]; each is over `count` elements.
void Update(const Running& running, const Statistics& of, int64_t count) {
  const double unbiased =
      static_cast<double>(count) / static_cast<double>(count - 1);
  MoveToward(running.mean, of.mean, running.momentum);
  MoveToward(running.variance, of.variance * unbiased, running.momentum);
}

Tensor OfWholeBatch(Tensor x, Tensor scale, Tensor bias, const Running& running,
                    double epsilon) {
  Ints axes = {0};
  for (int d = 2; d < x.rank(); ++d) axes.push_back(d);
  const int64_t count = x.type().num_elements() / x.dim(1);
  const Statistics of =
      StatisticsOf(MomentsOver(x, axes), count, x.type().dtype);
  const Statistics flat = {Reshape(of.mean, {x.dim(1)}),
                           Reshape(of.variance, {x.dim(1)})};
  Update(running, flat, count);
  return BatchNorm(x, scale, bias, flat.mean, flat.variance, epsilon);
}

// The shards of a batch of x, each with its own statistics. Uses the extents of
// x, as tensors computed from it may be invalid.
class Shards {
 public:
  Shards(const Tensor& x, int count)
      : count_(count), examples_(x.dim(0)), channels_(x.dim(1)) {
    spread_.resize(x.rank(), 1);
    spread_[0] = examples_;
    spread_[1] = channels_;
  }

  // Sums [n, channels, 1...] over each shard's examples: [shards, 1, channels].
  Tensor Sum(Tensor of_examples) const {
    const Tensor in_shards = Reshape(of_examples, InShards());
    return ReduceSum(in_shards, {1}, /*keep_dims=*/true);
  }

  // Repeats a shard's values for each of its examples: [n, channels, 1...].
  Tensor ForExamples(Tensor of_shards) const {
    const Tensor repeated = Op(kExpand, {of_shards}, {{"shape", InShards()}});
    return Reshape(repeated, spread_);
  }

  // Reshapes to [channels].
  Tensor First(Tensor of_shards) const {
    return Reshape(Slice(of_shards, 0, 0, 1), {channels_});
  }

 private:
  Ints InShards() const { return {count_, examples_ / count_, channels_}; }

  int64_t count_, examples_, channels_;
  Ints spread_;
};

// Sums over each example, then over the examples of a shard, so that nothing as
// large as x is reordered: [shards, 1, channels].
Moments MomentsOfShards(Tensor x, const Shards& shards) {
  Ints axes;
  for (int d = 2; d < x.rank(); ++d) axes.push_back(d);
  const Moments each = MomentsOver(x, axes);
  return {shards.Sum(each.sum), shards.Sum(each.squares)};
}

// (x - mean) factor + bias, with a factor for each shard and channel. The
// mean's gradient flows through a term of the shift that is 0, not through x -
// mean. So the gradient needs only two sums over elements, of dy and of dy (x -
// mean). All other terms have one element for each example and channel.
Tensor OfEachShard(Tensor x, Tensor scale, Tensor bias, const Running& running,
                   double epsilon, int num_shards) {
  const Shards shards(x, num_shards);
  const DType dtype = x.type().dtype;
  const int64_t count = x.type().num_elements() / x.dim(1) / num_shards;
  const Statistics of = StatisticsOf(MomentsOfShards(x, shards), count, dtype);
  Update(running, {shards.First(of.mean), shards.First(of.variance)}, count);
  const Tensor centre = StopGradient(of.mean);
  const Tensor factor = Cast(scale, dtype) / Sqrt(of.variance + epsilon);
  const Tensor shift = Cast(bias, dtype) - (of.mean - centre) * factor;
  return (x - shards.ForExamples(centre)) * shards.ForExamples(factor) +
         shards.ForExamples(shift);
}

bool ShardsFit(const Tensor& x, int shards) {
  if (shards < 1 || x.rank() < 2 || x.dim(1) == 0) return false;
  return x.dim(0) % shards == 0 &&
         x.type().num_elements() / x.dim(1) / shards >= 2;
}

}  // namespace

Tensor BatchNormTraining(Tensor x, Tensor scale, Tensor bias,
                         const std::string& mean, const std::string& variance,
                         BatchNormTrainingOptions options, CallSite site) {
  const GraphBuilder::At caller(x.builder(), site);
  if (!x.valid() || !scale.valid() || !bias.valid()) return {};
  const int shards = options.shards;
  if (!ShardsFit(x, shards)) {
    x.builder()->Fail(absl::StrCat(
        "batch norm in training: found ", x.type().ToString(), " in ", shards,
        shards == 1 ? " shard" : " shards",
        "; expected [n, channels, ...] of equal shards with two elements a "
        "channel or more; use another batch"));
    return {};
  }
  for (const Tensor& of_channels : {scale, bias}) {
    if (of_channels.type().dims == Shape{x.dim(1)}) continue;
    x.builder()->Fail(absl::StrCat(
        "batch norm in training: found a scale or bias ",
        of_channels.type().ToString(), " for ", x.type().ToString(),
        "; expected [", x.dim(1), "], an element for each channel"));
    return {};
  }
  const Running running = {mean, variance, options.momentum};
  return shards == 1
             ? OfWholeBatch(x, scale, bias, running, options.epsilon)
             : OfEachShard(x, scale, bias, running, options.epsilon, shards);
}

}  // namespace partita
