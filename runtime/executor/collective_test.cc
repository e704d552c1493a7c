// Tests every kind of collective over ranks, types and odd sizes, with one
// thread for each rank.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/collective.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "graph/core_ops.h"
#include "graph/shard.h"
#include "gtest/gtest.h"
#include "runtime/device/host_device.h"
#include "runtime/executor/rendezvous.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

constexpr Sharding kWhole{};
Sharding Split(int dim, int64_t unit = 1) {
  return {.kind = Sharding::Kind::kSplit, .dim = dim, .unit = unit};
}
// For a value with extents 6, 7 and 9.
std::vector<Sharding> Splits() {
  return {Split(0), Split(0, 2), Split(0, 3), Split(1), Split(2), Split(2, 3)};
}
Sharding Partial(Reduction reduction) {
  return {.kind = Sharding::Kind::kPartial, .reduction = reduction};
}

// A copy node between two shardings over `ranks` devices.
class CopyOver {
 public:
  CopyOver(const TensorType& type, int ranks, Sharding from, Sharding to)
      : graph_("f", &literals_) {
    const ValueId x = graph_.AddInput("x", type);
    NodeSpec spec{.op = &kCopy, .operands = {x}, .result_names = {"r"}};
    for (int m = 0; m < ranks; ++m) {
      spec.placement.devices.push_back(std::string(1, 'a' + m));
    }
    spec.placement.operands = {from};
    spec.placement.results = {to};
    node_ = *graph_.AddNode(std::move(spec));
  }
  // From a value on devices `from` to devices `to`.
  CopyOver(const TensorType& type, const std::string& from,
           const std::string& to, Sharding sharding)
      : graph_("f", &literals_) {
    const ValueId x = graph_.AddInput("x", type);
    graph_.set_input_placement(0, Over(from, sharding));
    NodeSpec spec{.op = &kCopy, .operands = {x}, .result_names = {"r"}};
    spec.placement = Over(to, sharding);
    spec.placement.operands = {sharding};
    node_ = *graph_.AddNode(std::move(spec));
  }
  OpView view() const { return graph_.view(node_); }

 private:
  // One letter for each device.
  static Placement Over(const std::string& devices, Sharding sharding) {
    Placement placement;
    for (const char device : devices) {
      placement.devices.push_back(std::string(1, device));
    }
    placement.results = {sharding};
    return placement;
  }

  LiteralPool literals_;
  Graph graph_;
  NodeId node_;
};

using Tensors = std::vector<HostTensor>;

std::vector<std::byte*> BytesOf(Tensors& tensors) {
  std::vector<std::byte*> bytes;
  for (HostTensor& tensor : tensors) bytes.push_back(tensor.bytes());
  return bytes;
}

// One rank's thread, as in a step.
void RunBetweenBarriers(const std::vector<RankWork>& bucket, int rank,
                        Rendezvous& rendezvous) {
  const auto stream = NewCpuDevice({})->NewStream().value();
  rendezvous.Arrive(rank, 1);
  EXPECT_TRUE(rendezvous.WaitForAll(1, {}));
  for (const RankWork& work : bucket) {
    EXPECT_EQ(RunRankWork(work, *stream), absl::OkStatus());
  }
  rendezvous.Arrive(rank, 2);
  EXPECT_TRUE(rendezvous.WaitForAll(2, {}));
}

void RunRanks(const OpView& node, const std::vector<std::byte*>& operands,
              const std::vector<std::byte*>& results) {
  const int ranks = static_cast<int>(operands.size());
  Rendezvous rendezvous(ranks);
  std::vector<std::thread> threads;
  for (int m = 0; m < ranks; ++m) {
    threads.emplace_back([&, m] {
      const auto work = BindCollective(node, 0, m, operands, results);
      ASSERT_TRUE(work.ok()) << work.status();
      RunBetweenBarriers({*work}, m, rendezvous);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Small whole numbers: every type and every order of summation is exact.
HostTensor Numbers(const TensorType& type, int seed) {
  HostTensor tensor(type);
  VisitDType(type.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    uint32_t i = seed;
    for (T& x : tensor.data<T>()) x = static_cast<T>((i = i * 7 + 3) % 5);
  });
  return tensor;
}

HostTensor Reduced(const Tensors& parts, Reduction reduction) {
  HostTensor reduced = parts[0].Clone();
  VisitDType(reduced.type().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (size_t p = 1; p < parts.size(); ++p) {
      for (int64_t i = 0; i < reduced.type().num_elements(); ++i) {
        T& a = reduced.data<T>()[i];
        const T b = parts[p].data<T>()[i];
        if (reduction == Reduction::kSum) a = static_cast<T>(a + b);
        if (reduction == Reduction::kMax) a = b > a ? b : a;
        if (reduction == Reduction::kMin) a = b < a ? b : a;
      }
    }
  });
  return reduced;
}

void ExpectSame(const HostTensor& found, const HostTensor& expected,
                const std::string& what) {
  ASSERT_EQ(found.type(), expected.type()) << what;
  EXPECT_EQ(
      std::memcmp(found.bytes(), expected.bytes(), expected.byte_span().size()),
      0)
      << what;
}

constexpr DType kTypes[] = {DType::kF64, DType::kF32, DType::kF16, DType::kBF16,
                            DType::kI64, DType::kI32, DType::kI16, DType::kI8,
                            DType::kU8,  DType::kU16, DType::kU32, DType::kU64};

TEST(CollectiveTest, AllReduceGivesEveryRankTheReducedValue) {
  for (const DType dtype : kTypes) {
    for (const int ranks : {2, 3, 4}) {
      for (const int64_t size : {1, 2, 5, 511, 1031}) {
        for (const Reduction reduction :
             {Reduction::kSum, Reduction::kMax, Reduction::kMin}) {
          const TensorType type{dtype, {size}, {}};
          const CopyOver node(type, ranks, Partial(reduction), kWhole);
          Tensors parts, results;
          for (int m = 0; m < ranks; ++m) {
            parts.push_back(Numbers(type, m));
            results.emplace_back(type);
          }
          const HostTensor expected = Reduced(parts, reduction);
          RunRanks(node.view(), BytesOf(parts), BytesOf(results));
          for (const HostTensor& result : results) {
            ExpectSame(result, expected, type.ToString());
          }
          RunRanks(node.view(), BytesOf(parts), BytesOf(parts));
          for (const HostTensor& result : parts) {
            ExpectSame(result, expected, type.ToString() + " in place");
          }
        }
      }
    }
  }
}

TEST(CollectiveTest, ReduceScatterGivesEachRankItsShard) {
  for (const int ranks : {2, 3, 4}) {
    for (const Sharding& split : Splits()) {
      const TensorType type{DType::kF32, {6, 7, 9}, {}};
      const CopyOver node(type, ranks, Partial(Reduction::kSum), split);
      Tensors parts, results;
      for (int m = 0; m < ranks; ++m) {
        parts.push_back(Numbers(type, m));
        results.emplace_back(ShardType(type, split, m, ranks));
      }
      const HostTensor whole = Reduced(parts, Reduction::kSum);
      RunRanks(node.view(), BytesOf(parts), BytesOf(results));
      for (int m = 0; m < ranks; ++m) {
        ExpectSame(results[m], ShardOf(whole, split, m, ranks), "a shard");
      }
    }
  }
}

TEST(CollectiveTest, AllGatherAndAllToAllPutTheShardsTogether) {
  const TensorType type{DType::kI16, {6, 7, 9}, {}};
  const HostTensor whole = Numbers(type, 1);
  std::vector<Sharding> all = Splits();
  all.push_back(kWhole);
  for (const int ranks : {1, 2, 3, 4}) {
    for (const Sharding& from : Splits()) {
      for (const Sharding& wanted : all) {
        if (from == wanted) continue;
        const CopyOver node(type, ranks, from, wanted);
        Tensors parts, results;
        for (int m = 0; m < ranks; ++m) {
          parts.push_back(ShardOf(whole, from, m, ranks));
          results.emplace_back(ShardType(type, wanted, m, ranks));
        }
        RunRanks(node.view(), BytesOf(parts), BytesOf(results));
        for (int m = 0; m < ranks; ++m) {
          ExpectSame(results[m], ShardOf(whole, wanted, m, ranks), "a result");
        }
      }
    }
  }
}

// The root needs the value itself, or it only sends.
TEST(CollectiveTest, ABroadcastGivesEveryRankTheRootsValue) {
  for (const char* to : {"ab", "abc", "abcd", "cba", "bcd", "be"}) {
    for (const int64_t size : {1, 5, 1031}) {
      const TensorType type{DType::kI16, {size}, {}};
      const CopyOver node(type, "a", to, kWhole);
      ASSERT_EQ(CollectiveOf(node.view()), CollectiveKind::kBroadcast);
      HostTensor value = Numbers(type, 3);
      Tensors results;
      std::vector<std::byte*> operands;
      const std::vector<Participant> ranks = ParticipantsOf(node.view());
      for (const Participant& rank : ranks) {
        results.emplace_back(type);
        operands.push_back(rank.device == "a" ? value.bytes() : nullptr);
      }
      std::vector<std::byte*> taken = BytesOf(results);
      for (size_t m = 0; m < ranks.size(); ++m) {
        if (ranks[m].device == "a") taken[m] = nullptr;
      }
      RunRanks(node.view(), operands, taken);
      for (size_t m = 0; m < ranks.size(); ++m) {
        if (taken[m] != nullptr) ExpectSame(results[m], value, to);
      }
    }
  }
}

// Devices that send and receive, only send, or only receive; uneven shards.
TEST(CollectiveTest, APermuteGivesEachShardToItsNewDevice) {
  const TensorType type{DType::kF32, {7, 5}, {}};
  const HostTensor whole = Numbers(type, 1);
  const std::pair<std::string, std::string> moves[] = {
      {"ab", "ba"}, {"abc", "bca"}, {"ab", "cd"}, {"ab", "bc"}, {"abc", "dab"}};
  for (const auto& [from, to] : moves) {
    for (const int dim : {0, 1}) {
      const int shards = static_cast<int>(from.size());
      const CopyOver node(type, from, to, Split(dim));
      ASSERT_EQ(CollectiveOf(node.view()), CollectiveKind::kPermute);
      Tensors given, taken;
      std::vector<std::byte*> operands, results;
      for (const Participant& rank : ParticipantsOf(node.view())) {
        given.push_back(
            ShardOf(whole, Split(dim), std::max(0, rank.gives), shards));
        taken.emplace_back(
            ShardType(type, Split(dim), std::max(0, rank.takes), shards));
        operands.push_back(rank.gives < 0 ? nullptr : given.back().bytes());
        results.push_back(rank.takes < 0 ? nullptr : taken.back().bytes());
      }
      RunRanks(node.view(), operands, results);
      for (int m = 0; m < shards; ++m) {
        ExpectSame(taken[m], ShardOf(whole, Split(dim), m, shards), to);
      }
    }
  }
}

// If a part stays on its device, no rank sends it; if two devices hold a part,
// the sender is ambiguous.
TEST(CollectiveTest, OtherCopiesAreNotCollectives) {
  const TensorType type{DType::kF32, {8}, {}};
  for (const auto& node :
       {CopyOver(type, "abc", "acb", Split(0)),
        CopyOver(type, "ab", "abc", kWhole), CopyOver(type, "a", "b", kWhole),
        CopyOver(type, "ab", "ab", Split(0))}) {
    EXPECT_EQ(CollectiveOf(node.view()), std::nullopt);
  }
}

// The smaller side is the rank's slice of the larger side.
TEST(CollectiveTest, ShardsMayBeInPlace) {
  const int ranks = 3;
  const TensorType type{DType::kF32, {8, 5}, {}};
  Tensors parts;
  for (int m = 0; m < ranks; ++m) parts.push_back(Numbers(type, m));
  const HostTensor whole = Reduced(parts, Reduction::kSum);
  std::vector<std::byte*> slices = BytesOf(parts);
  for (int m = 0; m < ranks; ++m) {
    slices[m] += m * 8 / ranks * 5 * sizeof(float);
  }
  const CopyOver scatter(type, ranks, Partial(Reduction::kSum), Split(0));
  RunRanks(scatter.view(), BytesOf(parts), slices);
  const CopyOver gather(type, ranks, Split(0), kWhole);
  RunRanks(gather.view(), slices, BytesOf(parts));
  for (const HostTensor& part : parts) ExpectSame(part, whole, "in place");
}

TEST(CollectiveTest, SumsFollowTheOrderOfRanks) {
  const TensorType type{DType::kF32, {3}, {}};
  const float values[] = {1e8f, 1, -1e8f};
  const CopyOver node(type, 3, Partial(Reduction::kSum), kWhole);
  Tensors parts;
  for (const float value : values) {
    parts.push_back(HostTensor::Of<float>({3}, {value, value, value}));
  }
  RunRanks(node.view(), BytesOf(parts), BytesOf(parts));
  for (const HostTensor& part : parts) {
    for (const float x : part.data<float>()) EXPECT_EQ(x, 0);
  }
}

// In f16 each pairwise sum is rounded: there, 2048 + 1 is 2048.
TEST(CollectiveTest, HalvesAreReducedInSingles) {
  const TensorType type{DType::kF16, {1}, {}};
  const CopyOver node(type, 4, Partial(Reduction::kSum), kWhole);
  Tensors parts;
  for (const double value : {2048.0, 1.0, 1.0, 0.0}) {
    parts.push_back(HostTensor::Of<Half>({1}, {Half(value)}));
  }
  RunRanks(node.view(), BytesOf(parts), BytesOf(parts));
  EXPECT_EQ(static_cast<double>(parts[2].data<Half>()[0]), 2050);
}

TEST(CollectiveTest, BoolsAreReducedByAndAndOr) {
  const TensorType type{DType::kBool, {3}, {}};
  for (const bool is_and : {true, false}) {
    const CopyOver node(
        type, 2, Partial(is_and ? Reduction::kAnd : Reduction::kOr), kWhole);
    Tensors parts;
    for (int m = 0; m < 2; ++m) {
      parts.emplace_back(type);
      parts[m].data<bool>()[0] = true;
      parts[m].data<bool>()[1] = m == 1;
      parts[m].data<bool>()[2] = false;
    }
    RunRanks(node.view(), BytesOf(parts), BytesOf(parts));
    EXPECT_TRUE(parts[0].data<bool>()[0]);
    EXPECT_EQ(parts[1].data<bool>()[1], !is_and);
    EXPECT_FALSE(parts[0].data<bool>()[2]);
  }
}

// Two values in one collective; the second has one element, so the last of
// three ranks has no interval of it.
TEST(CollectiveTest, ABucketReducesEachOfItsValues) {
  constexpr int kRanks = 3;
  const CopyOver sum({DType::kF32, {7}, {}}, kRanks, Partial(Reduction::kSum),
                     kWhole);
  const CopyOver max({DType::kI64, {1}, {}}, kRanks, Partial(Reduction::kMax),
                     kWhole);
  Tensors sums, maxima;
  for (int m = 0; m < kRanks; ++m) {
    sums.push_back(Numbers({DType::kF32, {7}, {}}, m + 1));
    maxima.push_back(Numbers({DType::kI64, {1}, {}}, m + 1));
  }
  const HostTensor total = Reduced(sums, Reduction::kSum);
  const HostTensor largest = Reduced(maxima, Reduction::kMax);
  Rendezvous rendezvous(kRanks);
  std::vector<std::thread> threads;
  for (int m = 0; m < kRanks; ++m) {
    threads.emplace_back([&, m] {
      const std::vector<RankWork> bucket = {
          *BindCollective(sum.view(), 0, m, BytesOf(sums), BytesOf(sums)),
          *BindCollective(max.view(), 0, m, BytesOf(maxima), BytesOf(maxima))};
      RunBetweenBarriers(bucket, m, rendezvous);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int m = 0; m < kRanks; ++m) {
    ExpectSame(sums[m], total, "sum");
    ExpectSame(maxima[m], largest, "maximum");
  }
}

TEST(CollectiveTest, AReductionWithoutAMeaningIsRefused) {
  const CopyOver sum({DType::kBool, {3}, {}}, 2, Partial(Reduction::kSum),
                     kWhole);
  EXPECT_EQ(
      BindCollective(sum.view(), 0, 0, {nullptr, nullptr}, {nullptr, nullptr})
          .status()
          .message(),
      "found partial results of bool to reduce by sum; expected sum, max "
      "or min of numbers, or and, or, max, min of bools");
}

}  // namespace
}  // namespace partita
