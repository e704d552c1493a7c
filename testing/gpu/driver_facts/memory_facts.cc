// Device memory and copies: alignment, limits, what waits, what is staged.
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

absl::StatusOr<Reading> Alignment(Gpu& gpu) {
  Steps steps(gpu.api());
  size_t worst = kMiB;
  for (const size_t bytes : {size_t{1}, size_t{100}, size_t{512}, size_t{513},
                             size_t{4097}, kMiB, 2 * kMiB, 3 * kMiB}) {
    std::vector<GlobalMemory> blocks;
    size_t alignment = 2 * kMiB;
    for (int i = 0; i < 20; ++i) {
      PARTITA_ASSIGN_OR_RETURN(GlobalMemory block,
                               NewDeviceMemory(gpu.api(), bytes));
      while (block.get() % alignment != 0) alignment /= 2;
      blocks.push_back(std::move(block));
    }
    worst = std::min(worst, alignment);
    steps.Figure(absl::StrCat("alignment_of_", bytes, "_bytes"), alignment);
  }
  steps.Holds("all aligned to 256", worst >= 256);
  return steps.End();
}

absl::StatusOr<Reading> Granularity(Gpu& gpu) {
  Steps steps(gpu.api());
  for (const size_t bytes : {size_t{1}, size_t{512}, size_t{4096},
                             size_t{65536}, kMiB, 2 * kMiB, 2 * kMiB + 1}) {
    std::vector<GlobalMemory> blocks;
    const int count = bytes < 65536 ? 8192 : 64;
    const int64_t before = gpu.FreeBytes();
    for (int i = 0; i < count; ++i) {
      PARTITA_ASSIGN_OR_RETURN(GlobalMemory block,
                               NewDeviceMemory(gpu.api(), bytes));
      blocks.push_back(std::move(block));
    }
    steps.Figure(absl::StrCat("taken_by_", bytes, "_bytes"),
                 static_cast<double>(before - gpu.FreeBytes()) / count);
  }
  return steps.End();
}

absl::StatusOr<Reading> BadArguments(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  Steps steps(api);
  CUdeviceptr memory = 0;
  steps.Code("alloc of 0 bytes", api.MemAlloc(&memory, 0),
             CUDA_ERROR_INVALID_VALUE);
  steps.Code("free of null", api.MemFree(0));
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory block, gpu.NewMemory(1024));
  steps.Code("free of an inner address", api.MemFree(block.get() + 256));
  const CUdeviceptr gone = block.release();
  steps.Code("free", api.MemFree(gone), CUDA_SUCCESS);
  steps.Code("free again", api.MemFree(gone));
  return steps.End();
}

absl::StatusOr<Reading> OutOfMemory(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  Steps steps(api);
  CUdeviceptr memory = 0;
  steps.Code("alloc of 1 TiB", api.MemAlloc(&memory, size_t{1} << 40),
             CUDA_ERROR_OUT_OF_MEMORY);
  const double start = HostSeconds();
  steps.Code("alloc of all free bytes", api.MemAlloc(&memory, gpu.FreeBytes()));
  steps.Figure("which_took_ms", (HostSeconds() - start) * 1e3);
  if (memory != 0) api.MemFree(memory);
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory block, gpu.NewMemory(64));
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  steps.Code("launch afterwards",
             gpu.Launch(stream.get(), "set_word", {}, block.get(), 4u),
             CUDA_SUCCESS);
  steps.Code("synchronize", api.StreamSynchronize(stream.get()), CUDA_SUCCESS);
  return steps.End();
}

// How much less than the free bytes can be had as one block. The card is full
// for some milliseconds.
absl::StatusOr<Reading> LargestBlock(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  Steps steps(api);
  const int64_t free = gpu.FreeBytes();
  steps.Figure("free_bytes", static_cast<double>(free));
  for (int64_t less = 0; less <= int64_t{1} << 30;
       less = less == 0 ? 2 * kMiB : 2 * less) {
    CUdeviceptr memory = 0;
    if (api.MemAlloc(&memory, free - less) != CUDA_SUCCESS) continue;
    steps.Figure("had_bytes", static_cast<double>(free - less));
    steps.Figure("less_than_free_bytes", static_cast<double>(less));
    steps.Figure("free_bytes_left", static_cast<double>(gpu.FreeBytes()));
    CUdeviceptr small = 0;
    int smalls = 0;
    std::vector<CUdeviceptr> all;
    while (smalls < 10000 && api.MemAlloc(&small, 2 * kMiB) == CUDA_SUCCESS) {
      all.push_back(small);
      ++smalls;
    }
    steps.Figure("blocks_of_2_MiB_besides", smalls);
    CUstream stream = nullptr;
    const CUresult made = api.StreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    steps.Code("a stream on the full card", made);
    if (made == CUDA_SUCCESS) {
      steps.Code("a launch there", gpu.Launch(stream, "empty", {}));
      steps.Code("synchronize", api.StreamSynchronize(stream));
      api.StreamDestroy(stream);
    }
    for (const CUdeviceptr block : all) api.MemFree(block);
    api.MemFree(memory);
    break;
  }
  steps.Figure("free_bytes_after", static_cast<double>(gpu.FreeBytes()));
  return steps.End();
}

// Milliseconds of a call while a kernel holds a stream for 300 ms.
template <typename Call>
absl::Status TimeBesideKernel(const Gpu& gpu, const char* name, Call call,
                              Steps& steps) {
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  gate.Block(stream.get(), 0.3);
  usleep(5000);
  const double start = HostSeconds();
  steps.Code(name, call());
  steps.Figure(absl::StrCat(name, "_ms"), (HostSeconds() - start) * 1e3);
  gate.Open();
  gpu.api().StreamSynchronize(stream.get());
  return absl::OkStatus();
}

absl::StatusOr<Reading> WhatSynchronises(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  Steps steps(api);
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory small, gpu.NewMemory(256));
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory large, gpu.NewMemory(64 * kMiB));
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory pinned, gpu.NewPinned(kMiB));
  std::vector<char> pageable(8 * kMiB);
  CUdeviceptr made = 0;
  CUdeviceptr made_large = 0;
  void* host = nullptr;
  const auto time = [&](const char* name, auto call) {
    return TimeBesideKernel(gpu, name, call, steps);
  };
  PARTITA_RETURN_IF_ERROR(
      time("alloc_256", [&] { return api.MemAlloc(&made, 256); }));
  PARTITA_RETURN_IF_ERROR(time(
      "alloc_64_MiB", [&] { return api.MemAlloc(&made_large, 64 * kMiB); }));
  PARTITA_RETURN_IF_ERROR(
      time("free_256", [&] { return api.MemFree(small.release()); }));
  PARTITA_RETURN_IF_ERROR(
      time("free_64_MiB", [&] { return api.MemFree(large.release()); }));
  PARTITA_RETURN_IF_ERROR(time("host_alloc", [&] {
    return api.MemHostAlloc(&host, kMiB, CU_MEMHOSTALLOC_PORTABLE);
  }));
  PARTITA_RETURN_IF_ERROR(
      time("host_free", [&] { return api.MemFreeHost(pinned.release()); }));
  PARTITA_RETURN_IF_ERROR(time("host_register", [&] {
    return api.MemHostRegister(pageable.data(), pageable.size(), 0);
  }));
  PARTITA_RETURN_IF_ERROR(time("host_unregister", [&] {
    return api.MemHostUnregister(pageable.data());
  }));
  PARTITA_RETURN_IF_ERROR(time("library_load", [&] {
    CUlibrary library = nullptr;
    return api.LibraryLoadData(&library, kTestKernels, nullptr, nullptr, 0,
                               nullptr, nullptr, 0);
  }));
  PARTITA_RETURN_IF_ERROR(time("stream_create", [&] {
    CUstream stream = nullptr;
    return api.StreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  }));
  PARTITA_RETURN_IF_ERROR(time("copy_pageable_HtoD", [&] {
    return api.MemcpyHtoD(made_large, pageable.data(), pageable.size());
  }));
  api.MemFree(made);
  api.MemFree(made_large);
  api.MemFreeHost(host);
  return steps.End();
}

// Is the source of a pageable copy read before the call returns? It is changed
// right behind the call, the stream being held back.
absl::StatusOr<Reading> PageableStaged(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory to, gpu.NewMemory(16 * kMiB));
  Steps steps(api);
  for (const size_t bytes : {size_t{1}, size_t{4096}, size_t{65536},
                             size_t{65537}, kMiB, 8 * kMiB}) {
    std::vector<uint8_t> source(bytes, 1);
    std::vector<uint8_t> seen(bytes);
    PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
    gate.Block(stream.get(), 0.15);
    usleep(2000);
    const double start = HostSeconds();
    api.MemcpyHtoDAsync(to.get(), source.data(), bytes, stream.get());
    const double took = HostSeconds() - start;
    std::memset(source.data(), 2, bytes);
    gate.Open();
    api.StreamSynchronize(stream.get());
    api.MemcpyDtoH(seen.data(), to.get(), bytes);
    const size_t changed = std::count(seen.begin(), seen.end(), 2);
    steps.Is(absl::StrCat(bytes, " bytes: changed ones seen"), changed,
             size_t{0});
    steps.Figure(absl::StrCat("call_of_", bytes, "_bytes_ms"), took * 1e3);
  }
  return steps.End();
}

// Is a copy to pageable memory done when its call returns?
absl::StatusOr<Reading> PageableFetch(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory from, gpu.NewMemory(kMiB));
  Steps steps(api);
  for (const size_t bytes : {size_t{4}, size_t{65536}, kMiB}) {
    std::vector<uint8_t> host(bytes, 5);
    PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
    gate.Block(stream.get(), 0.1);
    const double start = HostSeconds();
    api.MemcpyDtoHAsync(host.data(), from.get(), bytes, stream.get());
    steps.Figure(absl::StrCat("call_of_", bytes, "_bytes_ms"),
                 (HostSeconds() - start) * 1e3);
    steps.Note(host[0] == 0 ? "done at return" : "not done at return");
    gate.Open();
    api.StreamSynchronize(stream.get());
  }
  return steps.End();
}

absl::StatusOr<Reading> PointerAttributes(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory device, gpu.NewMemory(1024));
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory pinned, gpu.NewPinned(4096));
  std::vector<char> pageable(64);
  Steps steps(api);
  CUmemorytype type{};
  CUcontext context = nullptr;
  steps.Code("type of device memory",
             api.PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                     device.get() + 100),
             CUDA_SUCCESS);
  steps.Is("type", static_cast<int>(type), int{CU_MEMORYTYPE_DEVICE});
  steps.Code("context of it",
             api.PointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT,
                                     device.get()),
             CUDA_SUCCESS);
  steps.Holds("is the one that allocated", context == gpu.context());
  const CUdeviceptr host = reinterpret_cast<CUdeviceptr>(pinned.get());
  steps.Code(
      "type of pinned memory",
      api.PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host),
      CUDA_SUCCESS);
  steps.Is("type", static_cast<int>(type), int{CU_MEMORYTYPE_HOST});
  CUdeviceptr mapped = 0;
  steps.Code("device pointer of it",
             api.MemHostGetDevicePointer(&mapped, pinned.get(), 0),
             CUDA_SUCCESS);
  steps.Holds("equals the host pointer", mapped == host);
  steps.Code(
      "type of pageable memory",
      api.PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                              reinterpret_cast<CUdeviceptr>(pageable.data())));
  CUdeviceptr start = 0;
  size_t size = 0;
  steps.Code("range around an inner address",
             api.MemGetAddressRange(&start, &size, device.get() + 100),
             CUDA_SUCCESS);
  steps.Holds("is the block", start == device.get());
  steps.Figure("size_of_1024_bytes", static_cast<double>(size));
  return steps.End();
}

// What fresh device memory holds.
absl::StatusOr<Reading> FreshMemory(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  std::vector<uint8_t> seen(4 * kMiB);
  Steps steps(api);
  for (const bool second : {false, true}) {
    PARTITA_ASSIGN_OR_RETURN(GlobalMemory block,
                             NewDeviceMemory(api, seen.size()));
    api.MemcpyDtoH(seen.data(), block.get(), seen.size());
    const int64_t zeros = std::count(seen.begin(), seen.end(), 0);
    steps.Figure(second ? "zero_bytes_of_a_block_after_a_free"
                        : "zero_bytes_of_a_fresh_block",
                 static_cast<double>(zeros) / seen.size());
    api.MemsetD8Async(block.get(), 0xAB, seen.size(), stream.get());
    api.StreamSynchronize(stream.get());
  }
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"memory.alignment", "cuMemAlloc aligns for any variable",
     "cuda.h:8581; CUDA guide: 256 bytes", "256 or more", Alignment},
    {"memory.granularity", "What a block takes of the free bytes", "none",
     "figure", Granularity},
    {"memory.bad_arguments", "0 bytes are refused; codes of bad frees",
     "cuda.h:8582", "INVALID_VALUE for 0 bytes", BadArguments},
    {"memory.out_of_memory", "Too much is OUT_OF_MEMORY, and the context lives",
     "cuda.h:2529", "OUT_OF_MEMORY; launches go on", OutOfMemory},
    {"memory.largest_block",
     "What can be had of the free bytes, and what "
     "works on a full card",
     "none", "figure", LargestBlock, Process::kOwn},
    {"memory.what_synchronises",
     "cuMemFree may synchronise; which calls wait for a kernel of 300 ms",
     "cuda.h:8684", "figure", WhatSynchronises, Process::kOwn},
    {"memory.pageable_staged",
     "A pageable source is read before the copy's call returns",
     "CUDA driver API, synchronization behavior", "no changed byte seen",
     PageableStaged},
    {"memory.pageable_fetch",
     "A copy to pageable memory ends before its call "
     "returns",
     "CUDA driver API, synchronization behavior", "figure", PageableFetch},
    {"memory.pointer_attributes", "Attributes name type, context and block",
     "cuda.h:14357", "device, host, one address for both", PointerAttributes},
    {"memory.fresh", "What fresh device memory holds", "none: undefined",
     "figure", FreshMemory, Process::kOwn},
};

}  // namespace

FactGroup MemoryFacts() { return {"memory", kFacts}; }

}  // namespace partita
