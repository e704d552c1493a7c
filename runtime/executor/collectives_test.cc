// Tests collectives in plans: values, failures, deadlines, chaos.
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "graph/core_ops.h"
#include "graph/ops/op_list.h"
#include "graph/shard.h"
#include "gtest/gtest.h"
#include "runtime/device/host_device.h"
#include "runtime/executor/plan_builder.h"
#include "runtime/executor/reference_run.h"
#include "runtime/executor/test_session.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

using std::chrono::milliseconds;

constexpr int kRows = 13;
constexpr int kColumns = 37;
constexpr Sharding kWhole{};
constexpr Sharding kRowsSplit{.kind = Sharding::Kind::kSplit, .dim = 0};
constexpr Sharding kColumnsSplit{.kind = Sharding::Kind::kSplit, .dim = 1};
constexpr Sharding kSum{.kind = Sharding::Kind::kPartial};

int64_t RowsBefore(int rank, int ranks) { return rank * kRows / ranks; }

// Adds a node on the devices.
ValueId OnDevices(PlanBuilder& b, const std::vector<int>& devices,
                  const OpDef& op, ValueId operand, const std::string& name,
                  Sharding from, Sharding to) {
  NodeSpec spec{.op = &op, .operands = {operand}, .result_names = {name}};
  if (&op == &kReduceSum) {
    spec.attributes.Set("axes", std::vector<int64_t>{0});
  }
  for (const int device : devices) {
    spec.placement.devices.push_back(b.plan().devices[device].traits.name);
  }
  spec.placement.operands = {from};
  spec.placement.results = {to};
  return *b.graph().AddValue(std::move(spec));
}

// The shardings of p and r. Rank m's shard of r is on device (m + shift) modulo
// the number of ranks. With `one_root`, only device 0 makes p.
struct Kind {
  CollectiveKind kind;
  Sharding made;
  Sharding wanted;
  bool in_place = false;
  bool one_root = false;
  int shift = 0;
};
// reduce_sum keeps a row of extent 1, so the collective scatters columns.
constexpr Kind kAllReduce = {CollectiveKind::kAllReduce, kSum, kWhole};
constexpr Kind kAllGather = {CollectiveKind::kAllGather, kRowsSplit, kWhole};
constexpr Kind kKinds[] = {
    kAllReduce,
    {CollectiveKind::kAllReduce, kSum, kWhole, /*in_place=*/true},
    {CollectiveKind::kReduceScatter, kSum, kColumnsSplit},
    kAllGather,
    {CollectiveKind::kAllToAll, kRowsSplit, kColumnsSplit},
    {.kind = CollectiveKind::kBroadcast, .one_root = true},
    {.kind = CollectiveKind::kBroadcast, .one_root = true, .shift = 1},
    {.kind = CollectiveKind::kPermute,
     .made = kRowsSplit,
     .wanted = kRowsSplit,
     .shift = 1}};

bool Sums(const Kind& kind) {
  return kind.made.kind == Sharding::Kind::kPartial;
}

// x[13, 37] on every device. Each device makes from its rows s of x
//   p = relu s,                          r = p in another sharding, or
//   p = sum of rows s, a partial sum,    r = p, reduced.
// Every rank fetches its r into its slice of the output. One stream for each
// device.
std::shared_ptr<Plan> CollectivePlan(
    int ranks, const Kind& kind, DeviceKind device_kind = DeviceKind::kCpu) {
  PlanBuilder b(ranks, device_kind);
  std::vector<int> makers, takers;
  for (int d = 0; d < ranks; ++d) {
    if (d == 0 || !kind.one_root) makers.push_back(d);
    takers.push_back((d + kind.shift) % ranks);
  }
  const int shards = static_cast<int>(makers.size());
  const Sharding rows = kind.one_root ? kWhole : kRowsSplit;
  const ValueId x = b.Input("x", {DType::kF32, {kRows, kColumns}, {}});
  const ValueId s = OnDevices(b, makers, kCopy, x, "s", kWhole, rows);
  const ValueId p = OnDevices(b, makers, Sums(kind) ? kReduceSum : kRelu, s,
                              "p", rows, kind.made);
  b.graph().node(b.graph().value(p).defining_node).kernel =
      KernelBinding{.kernel = "test.eval"};
  const ValueId r = OnDevices(b, takers, kCopy, p, "r", kind.made, kind.wanted);
  const NodeId collective = b.graph().value(r).defining_node;
  EXPECT_EQ(CollectiveOf(b.graph().view(collective)), kind.kind);
  std::vector<StreamId> streams;
  for (int d = 0; d < ranks; ++d) streams.push_back(b.NewStream("s", d));
  std::vector<BufferId> partials(ranks);
  for (int m = 0; m < shards; ++m) {
    const TensorType part = ShardType(b.graph().type(p), kind.made, m, shards);
    const BufferId whole = b.Room("x", m, x);
    Buffer shard = b.entry().buffers[whole.index];
    shard.range.offset += RowsBefore(m, shards) * kColumns * 4;
    shard.range.block =
        (RowsBefore(m + 1, shards) - RowsBefore(m, shards)) * kColumns * 4;
    b.entry().buffers.push_back(shard);
    const BufferId read(static_cast<int32_t>(b.entry().buffers.size()) - 1);
    partials[m] = b.RoomOf("p", m, part.num_bytes());
    b.Feed(streams[m], 0, whole);
    b.Kernel(streams[m], p, {read}, partials[m]).instance.rank = m;
  }
  std::vector<StreamId> of_ranks;
  for (const int device : takers) of_ranks.push_back(streams[device]);
  const GroupId group = b.NewGroup(of_ranks);
  std::vector<BufferId> found(ranks);
  for (int m = 0; m < ranks; ++m) {
    const int device = takers[m];
    const TensorType result =
        ShardType(b.graph().type(r), kind.wanted, m, ranks);
    // The root of a broadcast holds the value already, so it receives nothing.
    const bool root = kind.one_root && device == 0;
    found[m] = partials[device];
    if (!kind.in_place && !root) {
      found[m] = b.RoomOf("r", device, result.num_bytes());
    }
    b.Collective(streams[device], r, m, partials[device],
                 root ? BufferId() : found[m], group);
  }
  for (int m = 0; m < ranks; ++m) {
    b.Output("r", r);
    b.Fetch(streams[takers[m]], m, found[m]);
  }
  return b.Finish();
}

Floats Input(int step) {
  Floats x(kRows * kColumns);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = 0.3f * static_cast<float>((i * 7 + step) % 11) - 1.1f;
  }
  return x;
}

absl::Status RunPlan(TestSession& session, const Plan& plan, const Floats& x,
                     std::vector<Floats>& outputs,
                     const RunOptions& options = {}) {
  outputs.clear();
  std::vector<void*> out;
  for (const Port& port : plan.entries[0].outputs) {
    outputs.emplace_back(port.type.num_elements(), -7.0f);
    out.push_back(outputs.back().data());
  }
  const void* in = x.data();
  return session->Run(0, {{&in, 1}, out}, options);
}

// Every rank's result equals its slice of the reference, bit for bit.
void ExpectReference(const Plan& plan, const KernelLibraries& libraries,
                     Sharding wanted, const Floats& x,
                     const std::vector<Floats>& outputs) {
  const void* in = x.data();
  const auto reference = ReferenceRun(plan, 0, {&in, 1}, libraries);
  ASSERT_TRUE(reference.ok()) << reference.status();
  const int ranks = static_cast<int>(outputs.size());
  for (int m = 0; m < ranks; ++m) {
    const HostTensor whole =
        HostTensor::Of<float>((*reference)[m].type().dims, outputs[m]);
    const HostTensor found = ShardOf(whole, wanted, m, ranks);
    const HostTensor part = ShardOf((*reference)[m], wanted, m, ranks);
    EXPECT_EQ(std::memcmp(part.bytes(), found.bytes(), part.byte_span().size()),
              0)
        << "rank " << m << " of " << ranks;
  }
}

// After a failure, the next step is correct.
void ExpectRunsAgain(TestSession& session, const Plan& plan, Sharding wanted) {
  session.library.before_launch = nullptr;
  std::vector<Floats> outputs;
  const absl::Status status = RunPlan(session, plan, Input(1), outputs);
  ASSERT_TRUE(status.ok()) << status;
  ExpectReference(plan, {&session.library}, wanted, Input(1), outputs);
}

TEST(CollectivesTest, EveryCollectiveEqualsItsReference) {
  for (const Kind& kind : kKinds) {
    for (const int ranks : {2, 3, 4}) {
      const auto plan = CollectivePlan(ranks, kind);
      for (const RunOn run_on : {RunOn::kCpu, RunOn::kVirtual}) {
        TestSession session(plan, run_on);
        ASSERT_TRUE(session.status().ok()) << session.status();
        for (int step = 0; step < 20; ++step) {
          std::vector<Floats> outputs;
          ASSERT_TRUE(RunPlan(session, *plan, Input(step), outputs).ok());
          ExpectReference(*plan, {&session.library}, kind.wanted, Input(step),
                          outputs);
        }
      }
    }
  }
}

// Runs some steps on devices whose memory the host cannot access, except the
// first `cpus` of them.
void ExpectStagedRanksEqualReference(const Kind& kind, int ranks, int cpus) {
  const auto plan = CollectivePlan(ranks, kind, DeviceKind::kCuda);
  Devices devices = NewDevices(*plan, RunOn::kLate);
  for (int d = 0; d < cpus; ++d) {
    plan->devices[d].traits.kind = DeviceKind::kCpu;
    devices[d] = NewCpuDevice(plan->devices[d].traits);
  }
  TestSession session(plan, std::move(devices));
  ASSERT_TRUE(session.status().ok()) << session.status();
  const auto on_cpus = CollectivePlan(ranks, kind);
  for (int step = 0; step < 5; ++step) {
    std::vector<Floats> outputs;
    ASSERT_TRUE(RunPlan(session, *plan, Input(step), outputs).ok());
    ExpectReference(*on_cpus, {&session.library}, kind.wanted, Input(step),
                    outputs);
  }
}

TEST(CollectivesTest, RanksWhoseMemoryTheHostCannotAccessAreStaged) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(CollectiveName(kind.kind));
    for (const int ranks : {2, 3, 4}) {
      ExpectStagedRanksEqualReference(kind, ranks, /*cpus=*/0);
      ExpectStagedRanksEqualReference(kind, ranks, /*cpus=*/1);
    }
  }
}

TEST(CollectivesTest, ChaosChangesNoBit) {
  for (const Kind& kind : kKinds) {
    const auto plan = CollectivePlan(3, kind);
    TestSession session(plan, RunOn::kVirtual);
    std::vector<Floats> first, outputs;
    ASSERT_TRUE(RunPlan(session, *plan, Input(0), first).ok());
    for (uint64_t seed = 0; seed < 20; ++seed) {
      ASSERT_TRUE(
          RunPlan(session, *plan, Input(0), outputs, {.chaos_seed = seed})
              .ok());
      EXPECT_EQ(outputs, first) << "seed " << seed;
    }
  }
}

TEST(CollectivesTest, AFailureWakesRanksThatWaitInACollective) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(CollectiveName(kind.kind));
    const auto plan = CollectivePlan(3, kind);
    const int makers = kind.one_root ? 1 : 3;
    TestSession session(plan);
    std::vector<Floats> outputs;
    for (int round = 0; round < 5; ++round) {
      std::atomic<int> launches{0};
      session.library.before_launch = [&](const OpView&) {
        if (++launches < makers) return absl::OkStatus();
        std::this_thread::sleep_for(milliseconds(2));  // the others wait by now
        return absl::UnavailableError("injected");
      };
      const absl::Status status = RunPlan(session, *plan, Input(0), outputs);
      ASSERT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
      EXPECT_EQ(session->last_failure()->kind, "kernel");
      EXPECT_EQ(session->last_failure()->node,
                Sums(kind) ? "reduce_sum %p" : "relu %p");
      ExpectRunsAgain(session, *plan, kind.wanted);
    }
  }
}

TEST(CollectivesTest, ADeadlineInACollectiveNamesACommand) {
  const auto plan = CollectivePlan(3, kAllGather);
  TestSession session(plan);
  std::vector<Floats> outputs;
  std::atomic<int> launches{0};
  session.library.before_launch = [&](const OpView&) {
    if (++launches == 3) std::this_thread::sleep_for(milliseconds(60));
    return absl::OkStatus();
  };
  const absl::Status status = RunPlan(
      session, *plan, Input(0), outputs,
      {.deadline = std::chrono::steady_clock::now() + milliseconds(20)});
  ASSERT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  // The error names a waiting rank, or the command that the caller waits for.
  EXPECT_GE(session->last_failure()->command, 0) << status;
  EXPECT_EQ(session->last_failure()->stream, "s");
  ExpectRunsAgain(session, *plan, kWhole);
}

TEST(CollectivesTest, ACancelledRunLeavesNoRankInACollective) {
  const auto plan = CollectivePlan(4, kAllReduce);
  TestSession session(plan);
  std::vector<Floats> outputs;
  std::stop_source source;
  std::atomic<int> launches{0};
  session.library.before_launch = [&](const OpView&) {
    if (++launches == 4) source.request_stop();
    return absl::OkStatus();
  };
  const absl::Status status = RunPlan(session, *plan, Input(0), outputs,
                                      {.cancel = source.get_token()});
  ASSERT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  ExpectRunsAgain(session, *plan, kWhole);
}

}  // namespace
}  // namespace partita
