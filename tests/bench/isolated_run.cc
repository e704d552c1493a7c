// A child process and a pipe.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/isolated_run.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace partita {
namespace {

[[noreturn]] void RunChild(const std::function<std::string()>& measure,
                           int limit_seconds, int to_parent) {
  alarm(static_cast<unsigned>(limit_seconds));
  const std::string text = measure();
  const ssize_t written = write(to_parent, text.data(), text.size());
  std::fflush(nullptr);
  // No destructors: the parent's objects are the parent's to end.
  _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

std::string ReadAll(int from_child) {
  std::string text;
  std::array<char, 4096> buffer;
  ssize_t bytes = 0;
  while ((bytes = read(from_child, buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<size_t>(bytes));
  }
  return text;
}

}  // namespace

IsolatedRun RunIsolated(const std::function<std::string()>& measure,
                        int limit_seconds) {
  std::array<int, 2> ends;
  if (pipe(ends.data()) != 0) return {};
  std::fflush(nullptr);  // or the child prints it too
  const pid_t child = fork();
  if (child == 0) RunChild(measure, limit_seconds, ends[1]);
  close(ends[1]);
  IsolatedRun run;
  if (child > 0) {
    run.text = ReadAll(ends[0]);
    int status = 0;
    rusage usage = {};
    run.ended = wait4(child, &status, 0, &usage) == child &&
                WIFEXITED(status) && WEXITSTATUS(status) == 0;
    run.peak_mebibytes = static_cast<double>(usage.ru_maxrss) / 1024;
  }
  close(ends[0]);
  return run;
}

}  // namespace partita
