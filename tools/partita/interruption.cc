// Signal handlers that set a flag.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/interruption.h"

#include <csignal>
#include <cstdlib>

namespace partita {
namespace {

volatile std::sig_atomic_t noted_signal = 0;

constexpr int kSignals[] = {SIGINT, SIGTERM};

void Note(int signal) { noted_signal = signal; }

// Unless it is ignored, as that of a program in the background may be.
void Handle(int signal, void (*handler)(int), int flags) {
  struct sigaction old = {}, action = {};
  sigaction(signal, nullptr, &old);
  if (old.sa_handler == SIG_IGN) return;
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

Interruption::Interruption() {
  noted_signal = 0;
  for (int signal : kSignals) Handle(signal, Note, SA_RESTART | SA_RESETHAND);
}

Interruption::~Interruption() {
  for (int signal : kSignals) Handle(signal, SIG_DFL, 0);
}

bool Interruption::came() const { return noted_signal != 0; }

void Interruption::Obey() const {
  const int signal = noted_signal;
  Handle(signal, SIG_DFL, 0);
  std::raise(signal);
  std::abort();  // a debugger swallowed it
}

}  // namespace partita
