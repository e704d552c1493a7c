// Sessions of plans written by hand: from a file to outputs, and every refusal.
// SPDX-License-Identifier: Apache-2.0

#include "partita/session.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "graph/ops/op_set.h"
#include "gtest/gtest.h"
#include "partita/testing/plan_texts.h"
#include "runtime/executor/executor.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

// y = x + (w1 beside w2): the two constants are adjacent, and one buffer over
// both is the concatenation.
constexpr char kBothAtOnce[] = R"(
graph @f(%x: f32[32] on cpu:0) -> f32[32] {
  %w1 = constant f32[16] [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16] on cpu:0
  %w2 = constant f32[16] [17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32] on cpu:0
  %w = concat %w1, %w2 {axis = 0} : f32[32] on cpu:0
  %y = add %x, %w : f32[32] on cpu:0 by "reference.eval"
  return %y
}
plan @f {
  device cpu:0 cpu threads 1 isa "" memory 4096 alignment 64
    arena persistent 128 step 256
  entry @f of @f depth 1 events 0 {
    input x f32[32]
    output y f32[32]
    arena cpu:0
      !w1  persistent  0  64
      !w2  persistent  64  64
      !w  persistent  0  128
      !x  0  128
      !y  128  128
    persistent
      !w1 = %w1
      !w2 = %w2
    stream cpu:0/compute
      0  feed -> !x input 0
      1  kernel %y (!x, !w) -> !y
      2  fetch !y output 0
  }
}
)";

// Softmax of five rows, two on one device and three on another.
constexpr char kSharded[] = R"(
graph @f(%x: f32[5, 3] on cpu:0) -> f32[5, 3] {
  %r = copy %x : f32[5, 3] on {cpu:0, cpu:1} (replicated) -> (split 0)
  %s = softmax %r {axis = 1} : f32[5, 3] on {cpu:0, cpu:1} (split 0) -> (split 0) by "reference.eval"
  %y = copy %s : f32[5, 3] on cpu:0 (split 0) -> (replicated)
  return %y
}
plan @f {
  device cpu:0 cpu threads 1 isa "" memory 4096 alignment 64
    arena persistent 0 step 192
  device cpu:1 cpu threads 1 isa "" memory 4096 alignment 64
    arena persistent 0 step 128
  entry @f of @f depth 1 events 2 {
    input x f32[5, 3]
    output y f32[5, 3]
    arena cpu:0
      !x  0  60
      !x0  0  24
      !x1  24  36
      !s0  64  24
      !y  128  60
      !y0  128  24
      !y1  152  36
    arena cpu:1
      !r1  0  36
      !s1  64  36
    stream cpu:0/compute
      0  feed -> !x input 0
      1  record ev0
      4  kernel %s !x0 -> !s0
      5  copy %y !s0 -> !y0
      9  wait ev1
      10 fetch !y output 0
    stream cpu:1/compute
      2  wait ev0
      3  copy %r rank 1 !x1 -> !r1
      6  kernel %s rank 1 !r1 -> !s1
      7  copy %y !s1 -> !y1
      8  record ev1
  }
}
)";

std::shared_ptr<const Plan> PlanOf(absl::string_view text) {
  auto plan = ParsePlan(text, "test.plan", OpSet::BuiltIn());
  EXPECT_TRUE(plan.ok()) << plan.status();
  return std::make_shared<const Plan>(*std::move(plan));
}

HostTensor X() { return HostTensor::Of<float>({2, 3}, {1, 2, 3, -1, -2, -3}); }
const std::vector<float> kY = {22, 0, 0, 28};

std::vector<float> Values(const HostTensor& tensor) {
  const auto data = tensor.data<float>();
  return {data.begin(), data.end()};
}

TEST(SessionTest, APlanFileRunsInAFewLines) {
  const std::string path = testing::TempDir() + "/two_devices.plan";
  ASSERT_TRUE(WritePlan(*PlanOf(kTwoDevices), path).ok());
  auto session = Session::Load(path);
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->SetInput("x", X()).ok());
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ(Values(**(*session)->GetOutput("y")), kY);
  EXPECT_EQ(Values(**(*session)->GetOutput(0)), kY);
}

TEST(SessionTest, SessionsOfOnePlanShareIt) {
  const std::string path = testing::TempDir() + "/shared.plan";
  ASSERT_TRUE(WritePlan(*PlanOf(kTwoDevices), path).ok());
  auto plan = LoadPlan(path);
  ASSERT_TRUE(plan.ok()) << plan.status();
  auto one = Session::Create(*plan);
  auto two = Session::Create(*plan);
  ASSERT_TRUE(one.ok() && two.ok());
  for (auto* session : {&one, &two}) {
    ASSERT_TRUE((**session)->SetInput(0, X()).ok());
    ASSERT_TRUE((**session)->Run().ok());
    EXPECT_EQ(Values(**(**session)->GetOutput("y")), kY);
    EXPECT_EQ((**session)->MemoryUse().value()[0].in_place, 24);
  }
}

// "activation 64+24 of f, commands 0..1: input x".
std::vector<std::string> BlockTexts(const MemorySnapshot& snapshot) {
  std::vector<std::string> texts;
  for (const MemoryBlock& block : snapshot.blocks) {
    std::string& text = texts.emplace_back(
        absl::StrCat(MemoryKindName(block.kind), " ", block.offset, "+",
                     block.bytes, block.in_place ? " in place" : ""));
    if (!block.entry.empty()) absl::StrAppend(&text, " of ", block.entry);
    if (block.first_command >= 0) {
      absl::StrAppend(&text, ", commands ", block.first_command, "..",
                      block.last_command);
    }
    absl::StrAppend(&text, ": ", absl::StrJoin(block.owners, " "));
  }
  return texts;
}

std::vector<MemorySnapshot> SnapshotOf(absl::string_view text) {
  auto session = Session::Create(PlanOf(text), {.constants_in_place = false});
  EXPECT_TRUE(session.ok()) << session.status();
  return (*session)->SnapshotMemory().value();
}

TEST(SessionTest, ASnapshotNamesTheOwnersOfBytes) {
  using Texts = std::vector<std::string>;
  const std::vector<MemorySnapshot> devices = SnapshotOf(kTwoDevices);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].memory.device, "cpu:0");
  EXPECT_EQ(BlockTexts(devices[0]),
            Texts({"weights 0+24: %w",
                   "activation 64+24 of f, commands 0..1: input x",
                   "activation 128+16 of f, commands 1..2: %h"}));
  EXPECT_EQ(BlockTexts(devices[1]),
            Texts({"activation 0+16 of f, commands 2..5: %t",
                   "activation 64+16 of f, commands 5..6: %y"}));
  EXPECT_EQ(BlockTexts(SnapshotOf(kCounter)[0]),
            Texts({"variable 0+8: @v",
                   "activation 64+8 of count, commands 0..1: input x",
                   "activation 128+8 of count, commands 1..3: %n"}));
  // A buffer over two constants has no bytes of its own.
  EXPECT_EQ(BlockTexts(SnapshotOf(kBothAtOnce)[0]).size(), 4u);
}

TEST(SessionTest, AConstantThatStaysInThePlanIsMarked) {
  const std::string path = testing::TempDir() + "/in_place.plan";
  ASSERT_TRUE(WritePlan(*PlanOf(kTwoDevices), path).ok());
  auto session = Session::Load(path);
  ASSERT_TRUE(session.ok()) << session.status();
  const auto snapshot = (*session)->SnapshotMemory().value();
  EXPECT_EQ(BlockTexts(snapshot[0])[0], "weights 0+24 in place: %w");
}

TEST(SessionTest, ABufferMayCoverTwoConstants) {
  for (bool in_place : {true, false}) {
    auto session =
        Session::Create(PlanOf(kBothAtOnce), {.constants_in_place = in_place});
    ASSERT_TRUE(session.ok()) << session.status();
    ASSERT_TRUE((*session)
                    ->SetInput("x", HostTensor::Of<float>(
                                        {32}, std::vector<float>(32, 100)))
                    .ok());
    ASSERT_TRUE((*session)->Run().ok());
    const std::vector<float> y = Values(**(*session)->GetOutput("y"));
    for (int i = 0; i < 32; ++i) EXPECT_EQ(y[i], 101 + i) << in_place;
  }
}

// A plan that was changed after it was certified.
TEST(SessionTest, ACertificateOverAnotherPlanIsRefused) {
  const std::string path = testing::TempDir() + "/changed.plan";
  Plan plan = *ParsePlan(kTwoDevices, "plan", OpSet::BuiltIn());
  plan.certificate.emplace().checker = "partita checker 2";
  plan.certificate->plan_hash = "0123";
  ASSERT_TRUE(WritePlan(plan, path).ok());
  const absl::Status status = LoadPlan(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("found a certificate over the hash 0123"),
            absl::string_view::npos)
      << status;
  EXPECT_EQ(Session::Load(path).status(), status);
}

TEST(SessionTest, APlanWithoutEntriesIsRefused) {
  Plan plan = *ParsePlan(kTwoDevices, "plan", OpSet::BuiltIn());
  plan.entries.clear();
  EXPECT_EQ(Session::Create(std::make_shared<Plan>(std::move(plan)))
                .status()
                .message(),
            "plan @f: found no entry; expected one or more; compile the model "
            "again");
}

TEST(SessionTest, AVirtualMachineGivesTheSameBits) {
  const std::string gpus = absl::StrReplaceAll(
      kTwoDevices, {{"cpu:", "gpu:"}, {" cpu threads", " cuda threads"}});
  auto refused = Session::Create(PlanOf(gpus));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  auto session =
      Session::Create(PlanOf(gpus), {.devices = DeviceMode::kVirtual});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->SetInput("x", X()).ok());
  for (uint64_t seed = 0; seed < 10; ++seed) {
    ASSERT_TRUE((*session)->Run({.chaos_seed = seed}).ok());
    EXPECT_EQ(Values(**(*session)->GetOutput("y")), kY);
  }
}

TEST(SessionTest, TheReferenceHasTheSameBits) {
  for (DeviceMode mode : {DeviceMode::kReal, DeviceMode::kVirtual}) {
    auto session = Session::Create(PlanOf(kTwoDevices), {.devices = mode});
    ASSERT_TRUE(session.ok()) << session.status();
    ASSERT_TRUE((*session)->SetInput("x", X()).ok());
    ASSERT_TRUE((*session)->Run().ok());
    auto reference = (*session)->RunReference();
    ASSERT_TRUE(reference.ok()) << reference.status();
    EXPECT_EQ(Values((*reference)[0]), Values(**(*session)->GetOutput("y")));
  }
}

TEST(SessionTest, TheReferenceStartsFromTheVariablesPresentValues) {
  auto session = Session::Create(PlanOf(kCounter));
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(
      (*session)->SetInput("x", HostTensor::Of<float>({2}, {1, 2})).ok());
  ASSERT_TRUE((*session)->Run().ok());
  auto next = (*session)->RunReference();
  ASSERT_TRUE(next.ok()) << next.status();
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ(Values(**(*session)->GetOutput("n")), (std::vector<float>{12, 24}));
  EXPECT_EQ(Values((*next)[0]), (std::vector<float>{12, 24}));
  EXPECT_EQ(Values(*(*session)->ReadVariable("v")),
            (std::vector<float>{12, 24}));
  ASSERT_TRUE((*session)->Restore().ok());
  EXPECT_EQ(Values(*(*session)->ReadVariable("v")),
            (std::vector<float>{10, 20}));
}

std::vector<ReplacedKernel> ReplacedIn(const std::string& plan,
                                       DeviceMode devices) {
  auto session = Session::Create(PlanOf(plan), {.devices = devices});
  EXPECT_TRUE(session.ok()) << session.status();
  return (*session)->ReplacedKernels();
}

TEST(SessionTest, AKernelInAnotherArithmeticIsReplacedAndCounted) {
  const auto replaced = ReplacedIn(
      absl::StrReplaceAll(kSharded,
                          {{"by \"reference.eval\"",
                            "by reference.eval {arithmetic = \"eval 0\"}"}}),
      DeviceMode::kVirtual);
  ASSERT_EQ(replaced.size(), 1u);
  EXPECT_EQ(replaced[0].planned, "reference.eval");
  EXPECT_EQ(replaced[0].planned_arithmetic, "eval 0");
  EXPECT_EQ(replaced[0].bound, "reference.eval");
  EXPECT_EQ(replaced[0].bound_arithmetic, "eval 1");
  EXPECT_EQ(replaced[0].commands, 2);  // one for each rank, on two streams
}

TEST(SessionTest, TheArithmeticThatThePlanNamesIsNoReplacement) {
  const std::string own = absl::StrReplaceAll(
      kSharded, {{"by \"reference.eval\"",
                  "by reference.eval {arithmetic = \"eval 1\"}"}});
  EXPECT_TRUE(ReplacedIn(kSharded, DeviceMode::kVirtual).empty());
  EXPECT_TRUE(ReplacedIn(own, DeviceMode::kVirtual).empty());
  EXPECT_TRUE(ReplacedIn(own, DeviceMode::kReal).empty());
}

TEST(SessionTest, TheReferenceComputesWithTheKernelsThatWereBound) {
  const std::string plan =
      absl::StrReplaceAll(kTwoDevices, {{"reference.eval", "absent.kernel"}});
  for (DeviceMode mode : {DeviceMode::kReal, DeviceMode::kVirtual}) {
    auto session = Session::Create(PlanOf(plan), {.devices = mode});
    ASSERT_TRUE(session.ok()) << session.status();
    for (const ReplacedKernel& replaced : (*session)->ReplacedKernels()) {
      EXPECT_EQ(replaced.planned, "absent.kernel");
      EXPECT_NE(replaced.bound, "");
      EXPECT_NE(replaced.bound_arithmetic, "");
    }
    EXPECT_EQ((*session)->ReplacedKernels().size(), 2u);
    ASSERT_TRUE((*session)->SetInput("x", X()).ok());
    ASSERT_TRUE((*session)->Run().ok());
    auto reference = (*session)->RunReference();
    ASSERT_TRUE(reference.ok()) << reference.status();
    EXPECT_TRUE((*reference)[0].byte_span() ==
                (**(*session)->GetOutput("y")).byte_span());
  }
}

// This program has no code generator.
TEST(SessionTest, OneLineReportsAnInterpreterInPlaceOfGeneratedCode) {
  const std::string plan = absl::StrReplaceAll(
      kTwoDevices, {{"relu %t : f32[2, 2] on cpu:1 by \"reference.eval\"",
                     "relu %t : f32[2, 2] on cpu:1 by codegen.elementwise"}});
  auto session = Session::Create(PlanOf(plan));
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(absl::StartsWith(
      (*session)->notice(),
      "an interpreter, which is slow, computes 1 generated kernels: codegen: "
      "found no libpartita_codegen.so in "))
      << (*session)->notice();
  EXPECT_FALSE(absl::StrContains((*session)->notice(), "\n"));
}

TEST(SessionTest, AnInterpreterThatReplacesAKernelIsNamed) {
  const auto replaced = ReplacedIn(
      absl::StrReplaceAll(
          kTwoDevices, {{"relu %t : f32[2, 2] on cpu:1 by \"reference.eval\"",
                         "relu %t : f32[2, 2] on cpu:1 by other.relu"}}),
      DeviceMode::kReal);
  ASSERT_EQ(replaced.size(), 1u);
  EXPECT_EQ(replaced[0].planned, "other.relu");
  EXPECT_EQ(replaced[0].bound, "codegen.elementwise.interpreted");
}

// Each rank computes its own shard, and needs code for it.
TEST(SessionTest, GeneratedCodeOfShardedNodesIsCountedByRank) {
  const std::string plan = absl::StrReplaceAll(
      kSharded, {{"softmax", "relu"},
                 {" {axis = 1}", ""},
                 {"\"reference.eval\"", "codegen.elementwise"}});
  auto session =
      Session::Create(PlanOf(plan), {.devices = DeviceMode::kVirtual});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(absl::StartsWith(
      (*session)->notice(),
      "an interpreter, which is slow, computes 2 generated kernels: "))
      << (*session)->notice();
}

TEST(SessionTest, OneLineReportsAnInterpreterInPlaceOfKernelsOfGpus) {
  const std::string plan = absl::StrReplaceAll(
      kTwoDevices,
      {{"cpu:1 cpu threads", "gpu:0 cuda threads"}, {"cpu:1", "gpu:0"}});
  auto session =
      Session::Create(PlanOf(plan), {.devices = DeviceMode::kVirtual});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(absl::StartsWith(
      (*session)->notice(),
      "an interpreter, which is slow, replaces up to 1 kernels of GPUs: "
      "codegen: found no libpartita_codegen.so in "))
      << (*session)->notice();
}

TEST(SessionTest, RanksOfASetComputeTheirRows) {
  auto session =
      Session::Create(PlanOf(kSharded), {.devices = DeviceMode::kVirtual});
  ASSERT_TRUE(session.ok()) << session.status();
  HostTensor x(TensorType{DType::kF32, {5, 3}, {}});
  for (int i = 0; i < 15; ++i) x.data<float>()[i] = 0.25f * (i % 7);
  ASSERT_TRUE((*session)->SetInput("x", x).ok());
  ASSERT_TRUE((*session)->Run().ok());
  auto reference = (*session)->RunReference();
  ASSERT_TRUE(reference.ok()) << reference.status();
  const std::vector<float> y = Values(**(*session)->GetOutput("y"));
  EXPECT_EQ(y, Values((*reference)[0]));
  for (int row = 0; row < 5; ++row) {
    EXPECT_NEAR(y[3 * row] + y[3 * row + 1] + y[3 * row + 2], 1, 1e-6);
    const float ratio = y[3 * row + 1] / y[3 * row];
    EXPECT_NEAR(
        ratio,
        std::exp(x.data<float>()[3 * row + 1] - x.data<float>()[3 * row]),
        1e-5);
  }
}

TEST(SessionTest, BoundBytesAreReadAndWrittenWhereTheyLie) {
  auto session = Session::Create(PlanOf(kTwoDevices));
  ASSERT_TRUE(session.ok());
  const HostTensor x = X();
  std::vector<float> y(4);
  ASSERT_TRUE((*session)->BindInput(0, x.bytes()).ok());
  ASSERT_TRUE((*session)->BindOutput(0, y.data()).ok());
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ(y, kY);
  EXPECT_EQ((*session)->GetOutput("y").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(SessionTest, ATracedStepOpensInViewers) {
  auto session = Session::Create(PlanOf(kTwoDevices));
  ASSERT_TRUE(session.ok());
  EXPECT_FALSE((*session)->LastTraceJson().ok());
  ASSERT_TRUE((*session)->SetInput("x", X()).ok());
  ASSERT_TRUE((*session)->Run({.trace = true}).ok());
  auto json = (*session)->LastTraceJson();
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_NE(json->find("matmul %h"), std::string::npos);
  EXPECT_EQ(json->find("emulated"), std::string::npos);
}

TEST(SessionTest, ATraceOfEmulatedDevicesSaysSo) {
  auto session =
      Session::Create(PlanOf(kTwoDevices), {.devices = DeviceMode::kVirtual});
  ASSERT_TRUE(session.ok());
  ASSERT_TRUE((*session)->SetInput("x", X()).ok());
  ASSERT_TRUE((*session)->Run({.trace = true}).ok());
  auto json = (*session)->LastTraceJson();
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_NE(json->find("{\"labels\": \"emulated\"}"), std::string::npos);
}

TEST(SessionTest, WrongUseIsExplained) {
  auto session = Session::Create(PlanOf(kTwoDevices));
  ASSERT_TRUE(session.ok());
  EXPECT_EQ((*session)->Run().message(),
            "session: found input `x` without a value; expected one; call "
            "SetInput before Run");
  EXPECT_EQ((*session)->SetInput("z", X()).message(),
            "input z: found no such input; expected one of x");
  EXPECT_EQ(
      (*session)->SetInput("x", HostTensor({DType::kF32, {3}, {}})).message(),
      "input x: found f32[3]; expected f32[2, 3]");
  EXPECT_EQ((*session)->SetInput(7, X()).message(),
            "session: found input 7; expected an index below 1");
  EXPECT_EQ((*session)->UseEntry("g").message(),
            "entry g: found no such entry in plan @f; expected one of f");
}

TEST(SessionTest, APlanThatIsNotProvedIsRefused) {
  // Without the wait, relu may read before the copy has ended.
  const std::string race =
      absl::StrReplaceAll(kTwoDevices, {{"      4  wait ev0\n", ""},
                                        {"5  kernel %y", "4  kernel %y"},
                                        {"6  fetch", "5  fetch"}});
  const absl::Status status = Session::Create(PlanOf(race)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
}

// Once for each real device; virtual ones emulate any machine.
void ExpectMadeForAnotherMachine(absl::string_view plan,
                                 absl::string_view difference) {
  const absl::Status status = Session::Create(PlanOf(plan)).status();
  EXPECT_TRUE(absl::StrContains(status.message(), difference)) << status;
  EXPECT_TRUE(absl::StartsWith(
      status.message(),
      "plan @f is for another machine than this host; let this host emulate "
      "its devices (--virtual), or compile the model for this host\n  "))
      << status;
  auto timed = Session::Create(PlanOf(plan), {.devices = DeviceMode::kTimed});
  EXPECT_FALSE(absl::StrContains(timed.status().message(), "another machine"))
      << timed.status();
}

TEST(SessionTest, AnotherInstructionSetIsRefused) {
  ExpectMadeForAnotherMachine(
      absl::StrReplaceAll(kTwoDevices, {{"cpu:0 cpu threads 1 isa \"\"",
                                         "cpu:0 cpu threads 1 isa \"mmix\""}}),
      "cpu:0: found a plan for the instruction set mmix; expected one");
}

TEST(SessionTest, MoreThreadsThanTheHostHasAreRefused) {
  ExpectMadeForAnotherMachine(
      absl::StrReplaceAll(kTwoDevices, {{"threads 1 ", "threads 4096 "}}),
      "cpu:0 and cpu:1: found a plan for 8192 threads; expected at most "
      "the ");
}

TEST(SessionTest, MoreMemoryThanTheHostHasIsRefused) {
  constexpr char kHuge[] = "562949953421312";  // 512 TiB
  ExpectMadeForAnotherMachine(
      absl::StrReplaceAll(kTwoDevices,
                          {{"memory 4096 ", "memory 1125899906842624 "},
                           {"step 128", absl::StrCat("step ", kHuge)}}),
      "cpu:0 and cpu:1: found arenas of 562949953421568 bytes; expected at "
      "most the ");
}

TEST(SessionTest, AMissingFileIsNamed) {
  const absl::Status status = Session::Load("/nowhere/x.plan").status();
  EXPECT_NE(status.message().find("/nowhere/x.plan"), absl::string_view::npos)
      << status;
}

}  // namespace
}  // namespace partita
