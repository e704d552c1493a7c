// Training steps that auto and search choose, for random models, machines,
// options and objectives: proved, reproducible and equal to their reference.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/ops/op_set.h"
#include "graph/status_macros.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "gtest/gtest.h"
#include "partita/reference_check.h"
#include "placement/machine/sample_machines.h"
#include "runtime/plan/plan_text.h"
#include "tests/end_to_end/virtual_steps.h"

namespace partita {
namespace {

constexpr int kSteps = 2;

// A step of training a perceptron, with its machine and options; determined by
// the seed.
class Sample {
 public:
  explicit Sample(uint64_t seed) : bits_(seed) {
    batch_ = 16 * (1 + Below(3));
    const int layers = 1 + Below(4);
    for (int i = 0; i <= layers; ++i) widths_.push_back(1 + Below(6));
    MakeMachine();
    MakeOptions(seed);
  }

  const Machine& machine() const { return machine_; }
  const CompileOptions& options() const { return options_; }

  std::string Text() {
    std::string text, body;
    const int layers = static_cast<int>(widths_.size()) - 1;
    for (int i = 0; i < layers; ++i) {
      const std::string type = Type(widths_[i], widths_[i + 1]);
      absl::StrAppend(&text, "variable @w", i, ": ", type,
                      " trainable = ", type, " [",
                      Numbers(widths_[i] * widths_[i + 1]), "]\n");
    }
    for (int i = 0; i < layers; ++i) AppendForward(i, i + 1 == layers, body);
    const std::string last = Type(batch_, widths_.back());
    absl::StrAppend(&body, "  %e", layers, " = sub %h", layers, ", %t : ", last,
                    "\n  %squares = mul %e", layers, ", %e", layers, " : ",
                    last,
                    "\n  %loss = reduce_sum %squares {axes = [0, 1], keep_dims "
                    "= false} : f32[]\n  %rate = constant f32[] 0.125\n");
    for (int i = layers - 1; i >= 0; --i) AppendBackward(i, body);
    absl::StrAppend(&text, "graph @train(%h0: ", Type(batch_, widths_[0]),
                    ", %t: ", last, ") -> f32[] {\n", body,
                    "  return %loss\n}\n");
    return text;
  }

  std::vector<HostTensor> Inputs() {
    std::vector<HostTensor> inputs;
    for (int width : {widths_.front(), widths_.back()}) {
      std::vector<float> values;
      for (int i = 0; i < batch_ * width; ++i) values.push_back(Number());
      inputs.push_back(HostTensor::Of<float>({batch_, width}, values));
    }
    return inputs;
  }

 private:
  int Below(int limit) { return static_cast<int>(bits_() % limit); }
  float Number() { return static_cast<float>(Below(9) - 4) / 4; }

  std::string Numbers(int count) {
    std::vector<float> numbers;
    for (int i = 0; i < count; ++i) numbers.push_back(Number());
    return absl::StrJoin(numbers, ", ");
  }

  static std::string Type(int rows, int columns) {
    return absl::StrCat("f32[", rows, ", ", columns, "]");
  }

  void AppendForward(int i, bool is_last, std::string& body) const {
    const std::string made = Type(batch_, widths_[i + 1]);
    absl::StrAppend(&body, "  %w", i, " = variable {dtype = f32, name = \"w", i,
                    "\", shape = [", widths_[i], ", ", widths_[i + 1],
                    "]} : ", Type(widths_[i], widths_[i + 1]), "\n");
    absl::StrAppend(&body, is_last ? "  %h" : "  %a", i + 1, " = matmul %h", i,
                    ", %w", i, " : ", made, "\n");
    if (is_last) return;
    absl::StrAppend(&body, "  %h", i + 1, " = relu %a", i + 1, " : ", made,
                    "\n");
  }

  void AppendBackward(int i, std::string& body) const {
    const std::string weight = Type(widths_[i], widths_[i + 1]);
    const std::string read = Type(batch_, widths_[i]);
    if (i > 0) {
      absl::StrAppend(&body, "  %wt", i, " = transpose %w", i,
                      " {perm = [1, 0]} : ", Type(widths_[i + 1], widths_[i]),
                      "\n  %f", i, " = matmul %e", i + 1, ", %wt", i, " : ",
                      read, "\n  %s", i, " = sign %h", i, " : ", read, "\n  %e",
                      i, " = mul %f", i, ", %s", i, " : ", read, "\n");
    }
    absl::StrAppend(&body, "  %ht", i, " = transpose %h", i,
                    " {perm = [1, 0]} : ", Type(widths_[i], batch_), "\n  %g",
                    i, " = matmul %ht", i, ", %e", i + 1, " : ", weight,
                    "\n  %r", i, " = mul %g", i, ", %rate : ", weight, "\n  %n",
                    i, " = sub %w", i, ", %r", i, " : ", weight,
                    "\n  update @w", i, " = %n", i, "\n");
  }

  void MakeMachine() {
    machine_ = EqualCpus(2 + Below(3), int64_t{1} << 28);
    const bool is_uneven = Below(3) == 0;
    for (MachineDevice& device : machine_.devices) {
      const double rate = is_uneven ? std::exp2(Below(6)) : 1;
      device.traits.peak_flops[static_cast<int>(DType::kF32)] = 1e6 * rate;
      device.traits.memory_bandwidth = 1e6 * rate;
    }
    for (Link& link : machine_.links) {
      link.bandwidth = 1e5 * std::exp2(Below(8));
      link.latency = 1e-7 * Below(1000);
    }
  }

  // Each value is given or open.
  void MakeOptions(uint64_t seed) {
    options_.strategy = seed % 3 == 2 ? "auto" : "search";
    options_.planner.evaluations = 256;
    const Goal goals[] = {Goal::kLatency, Goal::kThroughput, Goal::kMemory};
    if (Below(2) == 0) {
      options_.planner.objective = ObjectiveChoice{goals[Below(3)]};
    }
    if (Below(3) == 0) options_.micro_batches = 1 << Below(3);
    if (Below(3) == 0) options_.bucket_bytes = int64_t{64} << Below(10);
    if (Below(3) == 0 && options_.micro_batches != 1) {
      options_.schedule = PipelineSchedule::kGPipe;
    }
  }

  std::mt19937_64 bits_;
  int batch_ = 0;
  std::vector<int> widths_;  // of the input, and of each layer's result
  Machine machine_;
  CompileOptions options_;
};

absl::Status CheckSteps(std::shared_ptr<const Plan> plan,
                        const std::vector<HostTensor>& inputs, uint64_t chaos) {
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                           VirtualSession(std::move(plan), inputs));
  for (int step = 1; step <= kSteps; ++step) {
    PARTITA_ASSIGN_OR_RETURN(const ReferenceCheck check,
                             ReferenceCheck::Of(*session));
    PARTITA_RETURN_IF_ERROR(session->Run({.chaos_seed = chaos + step}));
    PARTITA_RETURN_IF_ERROR(check.Compare(step));
  }
  return absl::OkStatus();
}

// The values that the user gave are kept.
void ExpectKept(const CompileOptions& options, const Plan& plan) {
  if (!options.micro_batches.has_value()) return;
  const std::string text = PrintModule(plan.module);
  const std::string sum =
      absl::StrCat("{micro_batches = ", *options.micro_batches, "}");
  EXPECT_EQ(text.find(sum) != std::string::npos, *options.micro_batches > 1);
  EXPECT_EQ(text.find("accumulate") != std::string::npos,
            *options.micro_batches > 1);
}

TEST(SearchSteps, AreProvedRepeatableAndEqualToTheirReference) {
  const int count = std::getenv("PARTITA_FULL") != nullptr ? 300 : 12;
  int chosen = 0;
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(absl::StrCat("seed ", i));
    Sample sample(i);
    const std::string text = sample.Text();
    const auto module = ParseModule(text, "sample", OpSet::BuiltIn());
    ASSERT_TRUE(module.ok()) << module.status() << "\n" << text;
    auto compiled =
        Compile(module->Clone(), sample.machine(), sample.options());
    ASSERT_TRUE(compiled.ok()) << compiled.status() << "\n" << text;
    const auto again =
        Compile(module->Clone(), sample.machine(), sample.options());
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(PrintPlan(compiled->plan, {.reasons = true}),
              PrintPlan(again->plan, {.reasons = true}));
    ExpectKept(sample.options(), compiled->plan);
    chosen += compiled->report.chosen_step.empty() ? 0 : 1;
    const absl::Status status =
        CheckSteps(std::make_shared<const Plan>(std::move(compiled->plan)),
                   sample.Inputs(), 10 * i);
    EXPECT_TRUE(status.ok()) << status << "\n" << text;
  }
  EXPECT_GT(chosen, 0);
}

}  // namespace
}  // namespace partita
