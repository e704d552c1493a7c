// The judge of sown faults knows what is ordered, and what is not.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/sown_faults/issued_work.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr HandleKey kOne = 1, kTwo = 2;  // streams
constexpr HandleKey kEvent = 3;
constexpr IssuedWork::HostCommand kOnGpu;
const std::vector<NeededOrder> kNeeded = {{CommandId(0), CommandId(3)}};

void Issue(IssuedWork& work, int32_t command, HandleKey stream) {
  work.BeginCommand(0, CommandId(command), kOnGpu);
  work.AddWork(stream, "a kernel");
  work.EndCommand(kOnGpu);
}

// Commands 0 and 3 in two streams; what is between them is up to the test.
template <typename Between>
std::vector<std::string> ViolationsOf(Between between) {
  IssuedWork work;
  work.BeginStep();
  Issue(work, 0, kOne);
  between(work);
  Issue(work, 3, kTwo);
  work.HostWaitsForStream(kOne);
  work.HostWaitsForStream(kTwo);
  work.EndStep();
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
  work.BeginStep();
  Issue(work, 0, kOne);
  work.EndStep();
  EXPECT_THAT(work.Violations({}),
              ElementsAre("the step ends while a kernel may be going on"));
}

TEST(IssuedWork, MemoryIsFreedAfterItsUse) {
  IssuedWork work;
  work.AddWork(kOne, "a copy");
  work.Free();
  work.HostWaitsForStream(kOne);
  work.Free();
  EXPECT_THAT(work.Violations({}),
              ElementsAre("memory is freed while a copy may be going on"));
}

TEST(IssuedWork, ALateCallCountsForItsOwnCommand) {
  IssuedWork work;
  work.BeginCommand(0, CommandId(0), kOnGpu);
  const IssuedWork::Performed late = work.Exchange({});
  work.EndCommand(kOnGpu);
  work.BeginCommand(0, CommandId(1), kOnGpu);
  const IssuedWork::Performed now = work.Exchange(late);
  work.AddWork(kOne, "a kernel");
  work.Exchange(now);
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
    work.AddStagedCopy(kOne, "a copy");
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

}  // namespace
}  // namespace partita
