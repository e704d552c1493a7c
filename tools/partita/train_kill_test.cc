// The program is killed while it trains: what it has written goes on to the
// bits of a training that nobody disturbed.
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "partita/train/bar_images.h"

namespace partita {
namespace {

constexpr char kProgram[] = "tools/partita/partita";
constexpr char kMachine[] = "examples/machines/two_small_cpus.json";
constexpr int kKills = 50;
constexpr int kPipeBytes = 4096;

using Clock = std::chrono::steady_clock;

std::string Path(const std::string& name) {
  return absl::StrCat(testing::TempDir(), "/", getpid(), "_", name);
}

std::string Content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// The loss table beside a checkpoint, but for its seconds.
std::string Losses(const std::string& checkpoint) {
  std::ifstream in(checkpoint + ".csv");
  std::string losses;
  for (std::string line; std::getline(in, line);) {
    losses += line.substr(0, line.rfind(',')) + "\n";
  }
  return losses;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

struct Length {
  const char* epochs;  // of 6 steps
  const char* every;   // steps from one checkpoint to the next
};

// A third of its time goes into checkpoints, at all places of an epoch.
constexpr Length kShort = {.epochs = "20", .every = "7"};
// Says more to standard output than fits into a pipe (Program's), and so does
// not end before it is read.
constexpr Length kTalkative = {.epochs = "200", .every = "40"};

// The same training each time, of dropout, momenta and a last batch that is
// not whole; continues the checkpoint if there is one.
std::vector<std::string> CommandLine(const std::string& checkpoint,
                                     const Length& length) {
  static const ImageFiles& files =
      *new ImageFiles(WriteBarImages(Path(""), 43, 1));
  std::vector<std::string> words = {
      kProgram,       "train",       "builtin:mnist", "--images",
      files.images,   "--labels",    files.labels,    "--machine",
      kMachine,       "--strategy",  "single",        "--virtual",
      "--batch",      "8",           "--seed",        "3",
      "--epochs",     length.epochs, "--every",       length.every,
      "--checkpoint", checkpoint,    "--csv",         checkpoint + ".csv"};
  if (Exists(checkpoint)) words.insert(words.end(), {"--resume", checkpoint});
  return words;
}

// A program at work, and what it writes to standard output.
class Program {
 public:
  explicit Program(const std::vector<std::string>& words) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      std::vector<char*> arguments;
      for (const std::string& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str()));
      }
      arguments.push_back(nullptr);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    close(ends[1]);
    fcntl(ends[0], F_SETPIPE_SZ, kPipeBytes);
    output_ = fdopen(ends[0], "r");
  }
  ~Program() { std::fclose(output_); }

  void Signal(int signal) { kill(pid_, signal); }
  // Waits until there is one.
  std::string ReadLine() {
    std::string line;
    for (int c = std::fgetc(output_); c != EOF && c != '\n';
         c = std::fgetc(output_)) {
      line += static_cast<char>(c);
    }
    return line;
  }
  // Up to the first line that begins so, or to the end; the last line.
  std::string ReadLines(const std::string& start) {
    std::string line, last;
    while (!(line = ReadLine()).empty()) {
      last = line;
      if (!start.empty() && absl::StartsWith(line, start)) break;
    }
    return last;
  }
  // To its end; the status that waitpid gives.
  int Wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    return status;
  }

 private:
  pid_t pid_;
  std::FILE* output_;
};

bool EndedWell(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool EndedBy(int status, int signal) {
  return WIFSIGNALED(status) && WTERMSIG(status) == signal;
}

struct Written {
  std::string checkpoint;
  std::string losses;

  bool operator==(const Written&) const = default;
};

Written ReadWritten(const std::string& path) {
  return {Content(path), Losses(path)};
}

// What a training writes that nobody disturbs.
Written Undisturbed(const Length& length) {
  const std::string path = Path("undisturbed");
  unlink(path.c_str());
  Program program(CommandLine(path, length));
  program.ReadLines("");
  EXPECT_TRUE(EndedWell(program.Wait()));
  return ReadWritten(path);
}

uint64_t Seed() {
  const char* text = std::getenv("PARTITA_SEED");
  uint64_t seed = std::random_device()();
  if (text != nullptr && !absl::SimpleAtoi(text, &seed)) {
    ADD_FAILURE() << "PARTITA_SEED: found " << text << "; expected a number";
  }
  std::cout << "PARTITA_SEED=" << seed << "\n";
  return seed;
}

TEST(TrainKill, KilledAtAnyMomentItGoesOnFromTheLastWholeCheckpoint) {
  const Clock::time_point start = Clock::now();
  const Written undisturbed = Undisturbed(kShort);
  ASSERT_FALSE(undisturbed.checkpoint.empty());
  // Of which half is enough: every run begins where the last was killed.
  const auto whole = Clock::now() - start;
  std::mt19937_64 random(Seed());
  const std::string path = Path("killed");
  for (int kills = 0; kills < kKills;) {
    Program program(CommandLine(path, kShort));
    std::this_thread::sleep_for(
        whole / 2 * (static_cast<double>(random() >> 11) * 0x1p-53));
    program.Signal(SIGKILL);
    const int status = program.Wait();
    if (EndedBy(status, SIGKILL)) {
      ++kills;
      continue;
    }
    ASSERT_TRUE(EndedWell(status)) << status;
    ASSERT_EQ(ReadWritten(path), undisturbed) << "after " << kills << " kills";
    unlink(path.c_str());
  }
  Program last(CommandLine(path, kShort));
  EXPECT_TRUE(EndedWell(last.Wait()));
  EXPECT_EQ(ReadWritten(path), undisturbed);
}

// Whoever asks it to end sees it end by that signal, after the step.
TEST(TrainKill, AskedToEndItKeepsTheTraining) {
  const Written undisturbed = Undisturbed(kTalkative);
  for (int signal : {SIGINT, SIGTERM}) {
    SCOPED_TRACE(signal);
    const std::string path = Path(absl::StrCat("asked", signal));
    {
      Program program(CommandLine(path, kTalkative));
      program.ReadLine();  // it begins to train
      program.Signal(signal);
      const std::string line = program.ReadLines("interrupted");
      EXPECT_TRUE(EndedBy(program.Wait(), signal));
      EXPECT_TRUE(absl::EndsWith(line, path)) << line;
    }
    EXPECT_NE(ReadWritten(path), undisturbed);
    Program rest(CommandLine(path, kTalkative));
    rest.ReadLines("");
    EXPECT_TRUE(EndedWell(rest.Wait()));
    EXPECT_EQ(ReadWritten(path), undisturbed);
  }
}

}  // namespace
}  // namespace partita
