// A handler on a stack of its own: the crash may be an overflow of the stack.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/driver_facts/crash_report.h"

#include <dlfcn.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>

namespace partita {
namespace {

std::array<char, 65536> handler_stack;

const void* CodeAddress([[maybe_unused]] const ucontext_t& state) {
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(state.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(state.uc_mcontext.pc);
#else
  return nullptr;
#endif
}

// The last part of the path of the file that the code at `address` is from.
const char* FileOf(const void* address) {
  Dl_info found{};
  if (address == nullptr || dladdr(address, &found) == 0 ||
      found.dli_fname == nullptr) {
    return "unknown code";
  }
  const char* slash = std::strrchr(found.dli_fname, '/');
  return slash == nullptr ? found.dli_fname : slash + 1;
}

// dladdr and snprintf may not be called here, strictly: if they hang, the
// deadline of the row ends the process.
void Report(int signal, siginfo_t*, void* state) {
  std::array<char, 256> line{};
  std::snprintf(line.data(), line.size(), "\n%ssignal %d in %s\n", kCrashLine,
                signal,
                FileOf(CodeAddress(*static_cast<const ucontext_t*>(state))));
  [[maybe_unused]] const ssize_t written =
      write(STDOUT_FILENO, line.data(), std::strlen(line.data()));
  raise(signal);  // the handler is gone: this ends the process
}

}  // namespace

void ReportCrashes() {
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = Report;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) {
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace partita
