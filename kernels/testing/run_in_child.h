// A child process with a time limit, for code that may hang or crash.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_TESTING_RUN_IN_CHILD_H_
#define PARTITA_KERNELS_TESTING_RUN_IN_CHILD_H_

#include <functional>
#include <string>

namespace partita {

// Sends a text to the parent.
using SendToParent = std::function<void(const std::string& text)>;

struct ChildOutcome {
  std::string texts;  // all texts in order
  // How it ended, if not by returning: "signal 11 (Segmentation fault)", "no
  // report within 10 s"; "" if it returned.
  std::string death;
};

// Calls `run` in a fork of this process. The child is killed if `seconds` pass
// without a text. The caller must not have started threads, including OpenMP's.
ChildOutcome RunInChild(int seconds,
                        const std::function<void(const SendToParent&)>& run);

}  // namespace partita

#endif  // PARTITA_KERNELS_TESTING_RUN_IN_CHILD_H_
