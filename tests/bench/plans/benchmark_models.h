// The models that plans are made of, for predictions and for rivals of auto.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_BENCH_PLANS_BENCHMARK_MODELS_H_
#define PARTITA_TESTS_BENCH_PLANS_BENCHMARK_MODELS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace partita {

struct BenchmarkModel {
  std::string name;  // "gpt_4_training", a word
  std::function<absl::StatusOr<Module>()> make;
};

// Inference and training of perceptrons, convolutional, recurrent and attention
// networks: the built-in models, and larger and smaller ones.
std::vector<BenchmarkModel> BenchmarkModels();

}  // namespace partita

#endif  // PARTITA_TESTS_BENCH_PLANS_BENCHMARK_MODELS_H_
