// Tests of locks between threads and processes.
// SPDX-License-Identifier: Apache-2.0

#include "graph/file_lock.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

constexpr std::chrono::milliseconds kNoPatience(0);

std::string File(const char* name) { return testing::TempDir() + name; }

absl::Status TryLock(const std::string& path) {
  return FileLock::Of(path, kNoPatience).status();
}

TEST(FileLockTest, AHeldLockIsRefusedUntilItsEnd) {
  const std::string path = File("held");
  {
    const absl::StatusOr<FileLock> lock = FileLock::Of(path, kNoPatience);
    ASSERT_TRUE(lock.ok()) << lock.status();
    const absl::Status second = TryLock(path);
    EXPECT_TRUE(absl::IsUnavailable(second)) << second;
    EXPECT_TRUE(absl::StrContains(second.message(), "held.lock: found it"));
    EXPECT_TRUE(TryLock(File("another")).ok());
  }
  EXPECT_TRUE(TryLock(path).ok());
  EXPECT_NE(access((path + ".lock").c_str(), F_OK), 0) << "it is left";
}

TEST(FileLockTest, ALinkHasTheLockOfItsTarget) {
  const std::string path = File("target");
  const std::string link = File("link");
  unlink(link.c_str());
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  const absl::StatusOr<FileLock> lock = FileLock::Of(path, kNoPatience);
  ASSERT_TRUE(lock.ok()) << lock.status();
  EXPECT_TRUE(absl::IsUnavailable(TryLock(link)));
}

TEST(FileLockTest, TheDeathOfTheHolderReleasesIt) {
  const std::string path = File("dies");
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const absl::StatusOr<FileLock> lock = FileLock::Of(path, kNoPatience);
    const char byte = lock.ok() ? 1 : 0;
    if (write(ready[1], &byte, 1) == 1) pause();
    _exit(1);
  }
  char held = 0;
  ASSERT_EQ(read(ready[0], &held, 1), 1);
  EXPECT_EQ(held, 1);
  EXPECT_TRUE(absl::IsUnavailable(TryLock(path)));
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(TryLock(path).ok());
}

// With a lock file that is removed and made again at each turn.
TEST(FileLockTest, ThreadsTakeTurns) {
  const std::string path = File("turns");
  std::atomic<int> counter = 0;
  const auto count = [&] {
    for (int i = 0; i < 200; ++i) {
      const absl::StatusOr<FileLock> lock =
          FileLock::Of(path, std::chrono::minutes(1));
      ASSERT_TRUE(lock.ok()) << lock.status();
      const int before = counter;
      std::this_thread::yield();
      counter = before + 1;
    }
  };
  std::thread other(count);
  count();
  other.join();
  EXPECT_EQ(counter, 400);
}

TEST(FileLockTest, WithoutAFolderThereIsNoLock) {
  EXPECT_TRUE(absl::IsNotFound(TryLock(File("no_folder/file"))));
}

}  // namespace
}  // namespace partita
