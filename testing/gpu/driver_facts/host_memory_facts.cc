// Page-locked host memory: who sees it, its kinds, and its registration.
// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// Pinned memory of one context, read by a kernel of another.
absl::StatusOr<Reading> PinnedEverywhere(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedContext other, gpu.NewContext());
  Steps steps(api);
  for (const unsigned flags : {0u, unsigned{CU_MEMHOSTALLOC_PORTABLE},
                               unsigned{CU_MEMHOSTALLOC_WRITECOMBINED}}) {
    void* host = nullptr;
    steps.Code("alloc", api.MemHostAlloc(&host, 4096, flags), CUDA_SUCCESS);
    PinnedMemory owner(api, host);
    *static_cast<volatile uint32_t*>(host) = 21 + flags;
    CUdeviceptr mapped = 0;
    steps.Code("device pointer", api.MemHostGetDevicePointer(&mapped, host, 0));
    steps.Note(absl::StrCat(
        "flags ", flags, ": pointers ",
        mapped == reinterpret_cast<CUdeviceptr>(host) ? "equal" : "differ"));
    api.CtxSetCurrent(other.get());
    PARTITA_ASSIGN_OR_RETURN(GlobalMemory word, gpu.NewMemory(4));
    PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
    steps.Code("kernel in the other context",
               gpu.Launch(stream.get(), "read_word", {}, word.get(), mapped),
               CUDA_SUCCESS);
    steps.Code("synchronize", api.StreamSynchronize(stream.get()),
               CUDA_SUCCESS);
    PARTITA_ASSIGN_OR_RETURN(const uint32_t seen, gpu.ReadWord(word.get()));
    steps.Is("read", seen, 21 + flags);
    api.CtxSetCurrent(gpu.context());
  }
  return steps.End();
}

double ReadGigabytes(const void* memory, size_t bytes) {
  const volatile uint64_t* words =
      static_cast<const volatile uint64_t*>(memory);
  const double start = HostSeconds();
  uint64_t sum = 0;
  for (size_t i = 0; i < bytes / 8; ++i) sum += words[i];
  const double seconds = HostSeconds() - start;
  return bytes / seconds / 1e9 + 0.0 * static_cast<double>(sum & 1);
}

absl::StatusOr<Reading> WriteCombined(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  Steps steps(api);
  const size_t bytes = 4 * kMiB;
  for (const unsigned flags : {unsigned{CU_MEMHOSTALLOC_PORTABLE},
                               unsigned{CU_MEMHOSTALLOC_WRITECOMBINED}}) {
    void* host = nullptr;
    PARTITA_RETURN_IF_ERROR(
        gpu.Status(api.MemHostAlloc(&host, bytes, flags), "cuMemHostAlloc"));
    PinnedMemory owner(api, host);
    const double start = HostSeconds();
    std::memset(host, 1, bytes);
    const std::string name =
        flags == CU_MEMHOSTALLOC_PORTABLE ? "cached" : "write_combined";
    steps.Figure(name + "_host_writes_GBps",
                 bytes / (HostSeconds() - start) / 1e9);
    steps.Figure(name + "_host_reads_GBps", ReadGigabytes(host, bytes));
  }
  return steps.End();
}

absl::StatusOr<Reading> HostRegister(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  Steps steps(api);
  const size_t bytes = 64 * kMiB;
  std::unique_ptr<void, decltype(&std::free)> memory(
      std::aligned_alloc(4096, bytes), &std::free);
  char* start = static_cast<char*>(memory.get());
  std::memset(start, 1, bytes);
  double began = HostSeconds();
  steps.Code("register", api.MemHostRegister(start, bytes, 0), CUDA_SUCCESS);
  steps.Figure("register_64_MiB_ms", (HostSeconds() - began) * 1e3);
  steps.Code("register again", api.MemHostRegister(start, bytes, 0),
             CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CUdeviceptr mapped = 0;
  steps.Code("device pointer", api.MemHostGetDevicePointer(&mapped, start, 0),
             CUDA_SUCCESS);
  steps.Holds("equals the host pointer",
              mapped == reinterpret_cast<CUdeviceptr>(start));
  steps.Code("unregister", api.MemHostUnregister(start), CUDA_SUCCESS);
  steps.Code("unregister again", api.MemHostUnregister(start),
             CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  steps.Code("an unaligned range", api.MemHostRegister(start + 100, 5000, 0));
  api.MemHostUnregister(start + 100);
  began = HostSeconds();
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory pinned, gpu.NewPinned(bytes));
  steps.Figure("host_alloc_64_MiB_ms", (HostSeconds() - began) * 1e3);
  return steps.End();
}

// Rates of the copy engines for both kinds of memory.
absl::StatusOr<Reading> CopyRates(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  const size_t bytes = 64 * kMiB;
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory device, gpu.NewMemory(bytes));
  Steps steps(api);
  for (const unsigned flags : {unsigned{CU_MEMHOSTALLOC_PORTABLE},
                               unsigned{CU_MEMHOSTALLOC_WRITECOMBINED}}) {
    void* host = nullptr;
    PARTITA_RETURN_IF_ERROR(
        gpu.Status(api.MemHostAlloc(&host, bytes, flags), "cuMemHostAlloc"));
    PinnedMemory owner(api, host);
    const std::string name =
        flags == CU_MEMHOSTALLOC_PORTABLE ? "cached" : "write_combined";
    const auto rate = [&](const char* direction, auto copy) {
      copy();
      api.StreamSynchronize(stream.get());
      const double us = MedianMicroseconds(8, [&] {
        copy();
        api.StreamSynchronize(stream.get());
      });
      steps.Figure(absl::StrCat(name, direction), bytes / us / 1e3);
    };
    rate("_to_device_GBps",
         [&] { api.MemcpyHtoDAsync(device.get(), host, bytes, stream.get()); });
    rate("_to_host_GBps",
         [&] { api.MemcpyDtoHAsync(host, device.get(), bytes, stream.get()); });
  }
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"host_memory.pinned_everywhere",
     "Pinned memory is visible to all contexts, PORTABLE or not", "cuda.h:8871",
     "read by a kernel of another context", PinnedEverywhere, Process::kOwn},
    {"host_memory.write_combined",
     "Host reads of write-combined memory are slow", "cuda.h:8854", "figure",
     WriteCombined},
    {"host_memory.register", "Host memory is registered once", "cuda.h:2912",
     "712, 713", HostRegister},
    {"host_memory.copy_rates",
     "Copies of 64 MiB from and to cached and write-combined memory",
     "cuda.h:8855: quicker on some systems", "figure", CopyRates},
};

}  // namespace

FactGroup HostMemoryFacts() { return {"host_memory", kFacts}; }

}  // namespace partita
