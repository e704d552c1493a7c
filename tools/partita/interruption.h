// Ends interruptible work at SIGINT and SIGTERM.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_INTERRUPTION_H_
#define PARTITA_TOOLS_PARTITA_INTERRUPTION_H_

namespace partita {

// While it exists, the first SIGINT or SIGTERM is only noted; a second, of
// either kind, ends the program as usual. An ignored signal stays ignored. One
// object at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool came() const;
  // Ends the program by the signal that came, so that its parent sees the usual
  // status.
  [[noreturn]] void Obey() const;
};

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_INTERRUPTION_H_
