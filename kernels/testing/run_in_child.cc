// A fork, a pipe for texts and an alarm for the limit.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/testing/run_in_child.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace partita {
namespace {

void MustSucceed(bool success) {
  if (success) return;
  std::perror("child process");
  std::abort();
}

void WriteAll(int file, const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count =
        write(file, text.data() + written, text.size() - written);
    MustSucceed(count > 0);
    written += static_cast<size_t>(count);
  }
}

std::string ReadAll(int file) {
  std::string text;
  char buffer[4096];
  ssize_t count = 0;
  while ((count = read(file, buffer, sizeof(buffer))) > 0) {
    text.append(buffer, static_cast<size_t>(count));
  }
  return text;
}

// The test framework's handlers would report the crash as the parent's.
[[noreturn]] void BeChild(int seconds, int file,
                          const std::function<void(const SendToParent&)>& run) {
  for (int fatal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM}) {
    signal(fatal, SIG_DFL);
  }
  alarm(seconds);
  run([&](const std::string& text) {
    WriteAll(file, text);
    alarm(seconds);
  });
  _exit(0);
}

std::string DeathOf(int status, int seconds) {
  if (WIFEXITED(status)) {
    const int code = WEXITSTATUS(status);
    return code == 0 ? "" : "exit code " + std::to_string(code);
  }
  const int signal = WTERMSIG(status);
  if (signal == SIGALRM) {
    return "no report within " + std::to_string(seconds) + " s";
  }
  return "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

}  // namespace

ChildOutcome RunInChild(int seconds,
                        const std::function<void(const SendToParent&)>& run) {
  int ends[2];
  MustSucceed(pipe(ends) == 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  MustSucceed(child >= 0);
  if (child == 0) {
    close(ends[0]);
    BeChild(seconds, ends[1], run);
  }
  close(ends[1]);
  ChildOutcome outcome;
  outcome.texts = ReadAll(ends[0]);
  close(ends[0]);
  int status = 0;
  MustSucceed(waitpid(child, &status, 0) == child);
  outcome.death = DeathOf(status, seconds);
  return outcome;
}

}  // namespace partita
