// Signal handlers that set a flag.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/interruption.h"

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace partita {
namespace {

std::atomic<int> noted_signal = 0;
// required in signal handlers
static_assert(std::atomic<int>::is_always_lock_free);

constexpr int kSignals[] = {SIGINT, SIGTERM};

// Unless it is ignored, as for a background process.
void Handle(int signal, void (*handler)(int)) {
  struct sigaction old = {}, action = {};
  sigaction(signal, nullptr, &old);
  if (old.sa_handler == SIG_IGN) return;
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  // A second signal during the handler waits until the first is noted.
  sigemptyset(&action.sa_mask);
  for (int other : kSignals) sigaddset(&action.sa_mask, other);
  sigaction(signal, &action, nullptr);
}

// After either signal, the next one ends the program. Two threads may note two
// at once.
void Note(int signal) {
  for (int each : kSignals) Handle(each, SIG_DFL);
  if (noted_signal.exchange(signal) != 0) std::raise(signal);
}

}  // namespace

Interruption::Interruption() {
  noted_signal = 0;
  for (int signal : kSignals) Handle(signal, Note);
}

Interruption::~Interruption() {
  for (int signal : kSignals) Handle(signal, SIG_DFL);
}

bool Interruption::came() const { return noted_signal != 0; }

void Interruption::Obey() const {
  const int signal = noted_signal;
  Handle(signal, SIG_DFL);
  std::raise(signal);
  std::abort();  // a debugger swallowed it
}

}  // namespace partita
