// What cuda.h and the guides leave open about a driver.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_READINGS_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_READINGS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"

namespace partita::emulated_gpu {

// A driver may do either. By default captures refuse what an H100's driver was
// seen to refuse, and calls return before work is done where they may, except
// those that free memory and those that fetch into pageable memory.
struct Readings {
  friend bool operator==(const Readings&, const Readings&) = default;

  // cuMemcpyPeerAsync can be captured. cuda.h:10500 has nothing against it; an
  // H100's driver refuses it (capture_copy.peer_two_contexts).
  bool peer_copy_captures = false;
  // So can every other copy between two devices. cuda.h:10497 and 10615 have
  // nothing against it; no one GPU can show it.
  bool device_copy_captures = true;
  // The first use of a kernel in a context loads it (cuda.h:7888), and that
  // waits for the context's work: it "might require context synchronization"
  // (CUDA guide, lazy loading). An H100's driver does
  // (code.load_beside_kernel).
  bool loading_waits = false;
  // Launches of kernels and graphs return when they are done: CUDA guide,
  // CUDA_LAUNCH_BLOCKING; NCCL guide, CUDA graphs, "cudaGraphLaunch may block".
  bool launches_wait = false;
  // A stream takes one command, and a call for another one waits until it is
  // done. cuda.h is silent; an H100's takes some 1021 (launch.queue_depth).
  bool queues_are_short = false;
  // A copy from pageable memory waits for the stream's work in front of it:
  // "may synchronize with the stream" (CUDA driver API, API synchronization
  // behavior). An H100's driver does from 8 MiB on (memory.pageable_staged).
  bool pageable_copies_wait = false;
  // A copy from a device to pageable memory returns when it is done: it "might
  // be synchronous with respect to host" (CUDA driver API, API synchronization
  // behavior). An H100's driver is (memory.pageable_fetch).
  bool pageable_fetches_wait = true;
  // What work writes to the host's memory may be there as soon as the work is
  // done: the seed says so of each command. Otherwise the host has it when it
  // learns that the work is over, and not before (unseen_writes.h). The CUDA
  // guide is silent about bytes that nobody may read yet; hardware has them at
  // any time.
  bool writes_arrive_early = false;
  // cuMemFree, cuMemFreeHost and cuMemHostUnregister wait for the context's
  // work: "may perform implicit synchronization" (cuda.h:8684). An H100's
  // driver does (memory.what_synchronises).
  bool frees_wait = true;
};

struct NamedReadings {
  std::string name;
  Readings readings;
};

// The default, each doubt read the other way, and all of them.
std::vector<NamedReadings> AllReadings();

// One field of Readings, by its name.
struct Doubt {
  const char* name;
  bool Readings::*reading;
};
absl::Span<const Doubt> Doubts();

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_READINGS_H_
