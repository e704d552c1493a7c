// Optimizers, schedules, losses and layers of the builder, compared with
// PyTorch (record_torch.py).
// SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/batch_norm_training.h"
#include "graph/builder/dropout.h"
#include "graph/builder/losses.h"
#include "graph/builder/mixed_precision.h"
#include "graph/builder/ops.h"
#include "graph/builder/optimizers.h"
#include "graph/builder/parameter_gradients.h"
#include "graph/builder/recurrent.h"
#include "graph/builder/schedules.h"
#include "graph/evaluate.h"
#include "gtest/gtest.h"
#include "tests/gradients/drawn.h"

namespace partita {
namespace {

const Numbers& Recorded(const std::string& name) {
  static const auto& lists =
      *new std::map<std::string, Numbers>(ReadLists("torch_training.txt"));
  EXPECT_EQ(lists.count(name), 1u) << name;
  return lists.at(name);
}

// "gradient0", "gradient1", ...
void OutputGradients(GraphBuilder& b, const std::vector<Tensor>& gradients) {
  for (size_t i = 0; i < gradients.size(); ++i) {
    b.Output(absl::StrCat("gradient", i), gradients[i]);
  }
}

Module Built(GraphBuilder& b) {
  auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

Tensor SumOf(Tensor x) {
  Ints axes;
  for (int d = 0; d < x.rank(); ++d) axes.push_back(d);
  return ReduceSum(x, axes, /*keep_dims=*/false);
}

// w after each of five steps down sum(c w^2 / 2 + w).
Numbers PathOf(const std::function<void(absl::Span<const Parameter>, Tensor,
                                        Tensor)>& optimize) {
  GraphBuilder b("train");
  const Tensor w = b.Variable("w", Drawn({3}, 0));
  const Tensor c = b.Constant(Drawn({3}, 1));
  const std::vector<Parameter> parameters =
      b.Gradients(SumOf(c * w * w / 2 + w));
  optimize(parameters, b.Scalar(DType::kF64, 0.1), CountSteps(b));
  const Module module = Built(b);
  State state(module);
  Numbers path;
  for (int i = 0; i < 5; ++i) {
    state.Step(module.main(), {});
    const Numbers now = ToNumbers(state["w"]);
    path.insert(path.end(), now.begin(), now.end());
  }
  return path;
}

TEST(TorchTraining, Sgd) {
  const auto path = [](SgdOptions options) {
    return PathOf([=](auto parameters, Tensor rate, Tensor) {
      Sgd(parameters, rate, options);
    });
  };
  ExpectNear(path({}), Recorded("sgd"));
  ExpectNear(path({.momentum = 0.9, .weight_decay = 0.01}),
             Recorded("sgd momentum"));
  ExpectNear(path({.momentum = 0.9, .nesterov = true}),
             Recorded("sgd nesterov"));
  ExpectNear(path({.momentum = 0.9, .weight_decay = 0.01, .nesterov = true}),
             Recorded("sgd nesterov decay"));
}

TEST(TorchTraining, AdamAndAdamW) {
  ExpectNear(PathOf([](auto parameters, Tensor rate, Tensor step) {
               Adam(parameters, rate, step, {.weight_decay = 0.01});
             }),
             Recorded("adam"));
  ExpectNear(PathOf([](auto parameters, Tensor rate, Tensor step) {
               AdamW(parameters, rate, step);
             }),
             Recorded("adamw"));
  ExpectNear(PathOf([](auto parameters, Tensor rate, Tensor step) {
               AdamW(parameters, rate, step, {.weight_decay = 0.3});
             }),
             Recorded("adamw decay"));
}

TEST(TorchTraining, AdagradAndRmsProp) {
  ExpectNear(PathOf([](auto parameters, Tensor rate, Tensor) {
               Adagrad(parameters, rate, {.weight_decay = 0.01});
             }),
             Recorded("adagrad"));
  ExpectNear(PathOf([](auto parameters, Tensor rate, Tensor) {
               RmsProp(parameters, rate, {.weight_decay = 0.01});
             }),
             Recorded("rmsprop"));
  ExpectNear(PathOf([](auto parameters, Tensor rate, Tensor) {
               RmsProp(parameters, rate, {.alpha = 0.9, .momentum = 0.5});
             }),
             Recorded("rmsprop momentum"));
  ExpectNear(PathOf([](auto parameters, Tensor rate, Tensor) {
               RmsProp(parameters, rate,
                       {.alpha = 0.9, .momentum = 0.5, .weight_decay = 0.01});
             }),
             Recorded("rmsprop momentum decay"));
}

// The rates of the first eight steps.
Numbers RatesOf(const std::function<Tensor(GraphBuilder&, Tensor)>& schedule) {
  GraphBuilder b("rates");
  b.Output("rate", schedule(b, CountSteps(b)));
  const Module module = Built(b);
  State state(module);
  Numbers rates;
  for (int i = 0; i < 8; ++i) {
    rates.push_back(ToNumbers(state.Step(module.main(), {})[0])[0]);
  }
  return rates;
}

TEST(TorchTraining, Schedules) {
  ExpectNear(RatesOf([](GraphBuilder&, Tensor step) {
               return StepDecay(step, 0.5, 3, 0.5);
             }),
             Recorded("step decay"));
  ExpectNear(RatesOf([](GraphBuilder&, Tensor step) {
               return ExponentialDecay(step, 0.5, 0.9);
             }),
             Recorded("exponential decay"));
  ExpectNear(RatesOf([](GraphBuilder&, Tensor step) {
               return CosineDecay(step, 0.5, 0.1, 7);
             }),
             Recorded("cosine decay"));
  ExpectNear(RatesOf([](GraphBuilder& b, Tensor step) {
               return LinearWarmUp(step, b.Scalar(DType::kF64, 0.5), 4);
             }),
             Recorded("linear warm up"));
}

// The loss and its gradient by %x, an input drawn as number 0.
Numbers LossAndGradient(Shape dims, const std::function<Tensor(Tensor)>& loss) {
  GraphBuilder b("loss");
  const Tensor x = b.Input("x", DType::kF64, dims);
  const Tensor y = loss(x);
  b.Output("loss", y);
  b.Output("dx", b.Gradients(y, {x})[0]);
  const Module module = Built(b);
  std::vector<HostTensor> inputs;
  inputs.push_back(Drawn(dims, 0));
  const auto values = Evaluate(module.main(), inputs);
  EXPECT_TRUE(values.ok()) << values.status();
  return values.ok() ? ToNumbers(*values) : Numbers();
}

TEST(TorchTraining, Losses) {
  const auto cross_entropy = [](ClassLossOptions options) {
    return LossAndGradient({4, 5}, [=](Tensor scores) {
      const Tensor labels = scores.builder()->Constant(DrawnIndices({4}, 5));
      return CrossEntropyLoss(scores, labels, options);
    });
  };
  ExpectNear(cross_entropy({}), Recorded("cross entropy"));
  ExpectNear(cross_entropy({.label_smoothing = 0.1}),
             Recorded("cross entropy, smoothed"));
  ExpectNear(cross_entropy({.label_smoothing = 0.1, .ignore_index = 0}),
             Recorded("cross entropy, one ignored"));
  ExpectNear(LossAndGradient({2, 3, 2},
                             [](Tensor x) {
                               return NllLoss(LogSoftmax(x, 1),
                                              x.builder()->Constant(
                                                  DrawnIndices({2, 2}, 3)));
                             }),
             Recorded("nll of pixels"));
  ExpectNear(LossAndGradient(
                 {2, 3},
                 [](Tensor x) {
                   return MseLoss(x, x.builder()->Constant(Drawn({2, 3}, 1)));
                 }),
             Recorded("mse"));
}

using Recurrence = std::function<RecurrentResult(
    Tensor x, const RecurrentWeights& weights, Tensor hidden, Tensor cell)>;

// The loss, and the gradients by x, the weights in their order and the states.
Numbers RecurrentGradients(int64_t gates, bool has_cell,
                           const Recurrence& recurrence) {
  GraphBuilder b("recurrent");
  int number = 0;
  std::vector<Tensor> values;
  const auto input = [&](Shape dims) {
    values.push_back(b.Input("x" + std::to_string(number), DType::kF64, dims));
    ++number;
    return values.back();
  };
  const int64_t rows = gates * 2;
  const Tensor x = input({3, 2, 3});
  const Tensor input_weights = input({rows, 3});
  const Tensor hidden_weights = input({rows, 2});
  const Tensor input_bias = input({rows});
  const Tensor hidden_bias = input({rows});
  const Tensor hidden = input({2, 2});
  Tensor cell;
  if (has_cell) cell = input({2, 2});
  const RecurrentResult result =
      recurrence(x, {input_weights, hidden_weights, input_bias, hidden_bias},
                 hidden, cell);
  const Tensor last = has_cell ? result.cell : result.hidden;
  const Tensor loss =
      SumOf(result.outputs * b.Constant(Drawn({3, 2, 2}, 7))) + SumOf(last);
  b.Output("loss", loss);
  OutputGradients(b, b.Gradients(loss, values));
  const Module module = Built(b);
  std::vector<HostTensor> inputs;
  for (ValueId id : module.main().inputs()) {
    inputs.push_back(
        Drawn(module.main().type(id).dims, static_cast<int>(inputs.size())));
  }
  const auto found = Evaluate(module.main(), inputs);
  EXPECT_TRUE(found.ok()) << found.status();
  return found.ok() ? ToNumbers(*found) : Numbers();
}

TEST(TorchTraining, RecurrentNetworks) {
  ExpectNear(RecurrentGradients(1, false,
                                [](Tensor x, const RecurrentWeights& w,
                                   Tensor h, Tensor) { return Rnn(x, h, w); }),
             Recorded("rnn"));
  ExpectNear(RecurrentGradients(3, false,
                                [](Tensor x, const RecurrentWeights& w,
                                   Tensor h, Tensor) { return Gru(x, h, w); }),
             Recorded("gru"));
  ExpectNear(
      RecurrentGradients(4, true,
                         [](Tensor x, const RecurrentWeights& w, Tensor h,
                            Tensor c) { return Lstm(x, h, c, w); }),
      Recorded("lstm"));
}

TEST(TorchTraining, BatchNormInTraining) {
  GraphBuilder b("batch_norm");
  const Tensor x = b.Input("x", DType::kF64, {3, 2, 2});
  const Tensor scale = b.Input("scale", DType::kF64, {2});
  const Tensor bias = b.Input("bias", DType::kF64, {2});
  b.Variable("mean", HostTensor({DType::kF64, {2}, {}}), false);
  b.Variable("variance", HostTensor::Of<double>({2}, {1, 1}), false);
  const Tensor y = BatchNormTraining(x, scale, bias, "mean", "variance");
  const Tensor loss = SumOf(y * b.Constant(Drawn({3, 2, 2}, 3)));
  OutputGradients(b, b.Gradients(loss, {x, scale, bias}));
  const Module module = Built(b);
  std::vector<HostTensor> inputs;
  inputs.push_back(Drawn({3, 2, 2}, 0));
  inputs.push_back(Drawn({2}, 1));
  inputs.push_back(Drawn({2}, 2));
  State state(module);
  ExpectNear(ToNumbers(state.Step(module.main(), inputs)),
             Recorded("batch norm"));
  Numbers statistics = ToNumbers(state["mean"]);
  for (double number : ToNumbers(state["variance"])) {
    statistics.push_back(number);
  }
  ExpectNear(statistics, Recorded("running statistics"));
}

Numbers Clipped(double max_norm) {
  GraphBuilder b("clip");
  const Tensor first = b.Constant(Drawn({3}, 2));
  const Tensor second = b.Constant(Drawn({2, 2}, 2));
  for (const Parameter& parameter :
       ClipByNorm({{"a", first, first}, {"b", second, second}}, max_norm)) {
    b.Output(parameter.variable, parameter.gradient);
  }
  const Module module = Built(b);
  const auto values = Evaluate(module.main(), {});
  EXPECT_TRUE(values.ok()) << values.status();
  return values.ok() ? ToNumbers(*values) : Numbers();
}

TEST(TorchTraining, ClippingByNorm) {
  ExpectNear(Clipped(1.5), Recorded("clipped"));
  ExpectNear(Clipped(100), Recorded("not clipped"));
}

HostTensor Single(const HostTensor& doubles) {
  HostTensor singles({DType::kF32, doubles.type().dims, {}});
  for (int64_t i = 0; i < doubles.type().num_elements(); ++i) {
    SetFromDouble(singles, i, GetAsDouble(doubles, i));
  }
  return singles;
}

// The loss, and its gradients by f32 inputs of these shapes, drawn by their
// numbers, with products in bf16.
Numbers InBf16(const std::vector<Shape>& shapes,
               const std::function<Tensor(const std::vector<Tensor>&)>& loss) {
  GraphBuilder b("loss");
  std::vector<Tensor> x;
  std::vector<HostTensor> inputs;
  for (const Shape& dims : shapes) {
    const int number = static_cast<int>(x.size());
    x.push_back(b.Input(absl::StrCat("x", number), DType::kF32, dims));
    inputs.push_back(Single(Drawn(dims, number)));
  }
  const Tensor y = loss(x);
  EXPECT_EQ(NarrowProducts(b, DType::kBF16), absl::OkStatus());
  b.Output("loss", y);
  OutputGradients(b, b.Gradients(y, x));
  const Module module = Built(b);
  const auto values = Evaluate(module.main(), inputs);
  EXPECT_TRUE(values.ok()) << values.status();
  return values.ok() ? ToNumbers(*values) : Numbers();
}

Tensor WeightedSum(Tensor y, Shape dims, int number) {
  return SumOf(y *
               y.builder()->Constant(Single(Drawn(std::move(dims), number))));
}

// As in PyTorch's autocast: sums of few products, exact in f32, that are
// rounded once.
TEST(TorchTraining, ProductsInBf16) {
  const auto two_layers = [](const std::vector<Tensor>& x) {
    return WeightedSum(MatMul(Relu(MatMul(x[0], x[1])), x[2]), {4, 3}, 3);
  };
  ExpectNear(InBf16({{4, 6}, {6, 5}, {5, 3}}, two_layers),
             Recorded("bf16 products"));
  const auto convolution = [](const std::vector<Tensor>& x) {
    return WeightedSum(Conv(x[0], x[1], x[2]), {2, 3, 3, 3}, 3);
  };
  ExpectNear(InBf16({{2, 2, 5, 4}, {3, 2, 3, 2}, {3}}, convolution),
             Recorded("bf16 convolution"));
}

}  // namespace
}  // namespace partita
