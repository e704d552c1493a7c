// Ends work at SIGINT and SIGTERM where it can be continued.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_INTERRUPTION_H_
#define PARTITA_TOOLS_PARTITA_INTERRUPTION_H_

namespace partita {

// While it lives, the first SIGINT or SIGTERM is only noted; a second, of
// either, ends the program as ever. A signal that was ignored stays so. One at
// a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool came() const;
  // Ends the program by the signal that came, so that whoever started it sees
  // what it would have seen of any program.
  [[noreturn]] void Obey() const;
};

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_INTERRUPTION_H_
