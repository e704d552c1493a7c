// Threads of a kernel: barriers, shuffles, shared memory, fences, atomics.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_format.h"
#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

template <typename... Args>
absl::StatusOr<std::vector<uint32_t>> Run(const Gpu& gpu, const char* kernel,
                                          LaunchShape shape, size_t words,
                                          Args... args) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory area, gpu.NewMemory(words * 4));
  PARTITA_RETURN_IF_ERROR(gpu.Status(
      gpu.Launch(stream.get(), kernel, shape, area.get(), args...), kernel));
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(api.StreamSynchronize(stream.get()), kernel));
  std::vector<uint32_t> seen(words);
  PARTITA_RETURN_IF_ERROR(gpu.Status(
      api.MemcpyDtoH(seen.data(), area.get(), words * 4), "cuMemcpyDtoH"));
  return seen;
}

absl::StatusOr<Reading> ShuffleAbsent(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<uint32_t> seen,
                           Run(gpu, "shuffle_absent", {1, 32}, 64));
  Steps steps(gpu.api());
  std::string text;
  for (int lane = 0; lane < 16; ++lane) {
    absl::StrAppend(&text, " ", seen[lane], "/", seen[32 + lane]);
  }
  steps.Note(absl::StrCat(
      "value/predicate of lanes 0..15 (own 1000 + lane, absent 1016 + lane):",
      text));
  return steps.End();
}

absl::StatusOr<Reading> BarrierExited(Gpu& gpu) {
  Steps steps(gpu.api());
  for (const uint32_t stay : {32u, 33u, 1u, 100u}) {
    PARTITA_ASSIGN_OR_RETURN(const std::vector<uint32_t> seen,
                             Run(gpu, "barrier_exited", {1, 256}, 1, stay));
    steps.Is(absl::StrCat("of 256 threads ", stay, " stay, past the barrier"),
             seen[0], stay);
  }
  return steps.End();
}

absl::StatusOr<Reading> BarrierCount(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<uint32_t> seen,
                           Run(gpu, "barrier_count", {1, 128}, 1));
  Steps steps(gpu.api());
  steps.Is("64 of 128 threads, past bar.sync 1, 64", seen[0], 64u);
  return steps.End();
}

absl::StatusOr<Reading> SharedUndefined(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  Steps steps(api);
  PARTITA_ASSIGN_OR_RETURN(const std::vector<uint32_t> fresh,
                           Run(gpu, "read_shared", {1, 1024}, 12288));
  steps.Figure("zero_words", std::count(fresh.begin(), fresh.end(), 0u));
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  const unsigned blocks = static_cast<unsigned>(
      4 * gpu.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  gpu.Launch(stream.get(), "fill_shared", {blocks, 1024}, 0xABCD1234u);
  steps.Code("fill", api.StreamSynchronize(stream.get()), CUDA_SUCCESS);
  PARTITA_ASSIGN_OR_RETURN(const std::vector<uint32_t> after,
                           Run(gpu, "read_shared", {1, 1024}, 12288));
  steps.Figure("words_of_another_kernel_seen",
               std::count(after.begin(), after.end(), 0xABCD1234u));
  steps.Figure("of_words", after.size());
  return steps.End();
}

absl::StatusOr<Reading> MessageBetweenBlocks(Gpu& gpu) {
  Steps steps(gpu.api());
  constexpr uint32_t kMessages = 100000;
  uint32_t bad = 0;
  uint32_t good = 0;
  for (int round = 0; round < 5; ++round) {
    PARTITA_ASSIGN_OR_RETURN(const std::vector<uint32_t> seen,
                             Run(gpu, "pass_message", {2, 1}, 4 + kMessages,
                                 kMessages, uint64_t{500000000}));
    bad += seen[1];
    good += seen[2];
  }
  steps.Is("messages read too early", bad, 0u);
  steps.Is("messages read", good, 5 * kMessages);
  return steps.End();
}

// A denormal added to 0, and to a normal number's neighbourhood.
absl::StatusOr<Reading> FloatAtomics(Gpu& gpu) {
  const float denormal = 1e-40f;
  PARTITA_ASSIGN_OR_RETURN(const std::vector<uint32_t> seen,
                           Run(gpu, "atomic_add", {1, 1}, 3, denormal));
  Steps steps(gpu.api());
  steps.Note(absl::StrFormat(
      "denormal 000116c2 added to 0: atom %08x, red %08x", seen[0], seen[1]));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<uint32_t> many,
                           Run(gpu, "atomic_add", {64, 256}, 3, 0.1f));
  float atom = 0;
  float red = 0;
  std::memcpy(&atom, &many[0], 4);
  std::memcpy(&red, &many[1], 4);
  steps.Figure("atom_sum_of_16384_times_0.1", atom);
  steps.Figure("red_sum_of_16384_times_0.1", red);
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"thread.shuffle_absent",
     "A shuffle from a lane that has left gives an "
     "undefined value",
     "PTX ISA, shfl.sync", "figure", ShuffleAbsent, Process::kOwn},
    {"thread.barrier_exited", "Threads that have left are not waited for",
     "PTX ISA, bar.sync", "the others pass", BarrierExited, Process::kOwn},
    {"thread.barrier_count", "A barrier with a count waits for so many threads",
     "PTX ISA, bar.sync", "64 pass", BarrierCount, Process::kOwn},
    {"thread.shared_undefined", "What shared memory holds that nobody wrote",
     "none: undefined", "figure", SharedUndefined},
    {"thread.message_between_blocks",
     "Data written before membar.gl is seen by who sees the flag",
     "PTX ISA, membar", "no message too early", MessageBetweenBlocks},
    {"thread.float_atomics", "f32 atomic add on memory flushes denormals",
     "PTX ISA, atom: flushes subnormals", "figure", FloatAtomics},
};

}  // namespace

FactGroup ThreadFacts() { return {"thread", kFacts}; }

}  // namespace partita
