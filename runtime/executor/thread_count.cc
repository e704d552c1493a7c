// Finds the streams that run kernels and adds up their threads.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/thread_count.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

// By stream.
std::vector<bool> RunKernels(const Entry& entry) {
  std::vector<bool> run(entry.streams.size(), false);
  for (const Program& program : entry.programs) {
    for (const Command& command : program.commands) {
      if (command.kind != Command::Kind::kKernel) continue;
      run[command.stream.index] = true;
    }
  }
  return run;
}

}  // namespace

int64_t ThreadsOf(const Entry& entry, const Devices& devices) {
  const std::vector<bool> run_kernels = RunKernels(entry);
  int64_t threads = 0;
  bool launches = false;
  for (size_t s = 0; s < entry.streams.size(); ++s) {
    const Device& device = *devices[entry.streams[s].device.index];
    if (device.properties().runs_behind_host) {
      launches = true;
    } else {
      threads += run_kernels[s] ? device.properties().kernel_threads : 1;
    }
  }
  return threads + (launches ? 1 : 0);
}

absl::Status CheckThreads(const Plan& plan, const Devices& devices,
                          int64_t most) {
  int64_t threads = 0;
  for (const Entry& entry : plan.entries) threads += ThreadsOf(entry, devices);
  if (threads <= most) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "plan @", plan.name, ": found streams and kernels of ", devices.size(),
      " devices that take ", threads, " threads; expected at most the ", most,
      " that this process may have; compile for fewer devices or threads, or "
      "set OMP_THREAD_LIMIT to the threads that a kernel may have"));
}

}  // namespace partita
