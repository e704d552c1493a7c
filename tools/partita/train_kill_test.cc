// Kills the program while it trains: the training continues from its files to
// the bits of an undisturbed one.
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
#include "partita/train/testing/bar_images.h"

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

// The loss table of a checkpoint, without its seconds.
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
  int epochs;  // of 6 steps
  int every;   // steps between two checkpoints

  int checkpoints() const { return epochs * 6 / every + 1; }
};

// A third of its time goes into checkpoints, at all positions of an epoch.
constexpr Length kShort = {.epochs = 20, .every = 7};
// Prints more than fits into a pipe (Program's), so it does not end before its
// output is read.
constexpr Length kTalkative = {.epochs = 200, .every = 40};

// The same training each time, with dropout, momenta and an incomplete last
// batch; continues the checkpoint if there is one.
std::vector<std::string> CommandLine(const std::string& checkpoint,
                                     const Length& length) {
  static const ImageFiles& files =
      *new ImageFiles(WriteBarImages(Path(""), 43, 1));
  std::vector<std::string> words = {
      kProgram,        "train",
      "builtin:mnist", "--images",
      files.images,    "--labels",
      files.labels,    "--machine",
      kMachine,        "--strategy",
      "single",        "--virtual",
      "--batch",       "8",
      "--seed",        "3",
      "--epochs",      absl::StrCat(length.epochs),
      "--every",       absl::StrCat(length.every),
      "--checkpoint",  checkpoint,
      "--csv",         checkpoint + ".csv"};
  if (Exists(checkpoint)) words.insert(words.end(), {"--resume", checkpoint});
  return words;
}

// A running program and its standard output.
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
  void StopReading() { close(fileno(output_)); }
  // Waits until there is one.
  std::string ReadLine() {
    std::string line;
    for (int c = std::fgetc(output_); c != EOF && c != '\n';
         c = std::fgetc(output_)) {
      line += static_cast<char>(c);
    }
    return line;
  }
  // Up to the first line with this start, or to the end; returns the last line.
  std::string ReadLines(const std::string& start) {
    std::string line, last;
    while (!(line = ReadLine()).empty()) {
      last = line;
      if (!start.empty() && absl::StartsWith(line, start)) break;
    }
    return last;
  }
  bool HasEnded() const {
    siginfo_t info = {};
    return waitid(P_PID, pid_, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }
  // To its end; waitpid's status.
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

struct Pace {
  Clock::duration start;       // up to the first step
  Clock::duration checkpoint;  // between two
};

// What an undisturbed training writes.
Written Undisturbed(const Length& length, Pace* pace = nullptr) {
  const std::string path = Path("undisturbed");
  unlink(path.c_str());
  const Clock::time_point start = Clock::now();
  Program program(CommandLine(path, length));
  program.ReadLine();
  const Clock::time_point first_step = Clock::now();
  program.ReadLines("");
  EXPECT_TRUE(EndedWell(program.Wait()));
  if (pace != nullptr) {
    *pace = {.start = first_step - start,
             .checkpoint = (Clock::now() - first_step) / length.checkpoints()};
  }
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

// Changes when another file replaces it; 0 if there is none.
ino_t FileNumber(const std::string& path) {
  struct stat file;
  return stat(path.c_str(), &file) == 0 ? file.st_ino : 0;
}

// Waits until another checkpoint is at the path, or the program has ended.
void WaitForCheckpoint(const std::string& path, ino_t before,
                       const Program& program) {
  while (FileNumber(path) == before && !program.HasEnded()) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

// One run in five is killed before it writes anything, while it reads, compiles
// or resumes; the others within two checkpoints after their first.
TEST(TrainKill, KilledAtAnyMomentItGoesOnFromTheLastWholeCheckpoint) {
  Pace pace;
  const Written undisturbed = Undisturbed(kShort, &pace);
  ASSERT_FALSE(undisturbed.checkpoint.empty());
  std::mt19937_64 random(Seed());
  std::uniform_real_distribution<double> fraction(0, 1);
  const std::string path = Path("killed");
  int kills = 0, advanced = 0, trainings = 0;
  while (kills < kKills) {
    const std::string before = Content(path);
    const ino_t file = FileNumber(path);
    Program program(CommandLine(path, kShort));
    if (kills % 5 == 0) {
      std::this_thread::sleep_for(fraction(random) * pace.start);
    } else {
      WaitForCheckpoint(path, file, program);
      std::this_thread::sleep_for(fraction(random) * 2 * pace.checkpoint);
    }
    program.Signal(SIGKILL);
    const int status = program.Wait();
    if (EndedBy(status, SIGKILL)) {
      ++kills;
      // A finished training writes its last checkpoint again.
      advanced += Content(path) != before || FileNumber(path) != file;
      continue;
    }
    ASSERT_TRUE(EndedWell(status)) << status;
    ASSERT_EQ(ReadWritten(path), undisturbed) << "after " << kills << " kills";
    ++trainings;
    unlink(path.c_str());
  }
  EXPECT_GE(advanced, kKills * 4 / 5) << "kills came too early to matter";
  EXPECT_GE(trainings, 1);
  Program last(CommandLine(path, kShort));
  EXPECT_TRUE(EndedWell(last.Wait()));
  EXPECT_EQ(ReadWritten(path), undisturbed);
}

// The parent sees the program end by its signal, after the step.
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

// Like `partita train ... | head`: the parent sees it end by SIGPIPE.
TEST(TrainKill, WithoutAReaderItKeepsTheTraining) {
  const Written undisturbed = Undisturbed(kTalkative);
  const std::string path = Path("unread");
  {
    Program program(CommandLine(path, kTalkative));
    program.ReadLine();  // it begins to train
    program.StopReading();
    EXPECT_TRUE(EndedBy(program.Wait(), SIGPIPE));
  }
  ASSERT_TRUE(Exists(path));
  EXPECT_NE(ReadWritten(path), undisturbed);
  Program rest(CommandLine(path, kTalkative));
  rest.ReadLines("");
  EXPECT_TRUE(EndedWell(rest.Wait()));
  EXPECT_EQ(ReadWritten(path), undisturbed);
}

// Like `partita train ... | true`.
TEST(TrainKill, WithoutAReaderOfItsFirstLineItReportsThatNothingIsTrained) {
  const std::string path = Path("never_read");
  const std::string errors = Path("never_read.txt");
  std::vector<std::string> words = CommandLine(path, kShort);
  words.insert(
      words.begin(),
      {"/bin/sh", "-c", absl::StrCat("exec \"$0\" \"$@\" 2>'", errors, "'")});
  Program program(words);
  program.StopReading();
  EXPECT_TRUE(EndedBy(program.Wait(), SIGPIPE));
  EXPECT_FALSE(Exists(path));
  EXPECT_EQ(Content(errors),
            "partita: before step 1: standard output: found that nobody reads "
            "it any more; expected a reader up to the end\n");
}

TEST(TrainKill, AskedToEndWithoutACheckpointItReportsThatNothingIsKept) {
  std::vector<std::string> words =
      CommandLine(Path("unkept"), {.epochs = 200, .every = 1});
  const auto every = std::find(words.begin(), words.end(), "--every");
  words.erase(every, every + 4);  // and --checkpoint
  words.insert(words.begin(), {"/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&1"});
  Program program(words);
  program.ReadLine();  // it begins to train
  program.Signal(SIGINT);
  const std::string line =
      program.ReadLines("partita: interrupted after step ");
  EXPECT_TRUE(EndedBy(program.Wait(), SIGINT));
  EXPECT_TRUE(
      absl::EndsWith(line, "; nothing is kept, as there is no --checkpoint"))
      << line;
}

}  // namespace
}  // namespace partita
