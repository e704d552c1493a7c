// Starts this program again for some facts, and reads the rows that it prints.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/driver_facts/fact_runner.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "testing/gpu/driver_facts/crash_report.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

constexpr char kStepLine[] = "step: ";

// A process that measures facts, and the pipe that its rows come through.
class FactProcess {
 public:
  FactProcess(const FactGroup& group, size_t first, size_t last,
              const FactOptions& options);
  ~FactProcess() { End(); }
  FactProcess(const FactProcess&) = delete;

  enum class Line { kRow, kEnded, kLate };
  // The next line that is a row. Lines about steps and a crash are kept; others
  // are what a driver or a fact printed.
  Line Next(double deadline, std::string& line);
  void Kill() {
    if (child_ > 0) kill(child_, SIGKILL);
  }
  struct Ending {
    bool by_signal = false;
    // Why there are no more rows: "died: signal 11 in libcuda.so.1, after: .."
    std::string text;
  };
  Ending End();

 private:
  [[noreturn]] static void Exec(int pipe, const FactGroup& group, size_t first,
                                size_t last, const FactOptions& options);
  bool TakeLine(std::string& line);

  pid_t child_ = -1;
  int pipe_ = -1;
  std::string unread_;
  std::string steps_;  // of the row that is being measured
  std::string crash_;
};

FactProcess::FactProcess(const FactGroup& group, size_t first, size_t last,
                         const FactOptions& options) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return;
  child_ = fork();
  if (child_ == 0) {
    close(ends[0]);
    Exec(ends[1], group, first, last, options);
  }
  close(ends[1]);
  pipe_ = ends[0];
}

void FactProcess::Exec(int pipe, const FactGroup& group, size_t first,
                       size_t last, const FactOptions& options) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(pipe, STDOUT_FILENO);
  if (const char* pair = group.facts[first].environment) {
    putenv(const_cast<char*>(pair));
  }
  const std::string from = absl::StrCat(first);
  const std::string to = absl::StrCat(last);
  execl(options.program.c_str(), options.program.c_str(), "--child", group.name,
        from.c_str(), to.c_str(), options.libraries.c_str(), nullptr);
  _exit(127);
}

bool FactProcess::TakeLine(std::string& line) {
  for (size_t end; (end = unread_.find('\n')) != std::string::npos;) {
    line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    absl::string_view text = line;
    if (absl::ConsumePrefix(&text, kStepLine)) {
      absl::StrAppend(&steps_, steps_.empty() ? "" : "; ", text);
    } else if (absl::ConsumePrefix(&text, kCrashLine)) {
      crash_ = std::string(text);
    } else if (absl::StartsWith(line, "{\"id\":")) {
      steps_.clear();
      return true;
    }
  }
  return false;
}

FactProcess::Line FactProcess::Next(double deadline, std::string& line) {
  while (!TakeLine(line)) {
    const double left = deadline - HostSeconds();
    pollfd waiting{pipe_, POLLIN, 0};
    if (left <= 0 ||
        poll(&waiting, 1, static_cast<int>(left * 1000) + 1) <= 0) {
      return Line::kLate;
    }
    std::array<char, 4096> bytes;
    const ssize_t count = read(pipe_, bytes.data(), bytes.size());
    if (count <= 0) return Line::kEnded;
    unread_.append(bytes.data(), count);
  }
  return Line::kRow;
}

FactProcess::Ending FactProcess::End() {
  if (pipe_ >= 0) close(std::exchange(pipe_, -1));
  if (child_ <= 0) return {false, "could not be started"};
  const pid_t child = std::exchange(child_, -1);
  const std::string after =
      absl::StrCat(", after: ", steps_.empty() ? "nothing" : steps_);
  int status = 0;
  // A process that has printed its last row needs a moment to leave.
  for (int i = 0; i < 300; ++i) {
    if (waitpid(child, &status, WNOHANG) == child) {
      if (!WIFSIGNALED(status)) {
        return {false,
                absl::StrCat("left with status ", WEXITSTATUS(status), after)};
      }
      if (crash_.empty()) crash_ = absl::StrCat("signal ", WTERMSIG(status));
      return {true, absl::StrCat("died: ", crash_, after)};
    }
    usleep(10000);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return {false, absl::StrCat("did not end, killed", after)};
}

// Without a rule, that all went well is no more than a figure.
bool IsFigure(const Fact& fact) {
  return absl::StartsWith(fact.expected, "figure");
}

// What a process that ended before it gave its row says of the fact.
Reading ReadingOfEnd(const Fact& fact, const FactProcess::Ending& ending) {
  Reading reading = Unmeasured(absl::StrCat("the process ", ending.text));
  if (ending.by_signal && fact.process == Process::kMayDie) {
    reading.verdict =
        IsFigure(fact) ? FactVerdict::kFigure : FactVerdict::kFail;
  }
  return reading;
}

// Facts from `first` on that share a process.
size_t EndOfProcess(const FactGroup& group, size_t first) {
  const auto alone = [&](size_t i) {
    const Fact& fact = group.facts[i];
    return fact.process != Process::kShared || fact.environment != nullptr;
  };
  size_t last = first + 1;
  while (!alone(first) && last < group.facts.size() && !alone(last)) ++last;
  return last;
}

// Rows of facts first .. last - 1 as far as one process gives them: at least
// one row.
std::vector<Row> RunProcess(const FactGroup& group, size_t first, size_t last,
                            const FactOptions& options, double deadline) {
  std::vector<Row> rows;
  FactProcess process(group, first, last, options);
  while (first + rows.size() < last) {
    const Fact& fact = group.facts[first + rows.size()];
    const double row_deadline =
        std::min(deadline, HostSeconds() + options.row_seconds);
    std::string line;
    const FactProcess::Line got = process.Next(row_deadline, line);
    if (got == FactProcess::Line::kRow) {
      absl::StatusOr<Row> row = ParseRow(line);
      rows.push_back(
          row.ok()
              ? *std::move(row)
              : RowOf(fact, Unmeasured(std::string(row.status().message()))));
      continue;
    }
    if (got == FactProcess::Line::kLate) {
      process.Kill();
      rows.push_back(RowOf(fact, Unmeasured(absl::StrCat(
                                     "no answer within ", options.row_seconds,
                                     " s; killed, ", process.End().text))));
    } else if (rows.empty()) {
      rows.push_back(RowOf(fact, ReadingOfEnd(fact, process.End())));
    }
    break;
  }
  return rows;
}

Reading Measure(const Fact& fact, Gpu& gpu) {
  absl::StatusOr<Reading> reading = fact.measure(gpu);
  if (!reading.ok()) {
    return Unmeasured(std::string(reading.status().message()));
  }
  if (IsFigure(fact) && reading->verdict == FactVerdict::kPass) {
    reading->verdict = FactVerdict::kFigure;
  }
  return *std::move(reading);
}

void PrintStep(const std::string& step) {
  std::printf("%s%s\n", kStepLine,
              absl::StrReplaceAll(step, {{"\n", " "}}).c_str());
  std::fflush(stdout);
}

void Print(const Row& row) {
  std::puts(RowJson(row).c_str());
  std::fflush(stdout);
}

CudaSearchPath PathOf(const std::string& libraries) {
  if (libraries.empty()) return {};
  return {{std::filesystem::absolute(libraries)}};
}

}  // namespace

std::vector<Row> RunGroup(const FactGroup& group, const FactOptions& options,
                          double deadline) {
  std::vector<Row> rows;
  while (rows.size() < group.facts.size()) {
    const size_t first = rows.size();
    if (HostSeconds() >= deadline) {
      rows.push_back(RowOf(group.facts[first],
                           Unmeasured("the time for all facts was over")));
      continue;
    }
    for (Row& row : RunProcess(group, first, EndOfProcess(group, first),
                               options, deadline)) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

int RunChild(const FactGroup& group, size_t first, size_t last,
             const std::string& libraries) {
  ReportCrashes();
  SetStepListener(PrintStep);
  absl::StatusOr<DriverApi> api = LoadCudaDriver(PathOf(libraries));
  absl::Status status = api.status();
  std::unique_ptr<Gpu> gpu;
  if (status.ok()) {
    absl::StatusOr<std::unique_ptr<Gpu>> opened = Gpu::Open(*api);
    status = opened.status();
    if (status.ok()) gpu = *std::move(opened);
  }
  for (size_t i = first; i < last; ++i) {
    const Fact& fact = group.facts[i];
    Print(RowOf(fact, gpu ? Measure(fact, *gpu)
                          : Unmeasured(std::string(status.message()))));
    // Left alone, the context would give every later fact its error.
    if (gpu && (api->CtxSetCurrent(gpu->context()) != CUDA_SUCCESS ||
                api->CtxSynchronize() != CUDA_SUCCESS)) {
      std::fflush(stdout);
      _exit(0);
    }
  }
  std::fflush(stdout);
  _exit(0);
}

DriverHolder::DriverHolder(const FactOptions& options) : child_(fork()) {
  if (child_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  execl(options.program.c_str(), options.program.c_str(), "--hold",
        options.libraries.c_str(), nullptr);
  _exit(127);
}

DriverHolder::~DriverHolder() {
  if (child_ <= 0) return;
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

int HoldDriver(const std::string& libraries) {
  absl::StatusOr<DriverApi> api = LoadCudaDriver(PathOf(libraries));
  if (!api.ok() || api->Init(0) != CUDA_SUCCESS) return 1;
  while (true) pause();
}

}  // namespace partita
