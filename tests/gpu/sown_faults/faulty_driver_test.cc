// What a driver is given when a fault is sown in a graph, and what the judge
// makes of it.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/sown_faults/faulty_driver.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Indices = std::vector<size_t>;

// A node as the driver below was given it.
struct Given {
  bool is_empty = false;
  CUdeviceptr to = 0;
  CUdeviceptr from = 0;
  size_t bytes = 0;
  Indices after;
};

// A driver that keeps the nodes of one graph and does nothing.
struct Driver {
  std::vector<Given> nodes;
  std::map<CUgraphNode, CUDA_MEMCPY3D> copies;
  int not_ready = 0;  // queries that have this answer
  size_t allocated = 0;
  int freed = 0;
};
Driver& TheDriver() {
  static Driver& driver = *new Driver;
  return driver;
}

const auto kGraph = reinterpret_cast<CUgraph>(1);
const auto kExec = reinterpret_cast<CUgraphExec>(2);
const auto kStream = reinterpret_cast<CUstream>(3);
const auto kContext = reinterpret_cast<CUcontext>(4);
const auto kEvent = reinterpret_cast<CUevent>(5);
constexpr CUdeviceptr kBlock = 400;  // has all that is copied

CUgraphNode Handle(size_t index) {
  return reinterpret_cast<CUgraphNode>(100 + index);
}

CUresult AddNode(CUgraphNode* node, const CUgraphNode* after, size_t count,
                 Given given) {
  for (size_t i = 0; i < count; ++i) {
    given.after.push_back(reinterpret_cast<uintptr_t>(after[i]) - 100);
  }
  *node = Handle(TheDriver().nodes.size());
  TheDriver().nodes.push_back(given);
  return CUDA_SUCCESS;
}

DriverApi NewApi() {
  DriverApi api = {};
  api.GraphCreate = [](CUgraph* graph, unsigned) {
    *graph = kGraph;
    return CUDA_SUCCESS;
  };
  api.GraphDestroy = [](CUgraph) { return CUDA_SUCCESS; };
  api.GraphAddMemcpyNode = [](CUgraphNode* node, CUgraph,
                              const CUgraphNode* after, size_t count,
                              const CUDA_MEMCPY3D* copy, CUcontext) {
    const CUresult result = AddNode(node, after, count,
                                    {.to = copy->dstDevice,
                                     .from = copy->srcDevice,
                                     .bytes = copy->WidthInBytes});
    TheDriver().copies[*node] = *copy;
    return result;
  };
  api.GraphAddEmptyNode = [](CUgraphNode* node, CUgraph,
                             const CUgraphNode* after, size_t count) {
    return AddNode(node, after, count, {.is_empty = true});
  };
  api.GraphMemcpyNodeGetParams = [](CUgraphNode node, CUDA_MEMCPY3D* copy) {
    *copy = TheDriver().copies.at(node);
    return CUDA_SUCCESS;
  };
  api.GraphInstantiate = [](CUgraphExec* exec, CUgraph, unsigned long long) {
    *exec = kExec;
    return CUDA_SUCCESS;
  };
  api.GraphExecDestroy = [](CUgraphExec) { return CUDA_SUCCESS; };
  api.GraphLaunch = [](CUgraphExec, CUstream) { return CUDA_SUCCESS; };
  api.CtxSetCurrent = [](CUcontext) { return CUDA_SUCCESS; };
  api.MemAlloc = [](CUdeviceptr* block, size_t bytes) {
    TheDriver().allocated = bytes;
    *block = kBlock;
    return CUDA_SUCCESS;
  };
  api.MemFree = [](CUdeviceptr) {
    ++TheDriver().freed;
    return CUDA_SUCCESS;
  };
  api.StreamSynchronize = [](CUstream) { return CUDA_SUCCESS; };
  api.EventQuery = [](CUevent) {
    return TheDriver().not_ready-- > 0 ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
  };
  return api;
}

struct Outcome {
  std::vector<Given> nodes;
  std::vector<std::string> violations;
  std::vector<std::string> kept;
  bool is_sown = false;
  int64_t edges = 0;
};

// Five copies, each a command, of what the one in front wrote:
//
//   0 -> 1 -> 2 -> 3
//              \-> 4
//
// and 2 follows 0 as well, which is needless.
const Indices kAfter[] = {{}, {0}, {1, 0}, {2}, {2}};
CUdeviceptr AddressOf(size_t index) { return 1000 * (index + 1); }
const std::vector<NeededOrder> kNeeded = {{CommandId(0), CommandId(1)},
                                          {CommandId(1), CommandId(2)},
                                          {CommandId(2), CommandId(3)},
                                          {CommandId(2), CommandId(4)}};
Outcome RunChain(std::optional<SownFault> fault) {
  TheDriver() = {};
  const DriverApi real = NewApi();
  Outcome outcome;
  FaultyDriver driver(real, {.fault = fault});
  const DriverApi& api = driver.api();
  CUdeviceptr block = 0;
  EXPECT_EQ(api.CtxSetCurrent(kContext), CUDA_SUCCESS);
  EXPECT_EQ(api.MemAlloc(&block, 10000), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  EXPECT_EQ(api.GraphCreate(&graph, 0), CUDA_SUCCESS);
  std::vector<CUgraphNode> nodes;
  for (const Indices& after : kAfter) {
    std::vector<CUgraphNode> handles;
    for (const size_t index : after) handles.push_back(nodes[index]);
    CUDA_MEMCPY3D copy = {};
    copy.dstDevice = AddressOf(nodes.size());
    copy.srcDevice = after.empty() ? 500 : AddressOf(after[0]);
    copy.WidthInBytes = 8;
    CUgraphNode node = nullptr;
    EXPECT_EQ(api.GraphAddMemcpyNode(&node, graph, handles.data(),
                                     handles.size(), &copy, kContext),
              CUDA_SUCCESS);
    driver.SetCommand(node, CommandId(static_cast<int32_t>(nodes.size())));
    nodes.push_back(node);
  }
  CUgraphExec exec = nullptr;
  EXPECT_EQ(api.GraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  driver.Account([](IssuedWork& work) { work.BeginStep(0); });
  EXPECT_EQ(api.GraphLaunch(exec, kStream), CUDA_SUCCESS);
  EXPECT_EQ(api.StreamSynchronize(kStream), CUDA_SUCCESS);
  driver.Account([&](IssuedWork& work) {
    work.EndStep(0);
    outcome.violations = work.Violations(kNeeded);
  });
  EXPECT_EQ(api.GraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(api.GraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(api.MemFree(block), CUDA_SUCCESS);
  outcome.nodes = TheDriver().nodes;
  outcome.kept = driver.Kept();
  outcome.is_sown = driver.is_sown();
  outcome.edges = driver.count(CallKind::kEdge);
  return outcome;
}

Outcome RunWith(CallKind kind, int64_t index, Wrong wrong) {
  return RunChain(SownFault{kind, index, wrong});
}

TEST(FaultyDriver, PassesASoundGraphOn) {
  const Outcome outcome = RunChain(std::nullopt);
  ASSERT_EQ(outcome.nodes.size(), 5u);
  EXPECT_THAT(outcome.nodes[0].after, IsEmpty());
  EXPECT_THAT(outcome.nodes[1].after, ElementsAre(0));
  EXPECT_THAT(outcome.nodes[2].after, ElementsAre(1, 0));
  EXPECT_EQ(outcome.edges, 5);
  EXPECT_FALSE(outcome.is_sown);
  EXPECT_THAT(outcome.violations, IsEmpty());
  EXPECT_THAT(outcome.kept, IsEmpty());
}

TEST(FaultyDriver, DropsOneEdge) {
  Outcome outcome = RunWith(CallKind::kEdge, 0, Wrong::kDropped);
  EXPECT_TRUE(outcome.is_sown);
  EXPECT_THAT(outcome.nodes[1].after, IsEmpty());
  EXPECT_THAT(outcome.nodes[2].after, ElementsAre(1, 0));
  EXPECT_THAT(outcome.violations,
              ElementsAre("step 0: nothing orders command 0 (a copy) before "
                          "command 1 (a copy)"));
  outcome = RunWith(CallKind::kEdge, 1, Wrong::kDropped);
  EXPECT_THAT(outcome.nodes[2].after, ElementsAre(0));
  EXPECT_EQ(outcome.violations.size(), 1u);
  // The needless one.
  outcome = RunWith(CallKind::kEdge, 2, Wrong::kDropped);
  EXPECT_TRUE(outcome.is_sown);
  EXPECT_THAT(outcome.nodes[2].after, ElementsAre(1));
  EXPECT_THAT(outcome.violations, IsEmpty());
}

TEST(FaultyDriver, GivesAnEdgeTheNodeBeforeIt) {
  const Outcome outcome = RunWith(CallKind::kEdge, 3, Wrong::kNeighbours);
  EXPECT_TRUE(outcome.is_sown);
  EXPECT_THAT(outcome.nodes[3].after, ElementsAre(1));
  EXPECT_THAT(outcome.violations,
              ElementsAre("step 0: nothing orders command 2 (a copy) before "
                          "command 3 (a copy)"));
  // Nothing is in front of node 0, and node 2 follows 0 already.
  EXPECT_FALSE(RunWith(CallKind::kEdge, 0, Wrong::kNeighbours).is_sown);
  EXPECT_FALSE(RunWith(CallKind::kEdge, 1, Wrong::kNeighbours).is_sown);
}

TEST(FaultyDriver, PutsAnEmptyNodeInThePlaceOfADroppedOne) {
  const Outcome outcome = RunWith(CallKind::kNode, 1, Wrong::kDropped);
  EXPECT_TRUE(outcome.is_sown);
  ASSERT_EQ(outcome.nodes.size(), 5u);
  EXPECT_TRUE(outcome.nodes[1].is_empty);
  EXPECT_THAT(outcome.nodes[1].after, ElementsAre(0));
  EXPECT_THAT(outcome.violations, IsEmpty());  // the order is kept
}

TEST(FaultyDriver, GivesANodeTheCopyBeforeIt) {
  const Outcome outcome = RunWith(CallKind::kNode, 2, Wrong::kNeighbours);
  EXPECT_TRUE(outcome.is_sown);
  EXPECT_EQ(outcome.nodes[2].to, outcome.nodes[1].to);
  EXPECT_THAT(outcome.nodes[2].after, ElementsAre(1, 0));
  EXPECT_FALSE(RunWith(CallKind::kNode, 0, Wrong::kNeighbours).is_sown);
}

// Command 2 is then done twice, and nothing orders the second time in front of
// command 4.
TEST(FaultyDriver, AccountsForTheCommandOfTheNeighbour) {
  EXPECT_THAT(RunWith(CallKind::kNode, 3, Wrong::kNeighbours).violations,
              ElementsAre("step 0: nothing orders command 2 (a copy) before "
                          "command 4 (a copy)"));
}

// Nothing follows the second one, which does the work of the first: nothing
// orders it in front of command 3 and 4.
TEST(FaultyDriver, AddsANodeTwice) {
  const Outcome outcome = RunWith(CallKind::kNode, 2, Wrong::kTwice);
  EXPECT_TRUE(outcome.is_sown);
  ASSERT_EQ(outcome.nodes.size(), 6u);
  EXPECT_THAT(outcome.nodes[3].after, ElementsAre(1, 0));
  EXPECT_EQ(outcome.nodes[3].to, AddressOf(2));
  EXPECT_THAT(outcome.nodes[4].after, ElementsAre(2));
  EXPECT_THAT(outcome.violations,
              testing::Contains("step 0: nothing orders command 2 (a copy) "
                                "before command 3 (a copy)"));
}

TEST(FaultyDriver, ChangesWhatANodeCopies) {
  const auto copied = [](Wrong wrong) {
    const Outcome outcome = RunWith(CallKind::kBytes, 1, wrong);
    EXPECT_TRUE(outcome.is_sown);
    return outcome.nodes.at(1);
  };
  const CUdeviceptr to = AddressOf(1), from = AddressOf(0);
  EXPECT_EQ(copied(Wrong::kShort).bytes, 4u);
  EXPECT_EQ(copied(Wrong::kLong).bytes, 8u + kMovedBytes);
  EXPECT_EQ(copied(Wrong::kMoved).to, to + kMovedBytes);
  EXPECT_EQ(copied(Wrong::kMoved).from, from);
  EXPECT_EQ(copied(Wrong::kSwapped).to, from);
  EXPECT_EQ(copied(Wrong::kSwapped).from, to);
  EXPECT_EQ(copied(Wrong::kNeighbours).from, 500u);
  EXPECT_EQ(copied(Wrong::kNeighbours).bytes, 8u);
}

TEST(FaultyDriver, MemoryIsHalfOrIsFreedEarlyOrTwice) {
  RunWith(CallKind::kAlloc, 0, Wrong::kShort);
  EXPECT_EQ(TheDriver().allocated, 5000u);
  EXPECT_EQ(TheDriver().freed, 1);
  EXPECT_THAT(RunWith(CallKind::kAlloc, 0, Wrong::kEarly).violations,
              testing::Contains("memory is freed while a copy may be going "
                                "on"));
  EXPECT_EQ(TheDriver().freed, 1);
  EXPECT_THAT(RunWith(CallKind::kFree, 0, Wrong::kTwice).kept,
              ElementsAre("one given back twice"));
  EXPECT_EQ(TheDriver().freed, 2);
}

TEST(FaultyDriver, AGraphIsGivenBackWhileItIsAtWork) {
  const Outcome outcome = RunWith(CallKind::kGraph, 1, Wrong::kEarly);
  EXPECT_TRUE(outcome.is_sown);
  EXPECT_THAT(outcome.kept, IsEmpty());
}

TEST(FaultyDriver, SaysThatACallHasFailed) {
  TheDriver() = {};
  DriverApi real = NewApi();
  real.GraphLaunch = [](CUgraphExec, CUstream) { return CUDA_ERROR_UNKNOWN; };
  FaultyDriver driver(real, {});
  int errors = 0;
  driver.AfterErrors([&] { ++errors; });
  TheDriver().not_ready = 1;
  EXPECT_EQ(driver.api().EventQuery(kEvent), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(driver.api().GraphLaunch(kExec, kStream), CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(errors, 1);
}

TEST(FaultyDriver, DropsAWaitOfTheHost) {
  const Outcome outcome = RunWith(CallKind::kHostWait, 0, Wrong::kDropped);
  EXPECT_TRUE(outcome.is_sown);
  EXPECT_EQ(outcome.violations,
            std::vector<std::string>(
                5, "the step ends while a copy may be going on"));
}

// How often a program asks is up to chance.
TEST(FaultyDriver, CountsQueriesUntilTheEventIsReachedAsOneWait) {
  TheDriver() = {.not_ready = 3};
  const DriverApi real = NewApi();
  FaultyDriver driver(
      real, {.fault = SownFault{CallKind::kHostWait, 1, Wrong::kDropped}});
  const DriverApi& api = driver.api();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(api.EventQuery(kEvent), CUDA_ERROR_NOT_READY);
  }
  EXPECT_EQ(api.EventQuery(kEvent), CUDA_SUCCESS);
  EXPECT_EQ(driver.count(CallKind::kHostWait), 1);
  EXPECT_FALSE(driver.is_sown());
  TheDriver().not_ready = 1;
  EXPECT_EQ(api.EventQuery(kEvent), CUDA_SUCCESS);
  EXPECT_TRUE(driver.is_sown());
  EXPECT_EQ(TheDriver().not_ready, 1);
}

// Before the wrong call as well, which may be one of theirs.
TEST(FaultyDriver, LetsOthersGoBeforeAThreadWaits) {
  for (const bool is_faulty : {false, true}) {
    TheDriver() = {};
    const DriverApi real = NewApi();
    FaultyDriver::Options options;
    if (is_faulty) {
      options.fault = SownFault{CallKind::kHostWait, 2, Wrong::kDropped};
    }
    FaultyDriver driver(real, options);
    int calls = 0;
    driver.BeforeWaits([&] { ++calls; });
    EXPECT_EQ(driver.api().EventQuery(kEvent), CUDA_SUCCESS);
    EXPECT_EQ(driver.api().StreamSynchronize(kStream), CUDA_SUCCESS);
    EXPECT_FALSE(driver.is_sown());
    EXPECT_EQ(calls, is_faulty ? 1 : 0);
  }
}

TEST(FaultyDriver, KeepsWhatIsNotGivenBack) {
  EXPECT_THAT(RunWith(CallKind::kDestroy, 0, Wrong::kDropped).kept,
              ElementsAre("1 graph execs not given back"));
  EXPECT_THAT(RunWith(CallKind::kDestroy, 1, Wrong::kDropped).kept,
              ElementsAre("1 graphs not given back"));
}

}  // namespace
}  // namespace partita
