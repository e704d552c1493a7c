// Clipping and accumulation as graphs.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/parameter_gradients.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/builder/ops.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

Tensor SumOfSquares(Tensor x) {
  if (!x.valid()) return {};
  Ints axes;
  for (int d = 0; d < x.rank(); ++d) axes.push_back(d);
  return Op(kReduceSumSquare, {x}, {{"axes", axes}, {"keep_dims", false}});
}

// Nodes for one parameter are in the scope of its layer.
GraphBuilder::Scope ScopeOf(const Parameter& parameter) {
  const Tensor value = parameter.value;
  return GraphBuilder::Scope(*parameter.gradient.builder(),
                             value.valid() ? value.scope() : "");
}

// In f32 at least: squares of halves overflow.
Tensor SquaredNorm(const Parameter& parameter) {
  const GraphBuilder::Scope scope = ScopeOf(parameter);
  const Tensor gradient = parameter.gradient;
  const DType dtype =
      gradient.type().dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  return Cast(SumOfSquares(Cast(gradient, dtype)), DType::kF64);
}

std::string SumName(const Parameter& parameter) {
  return absl::StrCat(parameter.variable, ".gradient");
}

}  // namespace

std::vector<Parameter> ClipByNorm(std::vector<Parameter> parameters,
                                  double max_norm, CallSite site) {
  if (parameters.empty()) return parameters;
  const GraphBuilder::At caller(parameters[0].gradient.builder(), site);
  Tensor squares;
  for (const Parameter& parameter : parameters) {
    if (!parameter.gradient.valid()) return parameters;
    const Tensor one = SquaredNorm(parameter);
    squares = squares.valid() ? squares + one : one;
  }
  const Tensor scale = Min(max_norm / (Sqrt(squares) + 1e-6), 1);
  for (Parameter& parameter : parameters) {
    const GraphBuilder::Scope scope = ScopeOf(parameter);
    parameter.gradient =
        parameter.gradient * Cast(scale, parameter.gradient.type().dtype);
  }
  return parameters;
}

void AccumulateGradients(absl::Span<const Parameter> parameters,
                         CallSite site) {
  if (parameters.empty()) return;
  const GraphBuilder::At caller(parameters[0].gradient.builder(), site);
  for (const Parameter& parameter : parameters) {
    if (!parameter.gradient.valid()) return;
    GraphBuilder& b = *parameter.gradient.builder();
    const GraphBuilder::Scope scope = ScopeOf(parameter);
    const Tensor sum =
        b.Variable(SumName(parameter), HostTensor(parameter.gradient.type()),
                   /*trainable=*/false);
    b.Update(SumName(parameter), sum + parameter.gradient);
  }
}

std::vector<Parameter> AccumulatedGradients(
    GraphBuilder& b, absl::Span<const Parameter> parameters, int64_t batches,
    CallSite site) {
  const GraphBuilder::At caller(&b, site);
  std::vector<Parameter> means;
  for (const Parameter& parameter : parameters) {
    const Tensor sum = b.ReadVariable(SumName(parameter));
    if (!sum.valid()) return means;
    means.push_back({parameter.variable, b.ReadVariable(parameter.variable),
                     sum / static_cast<double>(batches)});
    b.Update(SumName(parameter), b.Constant(HostTensor(sum.type())));
  }
  return means;
}

}  // namespace partita
