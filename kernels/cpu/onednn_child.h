// A process of its own whose oneDNN uses another instruction set than ours:
// oneDNN decides once in a process which it uses.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_ONEDNN_CHILD_H_
#define PARTITA_KERNELS_CPU_ONEDNN_CHILD_H_

#include <sys/types.h>

#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace partita {

// The program partita_onednn (onednn_server.cc) at the other end of a socket:
// started at the first question, ended when this process ends or it fails. It
// is looked for where libpartita_codegen.so is. Once it has failed, every
// question gets the same error. Thread safe.
class OnednnChild {
 public:
  // That of a DeviceTraits::isa, one in a process. It lives for ever.
  static OnednnChild& For(const std::string& isa);

  // Unavailable, with what to do, if it was asked and failed.
  absl::Status Check();

  // The answer to a text, or what Check says then.
  absl::StatusOr<std::string> Ask(const std::string& question);

 private:
  explicit OnednnChild(std::string isa) : isa_(std::move(isa)) {}
  absl::Status Start();
  absl::Status Greet();
  absl::StatusOr<std::string> Receive();
  absl::Status Fail(const std::string& what);

  const std::string isa_;
  std::mutex mutex_;  // guards what follows
  bool started_ = false;
  absl::Status status_;  // of all so far
  pid_t process_ = -1;
  int socket_ = -1;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ONEDNN_CHILD_H_
