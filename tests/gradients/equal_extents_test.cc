// Sharded batches in models whose features, classes, positions or weights have
// the batch's extent by accident, or whose batch is merged as an inner
// dimension: results are those of the whole batch.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/random_tensor.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "runtime/plan/plan.h"
#include "tests/gradients/drawn.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

constexpr double kRoundings = 16;

// Samples are combined with weights, a bias for each feature and a position for
// each row.
constexpr char kInference[] =
    R"(graph @f(%x: f32[8, 8], %w: f32[8, 8], %b: f32[8], %v: f32[8, 3]) -> f32[8, 3] {
  %a = matmul %x, %w : f32[8, 8]
  %h = add %b, %a : f32[8, 8]
  %r = relu %h : f32[8, 8]
  %s = softmax %r {axis = 1} : f32[8, 8]
  %y = matmul %s, %v : f32[8, 3]
  return %y
}
)";

constexpr char kSequences[] =
    R"(graph @f(%x: f32[8, 8, 8], %p: f32[8, 8], %m: f32[8, 1, 1]) -> f32[8, 8, 8] {
  %a = add %p, %x : f32[8, 8, 8]
  %t = transpose %a {perm = [0, 2, 1]} : f32[8, 8, 8]
  %s = matmul %a, %t : f32[8, 8, 8]
  %q = softmax %s {axis = 2} : f32[8, 8, 8]
  %o = matmul %q, %a : f32[8, 8, 8]
  %y = mul %o, %m : f32[8, 8, 8]
  return %y
}
)";

// A step with weights and momentum as inputs and outputs.
constexpr char kTraining[] =
    R"(graph @f(%x: f32[8, 8], %w: f32[8, 8], %s: f32[8, 8], %t: f32[8, 8], %b: f32[8]) -> (f32[8, 8], f32[8, 8], f32[8], f32[8, 8]) {
  %h = matmul %x, %w : f32[8, 8]
  %y = add %h, %b : f32[8, 8]
  %d = sub %y, %t : f32[8, 8]
  %xt = transpose %x {perm = [1, 0]} : f32[8, 8]
  %g = matmul %xt, %d : f32[8, 8]
  %e = reduce_sum %d {axes = [0], keep_dims = false} : f32[8]
  %m = add %s, %g : f32[8, 8]
  %n = sub %w, %m : f32[8, 8]
  %c = sub %b, %e : f32[8]
  return %n, %m, %c, %y
}
)";

// A constant and a variable of the same extent.
constexpr char kVariable[] =
    R"(variable @v: f32[4, 4] trainable = f32[4, 4] [1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2]

graph @f(%x: f32[4, 4], %t: f32[4, 4]) -> (f32[], f32[4, 4]) {
  %v = variable {dtype = f32, name = "v", shape = [4, 4]} : f32[4, 4]
  %c = constant f32[4] [1, 2, 3, 4]
  %a = mul %x, %c : f32[4, 4]
  %y = matmul %a, %v : f32[4, 4]
  %d = sub %y, %t : f32[4, 4]
  %q = mul %d, %d : f32[4, 4]
  %loss = reduce_sum %q {axes = [0, 1], keep_dims = false} : f32[]
  %at = transpose %a {perm = [1, 0]} : f32[4, 4]
  %g = matmul %at, %d : f32[4, 4]
  %n = sub %v, %g : f32[4, 4]
  update @v = %n
  return %loss, %y
}
)";

// The first input is not the batch.
constexpr char kTable[] =
    R"(graph @f(%table: f32[6, 3], %ids: i32[4], %m: f32[4, 3]) -> f32[4, 3] {
  %e = gather %table, %ids {axis = 0} : f32[4, 3]
  %y = mul %e, %m : f32[4, 3]
  return %y
}
)";

// As exported from the projection of PyTorch's attention: rows are positions of
// a batch, not of an example.
constexpr char kInnerBatch[] =
    R"(graph @f(%x: f32[4, 3, 2, 8], %w: f32[16, 5], %b: f32[5]) -> f32[4, 3, 5] {
  %t = transpose %x {perm = [1, 0, 2, 3]} : f32[3, 4, 2, 8]
  %r = reshape %t {shape = [12, 16]} : f32[12, 16]
  %m = matmul %r, %w : f32[12, 5]
  %a = add %m, %b : f32[12, 5]
  %h = tanh %a : f32[12, 5]
  %s = reshape %h {shape = [3, 4, 5]} : f32[3, 4, 5]
  %y = transpose %s {perm = [1, 0, 2]} : f32[4, 3, 5]
  return %y
}
)";

// The batch is the third dimension, and rows are summed with others.
constexpr char kInnerBatchTraining[] =
    R"(variable @v: f32[3, 2] trainable = f32[3, 2] [1, 2, 3, 4, 5, 6]

graph @f(%x: f32[4, 2, 5, 3], %t: f32[4, 2, 5, 2]) -> (f32[], f32[4, 2, 5, 2]) {
  %v = variable {dtype = f32, name = "v", shape = [3, 2]} : f32[3, 2]
  %xt = transpose %x {perm = [1, 2, 0, 3]} : f32[2, 5, 4, 3]
  %tt = transpose %t {perm = [1, 2, 0, 3]} : f32[2, 5, 4, 2]
  %rx = reshape %xt {shape = [40, 3]} : f32[40, 3]
  %rt = reshape %tt {shape = [40, 2]} : f32[40, 2]
  %m = matmul %rx, %v : f32[40, 2]
  %d = sub %m, %rt : f32[40, 2]
  %q = mul %d, %d : f32[40, 2]
  %loss = reduce_sum %q {axes = [0, 1], keep_dims = false} : f32[]
  %g = matmul %rx, %d {transpose_a = true} : f32[3, 2]
  %n = sub %v, %g : f32[3, 2]
  update @v = %n
  %s = reshape %d {shape = [2, 5, 4, 2]} : f32[2, 5, 4, 2]
  %y = transpose %s {perm = [2, 0, 1, 3]} : f32[4, 2, 5, 2]
  return %loss, %y
}
)";

// A cumulative sum along the rows depends on their order.
constexpr char kRowsInOrder[] =
    R"(graph @f(%x: f32[4, 3, 2]) -> f32[4, 3, 2] {
  %t = transpose %x {perm = [1, 0, 2]} : f32[3, 4, 2]
  %r = reshape %t {shape = [12, 2]} : f32[12, 2]
  %c = cumsum %r {axis = 0} : f32[12, 2]
  %s = reshape %c {shape = [3, 4, 2]} : f32[3, 4, 2]
  %y = transpose %s {perm = [1, 0, 2]} : f32[4, 3, 2]
  return %y
}
)";

std::unique_ptr<Session> SessionOf(const std::string& text, int devices,
                                   const CompileOptions& options) {
  auto module = ParseModule(text, "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return TrainingSession(*std::move(module),
                         EqualCpus(devices, kTrainingMemory), options);
}

// The outputs of a step, and then the variables.
Numbers Results(Session& session) {
  std::vector<HostTensor> inputs;
  for (int i = 0; i < session.num_inputs(); ++i) {
    inputs.push_back(RandomTensor(session.input_type(i), i + 1, 0, 3));
  }
  CheckedStep(session, 0, inputs);
  std::vector<HostTensor> outputs;
  for (int i = 0; i < session.num_outputs(); ++i) {
    outputs.push_back((*session.GetOutput(i))->Clone());
  }
  Numbers results = ToNumbers(outputs);
  for (const auto& [name, numbers] : VariablesOf(session)) {
    results.insert(results.end(), numbers.begin(), numbers.end());
  }
  return results;
}

struct Division {
  const char* strategy;
  int devices;
  int micro_batches;
};

constexpr Division kDivisions[] = {
    {"single", 1, 2}, {"single", 1, 4},   {"data", 2, 1},     {"data", 3, 1},
    {"data", 2, 2},   {"pipeline", 2, 2}, {"pipeline", 2, 4}, {"auto", 2, 4},
};

void ExpectSameResults(const std::string& text,
                       const std::vector<std::string>& batch_inputs = {}) {
  const auto whole = SessionOf(text, 1, {});
  ASSERT_NE(whole, nullptr);
  const Numbers expected = Results(*whole);
  for (const Division& division : kDivisions) {
    SCOPED_TRACE(absl::StrCat(division.strategy, " over ", division.devices,
                              ", ", division.micro_batches, " micro-batches"));
    CompileOptions options;
    options.strategy = division.strategy;
    options.micro_batches = division.micro_batches;
    options.batch_inputs = batch_inputs;
    const auto session = SessionOf(text, division.devices, options);
    ASSERT_NE(session, nullptr);
    EXPECT_LE(RoundingsApart(Results(*session), expected), kRoundings);
  }
}

TEST(EqualExtents, OfWeightsAndABiasHaveNoEffect) {
  ExpectSameResults(kInference);
}

TEST(EqualExtents, OfPositionsAndFeaturesHaveNoEffect) {
  ExpectSameResults(kSequences);
}

TEST(EqualExtents, OfATrainingStepsResultsHaveNoEffect) {
  ExpectSameResults(kTraining);
}

TEST(EqualExtents, OfVariablesAndConstantsHaveNoEffect) {
  ExpectSameResults(kVariable);
}

TEST(EqualExtents, HaveNoEffectWithNamedInputs) {
  ExpectSameResults(kTable, {"ids", "m"});
  ExpectSameResults(kTraining, {"x", "t"});
}

// Sharded weights would have to be gathered. Only the second replica's shard of
// the output is transferred.
TEST(EqualExtents, ReplicasTransferNoWeights) {
  CompileOptions options;
  options.strategy = "data";
  const auto session = SessionOf(kInference, 2, options);
  ASSERT_NE(session, nullptr);
  const Entry& entry = session->plan().entries[0];
  EXPECT_EQ(session->plan().devices.size(), 2u);
  for (const OpView& op : entry.graph->ops(kCopy)) {
    EXPECT_TRUE(entry.graph->is_output(op.result(0).id())) << op.ToString();
  }
}

TEST(InnerBatch, IsShardedLikeTheFirstDimension) {
  ExpectSameResults(kInnerBatch);
  ExpectSameResults(kInnerBatchTraining, {"x", "t"});
}

std::string RefusalOf(const std::string& text,
                      const std::vector<std::string>& batch_inputs,
                      int micro_batches = 1) {
  auto module = ParseModule(text, "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  CompileOptions options;
  options.batch_inputs = batch_inputs;
  options.micro_batches = micro_batches;
  const auto compiled =
      Compile(*std::move(module), EqualCpus(2, kTrainingMemory), options);
  return std::string(compiled.status().message());
}

TEST(InnerBatch, IsRefusedWhereRowsHaveAnOrder) {
  EXPECT_EQ(
      RefusalOf(kRowsInOrder, {}, 2),
      "micro-batches of @f: found results that need the whole batch at once; "
      "expected independent examples, and sums over them; "
      "leave out micro-batches, or write it as a sum:\n"
      "  reshape %r: merges the batch, dimension 1 of its operand, after "
      "another dimension into rows that must keep their order; put the "
      "batch first by a transpose\n"
      "  the batch was taken for the first extent of x f32[4, 3, 2]; if "
      "it is not, name the inputs that hold the samples by "
      "--batch-input");
}

TEST(BatchInputs, AreInputsOfOneFirstExtent) {
  EXPECT_EQ(RefusalOf(kTable, {"ids", "mask"}),
            "batch-input: found mask, which is no input; expected one of: "
            "table, ids, m");
  EXPECT_EQ(RefusalOf(kTable, {"table", "ids"}),
            "batch-input of @f: found ids i32[4] with table f32[6, 3]; "
            "expected inputs of one first extent, the batch");
  EXPECT_EQ(RefusalOf(R"(graph @f(%a: f32[]) -> f32[] {
  %y = relu %a : f32[]
  return %y
}
)",
                      {"a"}),
            "batch-input of @f: found a f32[], which has no dimension; "
            "expected inputs whose first one is the batch");
}

}  // namespace
}  // namespace partita
