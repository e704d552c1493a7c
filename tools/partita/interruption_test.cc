// The first signal is noted, the second ends the program.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/interruption.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace partita {
namespace {

using testing::KilledBySignal;

// A program that receives one signal after another; succeeds if it survives
// them.
[[noreturn]] void Outlive(int first, int second) {
  const Interruption interruption;
  if (interruption.came()) std::_Exit(2);
  std::raise(first);
  if (!interruption.came()) std::_Exit(3);
  std::raise(second);
  std::_Exit(0);
}

TEST(InterruptionDeathTest, ASecondSignalOfEitherKindEndsTheProgram) {
  EXPECT_EXIT(Outlive(SIGINT, SIGINT), KilledBySignal(SIGINT), "");
  EXPECT_EXIT(Outlive(SIGINT, SIGTERM), KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(Outlive(SIGTERM, SIGINT), KilledBySignal(SIGINT), "");
  EXPECT_EXIT(Outlive(SIGTERM, SIGTERM), KilledBySignal(SIGTERM), "");
}

TEST(InterruptionDeathTest, OneThatIsIgnoredStaysSo) {
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_IGN);
        const Interruption interruption;
        std::raise(SIGINT);
        if (interruption.came()) std::_Exit(2);
        std::raise(SIGTERM);
        if (!interruption.came()) std::_Exit(3);
        std::raise(SIGINT);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(InterruptionDeathTest, ItEndsByTheSignalThatCame) {
  EXPECT_EXIT(
      {
        const Interruption interruption;
        std::raise(SIGTERM);
        interruption.Obey();
      },
      KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace partita
