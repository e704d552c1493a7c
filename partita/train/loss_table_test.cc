// Tables on special files.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/loss_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace partita {
namespace {

TEST(LossTable, APipeIsWrittenOnceSomethingReadsIt) {
  std::signal(SIGPIPE, SIG_IGN);
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

// The old one may be of a long training.
TEST(LossTable, WithoutRoomForANewOneTheOldOneStays) {
  const std::string path =
      absl::StrCat(testing::TempDir(), "/no_room.", getpid());
  ASSERT_TRUE(LossTable::Create(path)->Add(1, 1, 0.5, 2).ok());
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit lower = {.rlim_cur = 4, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &lower), 0);
  const absl::Status status = LossTable::Create(path).status();
  const absl::Status of_new = LossTable::Create(path + ".new").status();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_EQ(status.message(),
            absl::StrCat(path,
                         ": cannot be written: File too large; after 4 bytes, "
                         "which are removed again; allow larger files, or name "
                         "one on another disk"));
  std::ifstream in(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}),
            "step,epoch,loss,seconds\n1,1,0.5,2.000000\n");
  EXPECT_EQ(of_new.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(access((path + ".new").c_str(), F_OK), 0);
}

// While it exists, this thread cannot read files whose mode forbids it, even as
// root.
class OnlyWhatModesAllow {
 public:
  OnlyWhatModesAllow() {
    EXPECT_EQ(syscall(SYS_capget, &header_, before_), 0);
    __user_cap_data_struct less[2] = {before_[0], before_[1]};
    less[0].effective &=
        ~((1u << CAP_DAC_OVERRIDE) | (1u << CAP_DAC_READ_SEARCH));
    EXPECT_EQ(syscall(SYS_capset, &header_, less), 0);
  }
  ~OnlyWhatModesAllow() {
    EXPECT_EQ(syscall(SYS_capset, &header_, before_), 0);
  }
  OnlyWhatModesAllow(const OnlyWhatModesAllow&) = delete;
  OnlyWhatModesAllow& operator=(const OnlyWhatModesAllow&) = delete;

 private:
  __user_cap_header_struct header_ = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct before_[2];
};

TEST(LossTable, OneThatCannotBeReadIsNoOtherTable) {
  const std::string path =
      absl::StrCat(testing::TempDir(), "/unreadable.", getpid());
  ASSERT_TRUE(LossTable::Create(path)->Add(1, 1, 0.5, 2).ok());
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  const OnlyWhatModesAllow modes;
  EXPECT_EQ(
      std::string(LossTable::Continue(path, 1).status().message()),
      absl::StrCat(path,
                   ": cannot be read: Permission denied; name a file in a "
                   "folder of your own"));
}

}  // namespace
}  // namespace partita
