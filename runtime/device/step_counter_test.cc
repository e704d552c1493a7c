// Counters wake their waiters, and only when the wait is over.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/step_counter.h"

#include <thread>

#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(StepCounterTest, ARecordOfOneStepDoesNotSatisfyTheNext) {
  StepCounter counter;
  counter.Raise(1);
  EXPECT_TRUE(counter.Wait(1, {}));
  const SteadyTime soon =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  EXPECT_FALSE(counter.Wait(2, {.deadline = soon}));
}

// A wait for one exact value of a counter that goes on counting can miss it and
// hang (tt-metal #54590).
TEST(StepCounterTest, ALateWaitPassesAfterTheCounterHasGoneOn) {
  StepCounter counter;
  counter.Raise(1);
  counter.Raise(3);
  EXPECT_TRUE(counter.Wait(1, {}));
  EXPECT_TRUE(counter.Wait(2, {}));
}

// Two threads pass an integer back and forth: each must see every write.
void PingPong(int spins, int rounds) {
  StepCounter there, back;
  int ball = 0;
  std::thread other([&] {
    for (int i = 1; i <= rounds; ++i) {
      ASSERT_TRUE(there.Wait(i, {.spins = spins}));
      ++ball;
      back.Raise(i);
    }
  });
  for (int i = 1; i <= rounds; ++i) {
    ++ball;
    there.Raise(i);
    ASSERT_TRUE(back.Wait(i, {.spins = spins}));
    ASSERT_EQ(ball, 2 * i);
  }
  other.join();
}

TEST(StepCounterTest, WritesAreVisibleWhenParked) { PingPong(0, 2000); }
TEST(StepCounterTest, WritesAreVisibleWhenSpinning) { PingPong(200, 2000); }

TEST(StepCounterTest, AnInterruptWakesEveryWaiterThatSeesTheStop) {
  for (int round = 0; round < 200; ++round) {
    StepCounter counter;
    std::atomic<bool> stop = false;
    std::thread one(
        [&] { EXPECT_FALSE(counter.Wait(1, {.stop = &stop, .spins = 10})); });
    std::thread two([&] { EXPECT_FALSE(counter.Wait(9, {.stop = &stop})); });
    if (round % 2 == 0) std::this_thread::yield();
    stop = true;
    counter.Interrupt();
    one.join();
    two.join();
    EXPECT_EQ(counter.value(), 0u);
  }
}

}  // namespace
}  // namespace partita
