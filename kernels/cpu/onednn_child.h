// A child process whose oneDNN uses another instruction set than ours: oneDNN
// decides once in a process.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_ONEDNN_CHILD_H_
#define PARTITA_KERNELS_CPU_ONEDNN_CHILD_H_

#include <sys/types.h>

#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace partita {

// The program partita_onednn (onednn_server.cc) at the other end of a socket.
// It starts at the first question and ends when this process ends or when it
// fails. It is searched in the folders of libpartita_codegen.so. After a
// failure every question gets the same error. Thread safe.
class OnednnChild {
 public:
  // The child for a DeviceTraits::isa, one in a process. Never destroyed.
  static OnednnChild& For(const std::string& isa);

  // Unavailable, with a remedy, if a question failed.
  absl::Status Check();

  // The answer to a text, or the error of Check.
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
  absl::Status status_;  // of all questions so far
  pid_t process_ = -1;
  int socket_ = -1;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ONEDNN_CHILD_H_
