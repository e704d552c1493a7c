// Memory and copies.
// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <vector>

#include "testing/emulated_gpu/driver_rules/rule.h"

namespace partita::driver_rules {
namespace {

void BadArguments(Bench& bench) {
  const DriverApi& api = bench.api;
  CUdeviceptr memory = 0;
  bench.Is("alloc of 0 bytes", api.MemAlloc(&memory, 0),
           CUDA_ERROR_INVALID_VALUE);
  bench.Is("free of null", api.MemFree(0));
  bench.Is("alloc", api.MemAlloc(&memory, 1024));
  bench.Is("free of an inner address", api.MemFree(memory + 256),
           CUDA_ERROR_INVALID_VALUE);
  bench.Is("free", api.MemFree(memory));
  bench.Is("free again", api.MemFree(memory), CUDA_ERROR_INVALID_VALUE);
}

void Alignment(Bench& bench) {
  for (const size_t bytes : {size_t{1}, size_t{513}, size_t{4097}}) {
    bench.Holds("aligned to 512", bench.Memory(bytes) % 512 == 0);
  }
}

void FreeBytes(Bench& bench) {
  const DriverApi& api = bench.api;
  constexpr size_t kBytes = size_t{4} << 20;
  size_t before = 0;
  size_t total = 0;
  size_t after = 0;
  CUdeviceptr memory = 0;
  bench.Is("info", api.MemGetInfo(&before, &total));
  bench.Holds("less than all is free", before <= total);
  bench.Is("alloc", api.MemAlloc(&memory, kBytes));
  bench.Is("info", api.MemGetInfo(&after, &total));
  bench.Equals("bytes taken", before - after, kBytes);
  bench.Is("free", api.MemFree(memory));
  bench.Is("info", api.MemGetInfo(&after, &total));
  bench.Equals("free again", after, before);
}

void OutOfMemory(Bench& bench) {
  CUdeviceptr memory = 0;
  bench.Is("alloc of 1 TiB", bench.api.MemAlloc(&memory, size_t{1} << 40),
           CUDA_ERROR_OUT_OF_MEMORY);
  const CUdeviceptr word = bench.Memory(4);
  bench.Is("launch", bench.Launch(bench.one, "set_word", word, 4u));
  bench.Equals("word", bench.Word(word), 4u);
}

void Copies(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr a = bench.Memory(64);
  const CUdeviceptr b = bench.Memory(64);
  uint32_t* pinned = bench.Pinned(32);
  for (uint32_t i = 0; i < 16; ++i) pinned[i] = 100 + i;
  bench.Is("HtoD", api.MemcpyHtoDAsync(a, pinned, 64, bench.one));
  bench.Is("DtoD", api.MemcpyDtoDAsync(b, a, 64, bench.one));
  bench.Is("fill", api.MemsetD32Async(b, 7, 2, bench.one));
  bench.Is("fill", api.MemsetD8Async(b + 8, 1, 4, bench.one));
  bench.Is("DtoH", api.MemcpyDtoHAsync(pinned + 16, b, 64, bench.one));
  bench.Is("synchronize", api.StreamSynchronize(bench.one));
  bench.Equals("word 0", pinned[16], 7u);
  bench.Equals("word 1", pinned[17], 7u);
  bench.Equals("word 2", pinned[18], 0x01010101u);
  bench.Equals("word 15", pinned[31], 115u);
  uint32_t word = 5;
  bench.Is("HtoD", api.MemcpyHtoD(a, &word, 4));
  bench.Is("synchronize", api.CtxSynchronize());
  bench.Is("DtoH", api.MemcpyDtoH(&word, a + 4, 4));
  bench.Equals("word", word, 101u);
  bench.Is("any to any", api.MemcpyAsync(reinterpret_cast<CUdeviceptr>(&word),
                                         a, 4, bench.one));
  bench.Is("synchronize", api.StreamSynchronize(bench.one));
  bench.Equals("word", word, 5u);
  bench.Is("0 bytes", api.MemcpyHtoDAsync(a, pinned, 0, bench.one));
}

void PageableStaged(Bench& bench) {
  const CUdeviceptr memory = bench.Memory(65536);
  std::vector<uint32_t> source(16384, 1);
  bench.Is("HtoD",
           bench.api.MemcpyHtoDAsync(memory, source.data(), 65536, bench.one));
  source.assign(16384, 2);
  bench.Equals("first word", bench.Word(memory), 1u);
  bench.Equals("last word", bench.Word(memory + 65532), 1u);
}

void PageableFetch(Bench& bench) {
  const CUdeviceptr memory = bench.Memory(4);
  uint32_t word = 1;
  bench.Is("launch", bench.Launch(bench.one, "set_word", memory, 9u));
  bench.Is("DtoH", bench.api.MemcpyDtoHAsync(&word, memory, 4, bench.one));
  bench.Equals("word when the call returned", word, 9u);
}

void Pointers(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr memory = bench.Memory(1024);
  uint32_t* pinned = bench.Pinned(4);
  const CUdeviceptr host = reinterpret_cast<CUdeviceptr>(pinned);
  CUmemorytype type{};
  CUcontext context = nullptr;
  bench.Is("type", api.PointerGetAttribute(
                       &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory + 100));
  bench.Equals("type", int{type}, int{CU_MEMORYTYPE_DEVICE});
  bench.Is("context", api.PointerGetAttribute(
                          &context, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
  bench.Holds("the context that allocated", context == bench.context);
  bench.Is("type", api.PointerGetAttribute(
                       &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host));
  bench.Equals("type", int{type}, int{CU_MEMORYTYPE_HOST});
  CUdeviceptr mapped = 0;
  bench.Is("mapped", api.MemHostGetDevicePointer(&mapped, pinned, 0));
  bench.Holds("at the host's address", mapped == host);
  uint32_t pageable = 0;
  bench.Is("of pageable memory",
           api.PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   reinterpret_cast<CUdeviceptr>(&pageable)),
           CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr start = 0;
  size_t bytes = 0;
  bench.Is("range", api.MemGetAddressRange(&start, &bytes, memory + 100));
  bench.Holds("start of the block", start == memory);
  bench.Equals("bytes of the block", bytes, size_t{1024});
}

void Register(Bench& bench) {
  const DriverApi& api = bench.api;
  std::vector<uint32_t> words(4096, 3);
  bench.Is("register", api.MemHostRegister(words.data(), 16384, 0));
  bench.Is("again", api.MemHostRegister(words.data(), 16384, 0),
           CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  bench.Is("launch",
           bench.Launch(bench.one, "set_word",
                        reinterpret_cast<CUdeviceptr>(words.data()), 8u));
  bench.Is("synchronize", api.StreamSynchronize(bench.one));
  bench.Equals("word", words[0], 8u);
  bench.Is("unregister", api.MemHostUnregister(words.data()));
  bench.Is("again", api.MemHostUnregister(words.data()),
           CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

void PinnedEverywhere(Bench& bench) {
  const DriverApi& api = bench.api;
  uint32_t* pinned = bench.Pinned(2);
  CUcontext other = bench.OtherContext();
  CUstream stream = nullptr;
  bench.Is("current", api.CtxSetCurrent(other));
  bench.Is("stream", api.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  bench.Is("launch", bench.Launch(stream, "set_word",
                                  reinterpret_cast<CUdeviceptr>(pinned), 6u));
  bench.Is("synchronize", api.StreamSynchronize(stream));
  bench.Equals("word", pinned[0], 6u);
  bench.Is("destroy", api.StreamDestroy(stream));
  bench.Is("current", api.CtxSetCurrent(bench.context));
}

// What a kernel, a fill and a copy wrote is there once the host knows, by
// whatever call, that they are over; and the host may write there again.
void HostSees(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr memory = bench.Memory(4);
  uint32_t* words = bench.Pinned(3);
  const CUdeviceptr host = reinterpret_cast<CUdeviceptr>(words);
  CUevent event = bench.Event();
  for (uint32_t way = 0; way < 5; ++way) {
    words[0] = words[1] = words[2] = 77;
    bench.Is("launch", bench.Launch(bench.one, "set_word", memory, way));
    bench.Is("launch", bench.Launch(bench.one, "set_word", host, way));
    bench.Is("fill", api.MemsetD32Async(host + 4, way, 1, bench.one));
    bench.Is("DtoH", api.MemcpyDtoHAsync(words + 2, memory, 4, bench.one));
    bench.Is("record", api.EventRecord(event, bench.one));
    CUresult result = way < 2 ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
    while (way == 0 && result == CUDA_ERROR_NOT_READY) {
      result = api.EventQuery(event);
    }
    while (way == 1 && result == CUDA_ERROR_NOT_READY) {
      result = api.StreamQuery(bench.one);
    }
    if (way == 2) result = api.EventSynchronize(event);
    if (way == 3) result = api.StreamSynchronize(bench.one);
    if (way == 4) result = api.CtxSynchronize();
    bench.Is("wait", result);
    for (int i = 0; i < 3; ++i) bench.Equals("word", words[i], way);
  }
}

constexpr Rule kRules[] = {
    {"memory.bad_arguments", "cuda.h:8582", BadArguments},
    {"memory.alignment", "memory.alignment", Alignment},
    {"memory.free_bytes", "memory.granularity", FreeBytes},
    {"memory.out_of_memory", "cuda.h:2529", OutOfMemory},
    {"memory.copies", "cuda.h:9673", Copies},
    {"memory.pageable_staged", "memory.pageable_staged", PageableStaged},
    {"memory.pageable_fetch", "memory.pageable_fetch", PageableFetch},
    {"memory.pointers", "cuda.h:14357", Pointers},
    {"memory.register", "cuda.h:2912", Register},
    {"memory.host_sees", "CUDA guide, mapped memory", HostSees},
    {"memory.pinned_everywhere", "cuda.h:8871", PinnedEverywhere},
};

}  // namespace

absl::Span<const Rule> MemoryRules() { return kRules; }

}  // namespace partita::driver_rules
