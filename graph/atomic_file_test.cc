// Tests that files appear complete or not at all.
// SPDX-License-Identifier: Apache-2.0

#include "graph/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace partita {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = absl::StrCat(testing::TempDir(), "/atomic_file_", getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = folder_ + "/f";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<std::string> Listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  std::string Content() const {
    std::ifstream in(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  bool HasFilesWithoutNames() const {
    const int fd = open(folder_.c_str(), O_WRONLY | O_TMPFILE, 0666);
    if (fd < 0) return false;
    close(fd);
    return true;
  }

  std::string folder_;
  std::string path_;
};

absl::Status WriteSome(AtomicFile& file, const std::string& text) {
  return file.Write(
      {reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

TEST_F(AtomicFileTest, ALinkStaysAndItsTargetIsWritten) {
  fs::create_directories(folder_ + "/disk");
  fs::create_symlink("disk/real", path_);
  for (const char* text : {"first", "then"}) {
    auto file = AtomicFile::Create(path_);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE(WriteSome(**file, text).ok());
    ASSERT_TRUE((*file)->Commit().ok());
    EXPECT_TRUE(fs::is_symlink(path_));
    EXPECT_FALSE(fs::is_symlink(folder_ + "/disk/real"));
    EXPECT_EQ(Content(), text);
  }
}

TEST_F(AtomicFileTest, TheNewFileReplacesTheOld) {
  for (const std::string text : {"one", "another", "the third"}) {
    auto file = AtomicFile::Create(path_);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE(WriteSome(**file, text).ok());
    EXPECT_NE(Content(), text);
    const absl::Status committed = (*file)->Commit();
    ASSERT_TRUE(committed.ok()) << committed;
    EXPECT_EQ(Content(), text);
  }
  EXPECT_EQ(Listing(), std::vector<std::string>{"f"});
}

TEST_F(AtomicFileTest, TheMaskOfTheProcessHolds) {
  const mode_t before = umask(027);
  auto file = AtomicFile::Create(path_);
  ASSERT_TRUE(file.ok() && (*file)->Commit().ok());
  umask(before);
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms(0640));
}

TEST_F(AtomicFileTest, AnAbandonedWriterLeavesNoFile) {
  {
    auto file = AtomicFile::Create(path_);
    ASSERT_TRUE(file.ok() && WriteSome(**file, "half").ok());
  }
  EXPECT_TRUE(Listing().empty());
}

// On a file system without unnamed files, a temporary file is left.
TEST_F(AtomicFileTest, AKilledWriterLeavesNoFile) {
  const pid_t writer = fork();
  if (writer == 0) {
    auto file = AtomicFile::Create(path_);
    if (file.ok() && WriteSome(**file, "half").ok()) kill(getpid(), SIGKILL);
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(writer, &status, 0), writer);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_EQ(Listing().empty(), HasFilesWithoutNames());
}

TEST_F(AtomicFileTest, AFolderCannotBeWritten) {
  EXPECT_EQ(CheckWritable(folder_).message(),
            folder_ + ": cannot be written: Is a directory; name a file in it");
}

TEST_F(AtomicFileTest, AFolderIsMadeWithThoseAroundIt) {
  const std::string inner = folder_ + "/a/b";
  EXPECT_EQ(MakeFolder(inner), absl::OkStatus());
  EXPECT_TRUE(fs::is_directory(inner));
  EXPECT_EQ(MakeFolder(inner), absl::OkStatus());
}

TEST_F(AtomicFileTest, AFolderThatCannotBeMadeNamesTheWayOut) {
  std::ofstream(path_) << "a file";
  EXPECT_EQ(MakeFolder(path_).message(),
            path_ +
                ": cannot be made a folder: Not a directory; name another "
                "folder");
  const std::string below = path_ + "/folder";
  EXPECT_EQ(MakeFolder(below).message(),
            below +
                ": cannot be made a folder: Not a directory; name another "
                "folder");
  const std::string longest = folder_ + "/" + std::string(300, 'n');
  EXPECT_EQ(MakeFolder(longest).message(),
            longest +
                ": cannot be made a folder: File name too long; give it "
                "a shorter name");
}

TEST_F(AtomicFileTest, APipeIsWrittenOnceSomethingReadsIt) {
  const std::string path = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const auto unread = AtomicFile::Create(path);
  EXPECT_TRUE(
      absl::EndsWith(unread.status().message(), "; open it for reading first"))
      << unread.status();
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  const auto file = AtomicFile::Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  constexpr std::byte kByte{7};
  EXPECT_EQ((*file)->Write({&kByte, 1}), absl::OkStatus());
  std::byte found{};
  EXPECT_EQ(read(reader, &found, 1), 1);
  EXPECT_EQ(found, kByte);
  close(reader);
}

// Closing it would end the reader's input.
TEST_F(AtomicFileTest, APipeIsNotOpenedToTryIt) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_TRUE(CheckWritable(path_).ok());
}

}  // namespace
}  // namespace partita
