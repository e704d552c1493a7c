// Optimizers as graphs.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/optimizers.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/builder/ops.h"

namespace partita {
namespace {

// Builds a parameter's update in the scope that reads the parameter, so that a
// pin of the layer also applies to its update.
class ParameterStep {
 public:
  explicit ParameterStep(const Parameter& parameter) : parameter_(parameter) {
    if (value().valid()) scope_.emplace(builder(), value().scope());
  }

  Tensor value() const { return parameter_.value; }

  // The gradient plus the term of an L2 penalty.
  Tensor Gradient(double weight_decay) const {
    if (weight_decay == 0) return parameter_.gradient;
    return parameter_.gradient + value() * weight_decay;
  }

  // A scalar in the parameter's dtype.
  Tensor Scalar(Tensor scalar) const {
    return value().valid() ? Cast(scalar, value().type().dtype) : Tensor();
  }

  // The state of this name from the last step.
  Tensor Kept(const char* name) const {
    if (!value().valid()) return {};
    if (builder().HasVariable(StateName(name))) {
      builder().Fail(absl::StrCat(
          "variable @", StateName(name), ": found it in the model, and the ",
          "optimizer keeps the ", name, " of @", parameter_.variable,
          " by that name; expected no such variable; rename it, in ONNX the "
          "initializer, or take another optimizer"));
      return {};
    }
    return builder().Variable(StateName(name), HostTensor(value().type()),
                              /*trainable=*/false);
  }
  void Keep(const char* name, Tensor next) const {
    if (next.valid()) builder().Update(StateName(name), next);
  }
  void Become(Tensor next) const {
    if (next.valid()) builder().Update(parameter_.variable, next);
  }

  // The moving average of x under this name; `keep` is the weight of the old
  // average.
  Tensor Average(const char* name, double keep, Tensor x) const {
    const Tensor next = Kept(name) * keep + x * (1 - keep);
    Keep(name, next);
    return next;
  }

  // momentum times the last direction, plus this one.
  Tensor WithMomentum(double momentum, Tensor direction) const {
    const Tensor next = Kept("momentum") * momentum + direction;
    Keep("momentum", next);
    return next;
  }

 private:
  GraphBuilder& builder() const { return *value().builder(); }
  std::string StateName(const char* name) const {
    return absl::StrCat(parameter_.variable, ".", name);
  }

  const Parameter& parameter_;
  std::optional<GraphBuilder::Scope> scope_;
};

// Learning rate and corrections of Adam's moments, in f64: 1 - beta^t has few
// digits in f32.
struct AdamScales {
  Tensor rate;  // learning rate / (1 - beta1^t)
  Tensor root;  // sqrt(1 - beta2^t)
};
AdamScales ScalesOf(Tensor learning_rate, Tensor step,
                    const AdamOptions& options) {
  const Tensor t = Cast(step, DType::kF64) + 1;
  const auto correction = [&](double beta) { return 1 - Pow(beta, t); };
  return {Cast(learning_rate, DType::kF64) / correction(options.beta1),
          Sqrt(correction(options.beta2))};
}

void AdamStep(const ParameterStep& p, Tensor start, Tensor gradient,
              const AdamScales& scales, const AdamOptions& options) {
  const Tensor mean = p.Average("mean", options.beta1, gradient);
  const Tensor square = p.Average("square", options.beta2, gradient * gradient);
  const Tensor root = Sqrt(square) / p.Scalar(scales.root) + options.epsilon;
  p.Become(start - p.Scalar(scales.rate) * mean / root);
}

}  // namespace

void Sgd(absl::Span<const Parameter> parameters, Tensor learning_rate,
         SgdOptions options, CallSite site) {
  const GraphBuilder::At caller(learning_rate.builder(), site);
  for (const Parameter& parameter : parameters) {
    const ParameterStep p(parameter);
    Tensor direction = p.Gradient(options.weight_decay);
    if (options.momentum != 0) {
      const Tensor moved = p.WithMomentum(options.momentum, direction);
      direction =
          options.nesterov ? direction + moved * options.momentum : moved;
    }
    p.Become(p.value() - p.Scalar(learning_rate) * direction);
  }
}

void Adam(absl::Span<const Parameter> parameters, Tensor learning_rate,
          Tensor step, AdamOptions options, CallSite site) {
  const GraphBuilder::At caller(learning_rate.builder(), site);
  const AdamScales scales = ScalesOf(learning_rate, step, options);
  for (const Parameter& parameter : parameters) {
    const ParameterStep p(parameter);
    AdamStep(p, p.value(), p.Gradient(options.weight_decay), scales, options);
  }
}

void AdamW(absl::Span<const Parameter> parameters, Tensor learning_rate,
           Tensor step, AdamOptions options, CallSite site) {
  const GraphBuilder::At caller(learning_rate.builder(), site);
  const AdamScales scales = ScalesOf(learning_rate, step, options);
  const Tensor kept =
      1 - Cast(learning_rate, DType::kF64) * options.weight_decay;
  for (const Parameter& parameter : parameters) {
    const ParameterStep p(parameter);
    AdamStep(p, p.value() * p.Scalar(kept), p.Gradient(0), scales, options);
  }
}

void Adagrad(absl::Span<const Parameter> parameters, Tensor learning_rate,
             AdagradOptions options, CallSite site) {
  const GraphBuilder::At caller(learning_rate.builder(), site);
  for (const Parameter& parameter : parameters) {
    const ParameterStep p(parameter);
    const Tensor gradient = p.Gradient(options.weight_decay);
    const Tensor sum = p.Kept("square") + gradient * gradient;
    p.Keep("square", sum);
    p.Become(p.value() - p.Scalar(learning_rate) * gradient /
                             (Sqrt(sum) + options.epsilon));
  }
}

void RmsProp(absl::Span<const Parameter> parameters, Tensor learning_rate,
             RmsPropOptions options, CallSite site) {
  const GraphBuilder::At caller(learning_rate.builder(), site);
  for (const Parameter& parameter : parameters) {
    const ParameterStep p(parameter);
    const Tensor gradient = p.Gradient(options.weight_decay);
    const Tensor square =
        p.Average("square", options.alpha, gradient * gradient);
    Tensor direction = gradient / (Sqrt(square) + options.epsilon);
    if (options.momentum != 0) {
      direction = p.WithMomentum(options.momentum, direction);
    }
    p.Become(p.value() - p.Scalar(learning_rate) * direction);
  }
}

}  // namespace partita
