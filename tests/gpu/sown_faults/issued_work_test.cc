// The judge of sown faults knows what is ordered, and what is not.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/sown_faults/issued_work.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr HandleKey kOne = 1, kTwo = 2;  // streams
constexpr HandleKey kEvent = 3;
constexpr HandleKey kContext = 4;
constexpr HandleKey kExec = 5, kOtherExec = 6;
const IssuedWork::Issued kKernel = {.what = "a kernel", .context = kContext};
constexpr IssuedWork::HostCommand kOnGpu;
const std::vector<NeededOrder> kNeeded = {{CommandId(0), CommandId(3)}};

void Issue(IssuedWork& work, int32_t command, HandleKey stream,
           uint64_t step = 0) {
  work.BeginCommand(step, CommandId(command), kOnGpu);
  work.AddWork(stream, kKernel);
  work.EndCommand(kOnGpu);
}

// Commands 0 and 3 in two streams; what is between them is up to the test.
template <typename Between>
std::vector<std::string> ViolationsOf(Between between) {
  IssuedWork work;
  work.BeginStep(0);
  Issue(work, 0, kOne);
  between(work);
  Issue(work, 3, kTwo);
  work.HostWaitsForStream(kOne);
  work.HostWaitsForStream(kTwo);
  work.EndStep(0);
  return work.Violations(kNeeded);
}

TEST(IssuedWork, ARecordAndAWaitOrder) {
  EXPECT_THAT(ViolationsOf([](IssuedWork& work) {
                work.Record(kEvent, kOne);
                work.Wait(kTwo, kEvent);
              }),
              IsEmpty());
}

TEST(IssuedWork, NothingElseOrdersTwoStreams) {
  const char kText[] =
      "step 0: nothing orders command 0 (a kernel) before command 3 (a kernel)";
  EXPECT_THAT(ViolationsOf([](IssuedWork&) {}), ElementsAre(kText));
  EXPECT_THAT(ViolationsOf([](IssuedWork& work) { work.Record(kEvent, kOne); }),
              ElementsAre(kText));
  EXPECT_THAT(ViolationsOf([](IssuedWork& work) {
                work.Wait(kTwo, kEvent);
                work.Record(kEvent, kOne);
              }),
              ElementsAre(kText));
}

TEST(IssuedWork, AWaitOfTheHostOrdersWhatItIssuesNext) {
  EXPECT_THAT(
      ViolationsOf([](IssuedWork& work) { work.HostWaitsForStream(kOne); }),
      IsEmpty());
  EXPECT_THAT(ViolationsOf([](IssuedWork& work) {
                work.Record(kEvent, kOne);
                work.HostWaitsForEvent(kEvent);
              }),
              IsEmpty());
}

TEST(IssuedWork, AStepEndsAfterItsWork) {
  IssuedWork work;
  work.BeginStep(0);
  Issue(work, 0, kOne);
  work.EndStep(0);
  EXPECT_THAT(work.Violations({}),
              ElementsAre("the step ends while a kernel may be going on"));
}

IssuedWork::Issued CopyOf(uintptr_t to, uintptr_t from,
                          HandleKey to_context = 0,
                          HandleKey from_context = 0) {
  return {.what = "a copy",
          .copied = IssuedWork::Copied{to, from, 8, to_context, from_context}};
}

TEST(IssuedWork, MemoryIsFreedAfterItsUse) {
  const IssuedWork::Block copied = {kContext, 104, 8};
  IssuedWork work;
  work.AddWork(kOne, CopyOf(100, 200));
  work.Free(copied);
  work.HostWaitsForStream(kOne);
  work.Free(copied);
  EXPECT_THAT(work.Violations({}),
              ElementsAre("memory is freed while a copy may be going on"));
}

TEST(IssuedWork, OtherMemoryMayBeFreed) {
  IssuedWork work;
  work.AddWork(kOne, CopyOf(100, 200));
  work.Free({kContext, 108, 8});
  work.AddWork(kOne, kKernel);
  work.Free({kContext + 1, 300, 8});
  EXPECT_THAT(work.Violations({}), IsEmpty());
  work.Free({kContext, 300, 8});
  EXPECT_THAT(work.Violations({}),
              ElementsAre("memory is freed while a kernel may be going on"));
}

// ---- Graphs.

using GraphNode = IssuedWork::GraphNode;

GraphNode NodeOf(int32_t command, std::vector<size_t> after) {
  return {.issued = kKernel,
          .command = CommandId(command),
          .after = std::move(after)};
}

std::vector<std::string> ViolationsOfGraph(
    const std::vector<GraphNode>& nodes) {
  IssuedWork work;
  work.BeginStep(0);
  work.LaunchGraph(kOne, kExec, nodes);
  work.HostWaitsForStream(kOne);
  work.EndStep(0);
  return work.Violations(kNeeded);
}

TEST(IssuedWork, OnlyEdgesOrderTheNodesOfALaunch) {
  const char kText[] =
      "step 0: nothing orders command 0 (a kernel) before command 3 (a kernel)";
  EXPECT_THAT(ViolationsOfGraph({NodeOf(0, {}), NodeOf(3, {0})}), IsEmpty());
  EXPECT_THAT(
      ViolationsOfGraph({NodeOf(0, {}), NodeOf(1, {0}), NodeOf(3, {1})}),
      IsEmpty());
  EXPECT_THAT(ViolationsOfGraph({NodeOf(0, {}), NodeOf(3, {})}),
              ElementsAre(kText));
  EXPECT_THAT(ViolationsOfGraph({NodeOf(0, {}), NodeOf(1, {}), NodeOf(3, {1})}),
              ElementsAre(kText));
}

TEST(IssuedWork, ANodeWithoutWorkKeepsTheOrder) {
  EXPECT_THAT(
      ViolationsOfGraph({NodeOf(0, {}), {.after = {0}}, NodeOf(3, {1})}),
      IsEmpty());
}

TEST(IssuedWork, LaunchesInOneStreamAreOrdered) {
  for (const HandleKey second : {kOne, kTwo}) {
    IssuedWork work;
    work.LaunchGraph(kOne, kExec, {NodeOf(0, {}), NodeOf(1, {})});
    work.LaunchGraph(second, kOtherExec, {NodeOf(3, {})});
    EXPECT_EQ(work.Violations(kNeeded).size(), second == kOne ? 0u : 1u);
  }
}

TEST(IssuedWork, LaunchesOfOneExecAreOrdered) {
  IssuedWork work;
  work.LaunchGraph(kOne, kExec, {NodeOf(0, {}), NodeOf(1, {})});
  work.LaunchGraph(kTwo, kExec, {NodeOf(3, {})});
  EXPECT_THAT(work.Violations(kNeeded), IsEmpty());
}

TEST(IssuedWork, AStepEndsAfterAllNodes) {
  IssuedWork work;
  work.BeginStep(0);
  work.LaunchGraph(kOne, kExec, {NodeOf(0, {}), NodeOf(1, {})});
  work.EndStep(0);
  EXPECT_EQ(work.Violations({}).size(), 2u);
}

// By way of the host: the second copy reads what the first one wrote.
TEST(IssuedWork, TheHopsOfACopyAreOrdered) {
  const auto violations = [](std::vector<size_t> after, uintptr_t from) {
    IssuedWork work;
    work.LaunchGraph(kOne, kExec,
                     {{.issued = CopyOf(100, 200), .command = CommandId(5)},
                      {.issued = CopyOf(300, from),
                       .command = CommandId(5),
                       .after = std::move(after)}});
    return work.Violations({});
  };
  EXPECT_THAT(violations({0}, 100), IsEmpty());
  EXPECT_THAT(violations({}, 100),
              ElementsAre("step 0: nothing orders the copies of command 5"));
  EXPECT_THAT(violations({}, 108), IsEmpty());
}

// The first copy reads memory of one GPU, the second writes that of the other:
// a kernel conflicts with the one on its own GPU.
TEST(IssuedWork, AHopAccessesTheGpuOfItsEnd) {
  constexpr HandleKey kOther = kContext + 1;
  const auto violations = [](HandleKey context, std::vector<size_t> after) {
    IssuedWork work;
    work.LaunchGraph(
        kOne, kExec,
        {{.issued = CopyOf(100, 200, 0, kContext), .command = CommandId(0)},
         {.issued = CopyOf(300, 100, kOther, 0),
          .command = CommandId(0),
          .after = {0}},
         {.issued = IssuedWork::Issued{.what = "a kernel", .context = context},
          .command = CommandId(3),
          .after = std::move(after)}});
    return work.Violations(kNeeded).size();
  };
  EXPECT_EQ(violations(kContext, {0}), 0u);
  EXPECT_EQ(violations(kContext, {}), 1u);
  EXPECT_EQ(violations(kOther, {1}), 0u);
  EXPECT_EQ(violations(kOther, {0}), 1u);
}

TEST(IssuedWork, CopiesConflictWhereTheirBytesDo) {
  const auto violations = [](const IssuedWork::Issued& second) {
    IssuedWork work;
    work.LaunchGraph(kOne, kExec,
                     {{.issued = CopyOf(100, 200), .command = CommandId(0)},
                      {.issued = second, .command = CommandId(3)}});
    return work.Violations(kNeeded).size();
  };
  EXPECT_EQ(violations(CopyOf(300, 104)), 1u);  // reads what was written
  EXPECT_EQ(violations(CopyOf(204, 300)), 1u);  // writes what was read
  EXPECT_EQ(violations(CopyOf(104, 300)), 1u);
  EXPECT_EQ(violations(CopyOf(300, 200)), 0u);
  EXPECT_EQ(violations(CopyOf(108, 400)), 0u);
}

TEST(IssuedWork, ALateCallCountsForItsOwnCommand) {
  IssuedWork work;
  work.BeginCommand(0, CommandId(0), kOnGpu);
  const IssuedWork::Performed late = work.SetPerformed({});
  work.EndCommand(kOnGpu);
  work.BeginCommand(0, CommandId(1), kOnGpu);
  const IssuedWork::Performed now = work.SetPerformed(late);
  work.AddWork(kOne, kKernel);
  work.SetPerformed(now);
  work.EndCommand(kOnGpu);
  Issue(work, 3, kTwo);
  EXPECT_EQ(work.Violations(kNeeded).size(), 1u);
}

// The host may change the source of a staged copy at once; what the copy wrote
// is there later.
TEST(IssuedWork, AStagedCopyHasReadItsSource) {
  constexpr IssuedWork::HostCommand kOnHost = {.is_work = true};
  for (const bool on_host : {false, true}) {
    IssuedWork work;
    work.BeginCommand(0, CommandId(0), kOnGpu);
    work.AddStagedCopy(kOne, CopyOf(100, 200, kContext));
    work.EndCommand(kOnGpu);
    if (on_host) {
      work.BeginCommand(0, CommandId(3), kOnHost);
      work.EndCommand(kOnHost);
    } else {
      Issue(work, 3, kTwo);
    }
    EXPECT_EQ(work.Violations(kNeeded).size(), on_host ? 0u : 1u);
  }
}

// Step 1 is submitted before step 0 is waited for.
std::vector<std::string> ViolationsOfOverlap(bool waits_in_step,
                                             bool waits_later) {
  IssuedWork work;
  work.BeginStep(0);
  Issue(work, 0, kOne);
  if (waits_in_step) work.HostWaitsForStream(kOne);
  work.BeginStep(1);
  Issue(work, 3, kTwo, 1);
  if (waits_later) work.HostWaitsForStream(kOne);
  work.EndStep(0);
  work.HostWaitsForStream(kTwo);
  work.HostWaitsForStream(kOne);
  work.EndStep(1);
  return work.Violations({{CommandId(0), CommandId(3), 1}});
}

TEST(IssuedWork, AStepEndsWhileALaterOneGoesOn) {
  EXPECT_THAT(ViolationsOfOverlap(/*waits_in_step=*/true,
                                  /*waits_later=*/false),
              IsEmpty());
}

// A wait of the next step is too late for it.
TEST(IssuedWork, AStepWaitsForItsOwnWork) {
  for (const bool waits_later : {false, true}) {
    EXPECT_THAT(ViolationsOfOverlap(/*waits_in_step=*/false, waits_later),
                ElementsAre("the step ends while a kernel may be going on",
                            "step 0: nothing orders command 0 (a kernel) "
                            "before command 3 of step 1 (a kernel)"));
  }
}

}  // namespace
}  // namespace partita
