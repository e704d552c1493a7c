// Tables on what is no file.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/loss_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace partita {
namespace {

TEST(LossTable, APipeIsWrittenOnceSomethingReadsIt) {
  const std::string pipe =
      absl::StrCat(testing::TempDir(), "/losses.", getpid());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto unread = LossTable::Create(pipe);
  EXPECT_TRUE(
      absl::EndsWith(unread.status().message(), "; open it for reading first"))
      << unread.status();
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  auto table = LossTable::Create(pipe);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_TRUE(table->Add(1, 1, 0.5, 2).ok());
  char text[64] = {};
  EXPECT_GT(read(reader, text, sizeof(text) - 1), 0);
  EXPECT_STREQ(text, "step,epoch,loss,seconds\n1,1,0.5,2.000000\n");
  close(reader);
  EXPECT_EQ(table->Add(2, 1, 0.5, 3).message(),
            absl::StrCat(pipe, ": cannot be written: Broken pipe"));
  EXPECT_EQ(table->Add(3, 1, 0.5, 4).message(),
            absl::StrCat(pipe, ": cannot be written: Broken pipe"));
}

TEST(LossTable, OneThatCannotBeReadIsNoOtherTable) {
  const std::string path =
      absl::StrCat(testing::TempDir(), "/unreadable.", getpid());
  ASSERT_TRUE(LossTable::Create(path)->Add(1, 1, 0.5, 2).ok());
  // Root reads whatever the mode, but opens no more files than it may.
  rlimit files;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit none = {.rlim_cur = 0, .rlim_max = files.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status status = LossTable::Continue(path, 1).status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  EXPECT_EQ(status.message(),
            absl::StrCat(path, ": cannot be read: Too many open files"));
}

}  // namespace
}  // namespace partita
