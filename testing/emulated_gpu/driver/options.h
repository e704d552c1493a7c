// What an emulated machine has, how it behaves, and what it does wrong.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_OPTIONS_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_OPTIONS_H_

#include <cuda.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "testing/emulated_gpu/driver/readings.h"

namespace partita::emulated_gpu {

// Which of the commands that may start is run next.
enum class Order : uint8_t {
  kRandom,
  kOldestStreamFirst,
  kYoungestStreamFirst,
  kStarveOneStream,  // which one, the seed says
  kLateWaits,        // what comes after a wait, as late as can be
  kAtOnce,           // each command when it is issued, as soon as it may start
};

// So that all addresses of 64 GPUs are below 2^47.
inline constexpr int64_t kMostBytesPerGpu = int64_t{1} << 39;

struct EmulatedGpuOptions {
  int gpus = 1;
  std::string name = "Partita emulated GPU";  // of each
  int64_t bytes_per_gpu = int64_t{1} << 30;
  // What a context takes of them.
  int64_t bytes_per_context = 0;
  // What a kernel takes of them that is loaded in a context.
  int64_t bytes_per_kernel = 0;
  int compute_capability_major = 9;
  int compute_capability_minor = 0;
  int multiprocessors = 132;
  // The GPUs that the driver shows, in its order; default: all.
  std::optional<std::vector<int>> visible;
  // Pairs of GPUs that may access each other's memory, both ways.
  std::vector<std::pair<int, int>> peers;
  // Those of `peers` that NVLink joins; PCIe joins the others.
  std::vector<std::pair<int, int>> nvlinks;

  // Runs with equal seeds and calls are equal. At 0 the threads of a kernel run
  // in their order.
  uint64_t seed = 1;
  Order order = Order::kRandom;

  // Of a launch, over all threads. One that takes more has an endless loop: a
  // finding, and CUDA_ERROR_LAUNCH_TIMEOUT.
  uint64_t most_instructions = uint64_t{1} << 32;

  // The call with this number (EmulatedCuda::calls, from 1 on) returns
  // `fail_with` and does nothing; calls that give something back do so all the
  // same. 0: none fails.
  int64_t fail_call = 0;
  CUresult fail_with = CUDA_ERROR_UNKNOWN;

  Readings readings;
};

// Every pair of `gpus` GPUs.
std::vector<std::pair<int, int>> AllPeers(int gpus);

// `options`, changed by the environment where it sets them:
//   PARTITA_EMULATED_GPUS=4
//   PARTITA_EMULATED_BYTES=1073741824      of each GPU
//   PARTITA_EMULATED_CONTEXT_BYTES=0
//   PARTITA_EMULATED_KERNEL_BYTES=0
//   PARTITA_EMULATED_CAPABILITY=9.0
//   PARTITA_EMULATED_PEERS=all             or none, or 0-1,2-3 (default: all)
//   PARTITA_EMULATED_NVLINKS=none          or all, or 0-1,2-3: of the peers
//   PARTITA_EMULATED_NAME=Partita emulated GPU
//   PARTITA_EMULATED_SEED=7
//   PARTITA_EMULATED_ORDER=random          or oldest, youngest, starve, waits,
//                                          at_once
//   PARTITA_EMULATED_FAIL_CALL=12          or 12:700, with a CUresult
//   PARTITA_EMULATED_PEER_COPY_CAPTURES=1  and so on: 0 or 1 for each of
//                                          Doubts()
//   CUDA_VISIBLE_DEVICES=1,0               as a real driver does
absl::StatusOr<EmulatedGpuOptions> OptionsFromEnvironment(
    EmulatedGpuOptions options = {});

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_OPTIONS_H_
