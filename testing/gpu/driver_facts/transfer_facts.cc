// Rates of copies and fills, and what runs beside what.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <vector>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;
constexpr size_t kMost = 256 * kMiB;

// Device seconds of what `issue` puts in the stream `repeats` times.
absl::StatusOr<double> DeviceSeconds(const Gpu& gpu, CUstream stream,
                                     int repeats,
                                     const std::function<CUresult()>& issue) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent start, gpu.NewEvent(CU_EVENT_DEFAULT));
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent end, gpu.NewEvent(CU_EVENT_DEFAULT));
  PARTITA_RETURN_IF_ERROR(gpu.Status(issue(), "warm-up"));
  api.StreamSynchronize(stream);
  api.EventRecord(start.get(), stream);
  for (int i = 0; i < repeats; ++i) {
    PARTITA_RETURN_IF_ERROR(gpu.Status(issue(), "copy"));
  }
  api.EventRecord(end.get(), stream);
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(api.StreamSynchronize(stream), "cuStreamSynchronize"));
  float ms = 0;
  api.EventElapsedTime(&ms, start.get(), end.get());
  return ms * 1e-3 / repeats;
}

std::string SizeName(size_t bytes) {
  return bytes < kMiB ? absl::StrCat(bytes / kKiB, "_KiB")
                      : absl::StrCat(bytes / kMiB, "_MiB");
}

absl::StatusOr<Reading> HostCopies(Gpu& gpu, bool to_device) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory device, gpu.NewMemory(kMost));
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory host, gpu.NewPinned(kMost));
  Steps steps(api);
  for (size_t bytes = 4 * kKiB; bytes <= kMost; bytes *= 4) {
    const int repeats = bytes >= 16 * kMiB ? 4 : 50;
    PARTITA_ASSIGN_OR_RETURN(
        const double seconds, DeviceSeconds(gpu, stream.get(), repeats, [&] {
          return to_device ? api.MemcpyHtoDAsync(device.get(), host.get(),
                                                 bytes, stream.get())
                           : api.MemcpyDtoHAsync(host.get(), device.get(),
                                                 bytes, stream.get());
        }));
    steps.Figure(SizeName(bytes) + "_GBps", bytes / seconds / 1e9);
    steps.Figure(SizeName(bytes) + "_us", seconds * 1e6);
  }
  return steps.End();
}

absl::StatusOr<Reading> ToDevice(Gpu& gpu) { return HostCopies(gpu, true); }
absl::StatusOr<Reading> ToHost(Gpu& gpu) { return HostCopies(gpu, false); }

absl::StatusOr<Reading> Pageable(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory device, gpu.NewMemory(64 * kMiB));
  std::vector<char> host(64 * kMiB, 1);
  Steps steps(api);
  for (const size_t bytes : {64 * kKiB, kMiB, 64 * kMiB}) {
    const double to = MedianMicroseconds(5, [&] {
      api.MemcpyHtoDAsync(device.get(), host.data(), bytes, stream.get());
      api.StreamSynchronize(stream.get());
    });
    const double from = MedianMicroseconds(5, [&] {
      api.MemcpyDtoHAsync(host.data(), device.get(), bytes, stream.get());
      api.StreamSynchronize(stream.get());
    });
    steps.Figure(SizeName(bytes) + "_to_device_GBps", bytes / to / 1e3);
    steps.Figure(SizeName(bytes) + "_to_host_GBps", bytes / from / 1e3);
  }
  return steps.End();
}

absl::StatusOr<Reading> BothWays(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream up, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream down, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory device, gpu.NewMemory(kMost));
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory host, gpu.NewPinned(kMost));
  const size_t half = kMost / 2;
  const auto issue = [&](bool to, bool from) {
    const double start = HostSeconds();
    for (int i = 0; i < 4; ++i) {
      if (to) {
        api.MemcpyHtoDAsync(device.get(), host.get(), half, up.get());
      }
      if (from) {
        api.MemcpyDtoHAsync(static_cast<char*>(host.get()) + half,
                            device.get() + half, half, down.get());
      }
    }
    api.StreamSynchronize(up.get());
    api.StreamSynchronize(down.get());
    return 4 * half / (HostSeconds() - start) / 1e9;
  };
  issue(true, true);
  Steps steps(api);
  steps.Figure("to_device_alone_GBps", issue(true, false));
  steps.Figure("to_host_alone_GBps", issue(false, true));
  steps.Figure("each_way_at_once_GBps", issue(true, true));
  steps.Figure("copy_engines",
               gpu.attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT));
  return steps.End();
}

// A copy to the device beside a kernel of arithmetic on all multiprocessors.
absl::StatusOr<Reading> Overlap(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream copy, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream compute, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory device, gpu.NewMemory(kMost));
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory word, gpu.NewMemory(4));
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory host, gpu.NewPinned(kMost));
  const unsigned blocks = static_cast<unsigned>(
      2 * gpu.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  const auto run = [&](bool with_copy, bool with_kernel) {
    const double start = HostSeconds();
    if (with_kernel) {
      gpu.Launch(compute.get(), "busy", {blocks, 256}, word.get(), 2000000u);
    }
    if (with_copy) {
      api.MemcpyHtoDAsync(device.get(), host.get(), kMost, copy.get());
    }
    api.CtxSynchronize();
    return (HostSeconds() - start) * 1e3;
  };
  run(true, true);
  Steps steps(api);
  const double copy_ms = run(true, false);
  const double kernel_ms = run(false, true);
  const double both_ms = run(true, true);
  steps.Figure("copy_ms", copy_ms);
  steps.Figure("kernel_ms", kernel_ms);
  steps.Figure("both_ms", both_ms);
  steps.Holds("both take less than their sum",
              both_ms < 0.8 * (copy_ms + kernel_ms));
  return steps.End();
}

absl::StatusOr<Reading> OnDevice(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory to, gpu.NewMemory(kMost));
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory from, gpu.NewMemory(kMost));
  const unsigned blocks = static_cast<unsigned>(
      8 * gpu.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  Steps steps(api);
  for (const size_t bytes : {4 * kKiB, kMiB, 16 * kMiB, kMost}) {
    const auto time = [&](const char* name,
                          const std::function<CUresult()>& issue,
                          double moved) -> absl::Status {
      PARTITA_ASSIGN_OR_RETURN(const double seconds,
                               DeviceSeconds(gpu, stream.get(), 20, issue));
      steps.Figure(absl::StrCat(name, "_", SizeName(bytes), "_GBps"),
                   moved / seconds / 1e9);
      steps.Figure(absl::StrCat(name, "_", SizeName(bytes), "_us"),
                   seconds * 1e6);
      return absl::OkStatus();
    };
    PARTITA_RETURN_IF_ERROR(time(
        "copy",
        [&] {
          return api.MemcpyDtoDAsync(to.get(), from.get(), bytes, stream.get());
        },
        2.0 * bytes));
    PARTITA_RETURN_IF_ERROR(time(
        "kernel_copy",
        [&] {
          return gpu.Launch(stream.get(), "copy16", {blocks, 512}, to.get(),
                            from.get(), uint64_t{bytes / 16});
        },
        2.0 * bytes));
    PARTITA_RETURN_IF_ERROR(time(
        "fill",
        [&] {
          return api.MemsetD32Async(to.get(), 1, bytes / 4, stream.get());
        },
        1.0 * bytes));
  }
  return steps.End();
}

// A kernel that reads page-locked host memory itself.
absl::StatusOr<Reading> KernelReadsHost(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory device, gpu.NewMemory(64 * kMiB));
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory host, gpu.NewPinned(64 * kMiB));
  Steps steps(gpu.api());
  for (const bool reads : {true, false}) {
    const CUdeviceptr pinned = reinterpret_cast<CUdeviceptr>(host.get());
    PARTITA_ASSIGN_OR_RETURN(
        const double seconds, DeviceSeconds(gpu, stream.get(), 4, [&] {
          return gpu.Launch(
              stream.get(), "copy16", {256, 512}, reads ? device.get() : pinned,
              reads ? pinned : device.get(), uint64_t{64 * kMiB / 16});
        }));
    steps.Figure(reads ? "kernel_reads_host_GBps" : "kernel_writes_host_GBps",
                 64.0 * kMiB / seconds / 1e9);
  }
  return steps.End();
}

absl::StatusOr<Reading> SmallCopies(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory device, gpu.NewMemory(4096));
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory host, gpu.NewPinned(4096));
  Steps steps(api);
  steps.Figure("issue_HtoD_us", MedianMicroseconds(500, [&] {
                 api.MemcpyHtoDAsync(device.get(), host.get(), 64,
                                     stream.get());
               }));
  api.StreamSynchronize(stream.get());
  steps.Figure("issue_DtoD_us", MedianMicroseconds(500, [&] {
                 api.MemcpyDtoDAsync(device.get(), device.get() + 1024, 64,
                                     stream.get());
               }));
  api.StreamSynchronize(stream.get());
  steps.Figure("issue_memset_us", MedianMicroseconds(500, [&] {
                 api.MemsetD32Async(device.get(), 1, 16, stream.get());
               }));
  api.StreamSynchronize(stream.get());
  steps.Figure(
      "fetch_64_bytes_and_synchronize_us", MedianMicroseconds(500, [&] {
        api.MemcpyDtoHAsync(host.get(), device.get(), 64, stream.get());
        api.StreamSynchronize(stream.get());
      }));
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"transfer.to_device", "Page-locked memory to the device", "none", "figure",
     ToDevice},
    {"transfer.to_host", "The device to page-locked memory", "none", "figure",
     ToHost},
    {"transfer.pageable", "Pageable memory, with the host's wait", "none",
     "figure", Pageable},
    {"transfer.both_ways", "Copies both ways at once", "none", "figure",
     BothWays},
    {"transfer.overlap", "A copy hides behind a kernel",
     "CUDA guide, overlap of transfer and kernel", "less than the sum",
     Overlap},
    {"transfer.on_device", "Copies and fills inside the device", "none",
     "figure", OnDevice},
    {"transfer.kernel_reads_host", "A kernel reads and writes host memory",
     "none", "figure", KernelReadsHost},
    {"transfer.small", "What small copies cost", "none", "figure", SmallCopies},
};

}  // namespace

FactGroup TransferFacts() { return {"transfer", kFacts}; }

}  // namespace partita
