// Masks of random numbers.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/dropout.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/builder/ops.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

Tensor Masked(Tensor x, Ints mask_dims, double probability,
              const Randomness& random) {
  GraphBuilder& b = *x.builder();
  if (!(probability >= 0 && probability <= 1)) {
    b.Fail(absl::StrCat("dropout: found the probability ", probability,
                        "; expected 0..1; correct it"));
    return {};
  }
  const Tensor uniform =
      Op(kRandomUniform, {random.seed, random.step},
         {{"shape", std::move(mask_dims)}, {"id", b.NextRandomId()}});
  const Tensor kept = Cast(GreaterEqual(uniform, probability),
                           x.valid() ? x.type().dtype : DType::kF32);
  // If nothing is kept, there is nothing to scale.
  const double scale = probability == 1 ? 1 : 1 / (1 - probability);
  return x * (kept * scale);
}

}  // namespace

Tensor CountSteps(GraphBuilder& b, const std::string& name, CallSite site) {
  const GraphBuilder::At caller(&b, site);
  const Tensor step =
      b.Variable(name, HostTensor({DType::kU64, {}, {}}), false);
  b.Update(name, Add(step, 1));
  return step;
}

Randomness RandomOfSteps(GraphBuilder& b, uint64_t seed, Tensor step,
                         CallSite site) {
  const GraphBuilder::At caller(&b, site);
  HostTensor value({DType::kU64, {}, {}});
  value.data<uint64_t>()[0] = seed;
  return {b.Constant(std::move(value)), step};
}

Tensor Dropout(Tensor x, double probability, const Randomness& random,
               CallSite site) {
  const GraphBuilder::At caller(x.builder(), site);
  if (!x.valid()) return {};
  const Shape& dims = x.type().dims;
  return Masked(x, Ints(dims.begin(), dims.end()), probability, random);
}

Tensor Dropout2d(Tensor x, double probability, const Randomness& random,
                 CallSite site) {
  const GraphBuilder::At caller(x.builder(), site);
  if (!x.valid()) return {};
  if (x.rank() < 2) {
    x.builder()->Fail(absl::StrCat("dropout2d: found ", x.type().ToString(),
                                   "; expected [n, channels, ...]; use "
                                   "Dropout"));
    return {};
  }
  Ints dims(x.rank(), 1);
  dims[0] = x.dim(0);
  dims[1] = x.dim(1);
  return Masked(x, std::move(dims), probability, random);
}

}  // namespace partita
