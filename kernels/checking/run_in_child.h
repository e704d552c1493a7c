// A child process with a time limit, for what may hang or crash.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CHECKING_RUN_IN_CHILD_H_
#define PARTITA_KERNELS_CHECKING_RUN_IN_CHILD_H_

#include <functional>
#include <string>

namespace partita {

// Passes a text on to the parent.
using Say = std::function<void(const std::string& text)>;

struct ChildOutcome {
  std::string said;  // all texts in sequence
  // How it ended otherwise than by returning: "signal 11 (Segmentation fault)",
  // "no report within 10 s"; "" if it did return.
  std::string death;
};

// Runs `run` in a fork of this process, which ends when `seconds` pass without
// a text. The caller must not have started threads, not even OpenMP's.
ChildOutcome RunInChild(int seconds,
                        const std::function<void(const Say&)>& run);

}  // namespace partita

#endif  // PARTITA_KERNELS_CHECKING_RUN_IN_CHILD_H_
