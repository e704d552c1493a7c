// Memory of devices, and page-locked memory of the host.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/driver/driver.h"

namespace partita::emulated_gpu {
namespace {

// As an H100's driver (memory.granularity): blocks of 2 MiB; small
// allocations share them.
constexpr uint64_t kLarge = uint64_t{2} << 20;
// memory.alignment. No block is aligned better than that: what relies on more
// is found here.
constexpr uint64_t kAlignment = 512;

uint64_t RoundUp(uint64_t bytes, uint64_t to) {
  return (bytes + to - 1) / to * to;
}

}  // namespace

uint64_t Driver::FreeBytes(const Device& device) const {
  const uint64_t taken = device.context_bytes + device.large_bytes +
                         RoundUp(device.small_bytes, kLarge);
  const uint64_t all = static_cast<uint64_t>(options_.bytes_per_gpu);
  return taken < all ? all - taken : 0;
}

CUresult Driver::MemGetInfo(size_t* free, size_t* total) {
  Context* context = nullptr;
  if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  if (free != nullptr) *free = FreeBytes(*context->device);
  if (total != nullptr) *total = static_cast<size_t>(options_.bytes_per_gpu);
  return CUDA_SUCCESS;
}

CUresult Driver::MemAlloc(CUdeviceptr* address, size_t bytes) {
  Context* context = nullptr;
  if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  if (CUresult bad = CheckUnsafe("cuMemAlloc"); bad != CUDA_SUCCESS) return bad;
  // cuda.h:8582.
  if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  Device& device = *context->device;
  const bool large = bytes >= kLarge;
  const uint64_t before = FreeBytes(device);
  if (bytes > before) return CUDA_ERROR_OUT_OF_MEMORY;
  uint64_t& kind = large ? device.large_bytes : device.small_bytes;
  const uint64_t taken = RoundUp(bytes, large ? kLarge : kAlignment);
  kind += taken;
  const uint64_t limit = static_cast<uint64_t>(options_.bytes_per_gpu);
  const uint64_t all = device.context_bytes + device.large_bytes +
                       RoundUp(device.small_bytes, kLarge);
  const uint64_t start = memory_.FindDeviceAddress(device.number, bytes,
                                                   large ? kLarge : kAlignment);
  auto pages = std::make_unique<Pages>(bytes, Pages::Access::kReadAndWrite);
  if (all > limit || start == 0 || pages->get() == nullptr) {
    kind -= taken;
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  auto block = std::make_unique<Allocation>(
      MemoryKind::kDevice, context, start, bytes,
      absl::StrCat("block ", ++blocks_, " (of gpu ", device.number, ")"),
      timeline_);
  block->storage = pages->get();
  block->pages = std::move(pages);
  *address = memory_.Add(std::move(block))->address;
  return CUDA_SUCCESS;
}

void Driver::Free(Allocation* allocation) {
  if (allocation->is_host()) {
    unseen_.Forget(allocation->address, allocation->bytes);
  } else {
    Device& device = *allocation->context->device;
    if (allocation->bytes >= kLarge) {
      device.large_bytes -= RoundUp(allocation->bytes, kLarge);
    } else {
      device.small_bytes -= RoundUp(allocation->bytes, kAlignment);
    }
  }
  memory_.Remove(allocation);
}

void Driver::ReportUnfinished(const Allocation& allocation, const char* call) {
  for (const Conflict& conflict : allocation.shadow.NotOver(host_clock_)) {
    Report(FindingKind::kRace,
           absl::StrCat(call, " of ", allocation.text, ", which ",
                        timeline_.Describe(conflict.other),
                        conflict.other_wrote ? " writes" : " reads",
                        "; the host did not wait for that"));
  }
}

// A program that relies on Readings::frees_wait is reported.
CUresult Driver::FreeAfterUse(Allocation* allocation, const char* call) {
  Context& context = *allocation->context;
  if (options_.readings.frees_wait) RunContext(context);
  ReportUnfinished(*allocation, call);
  Free(allocation);
  return context.device->sticky;
}

CUresult Driver::MemFree(CUdeviceptr address) {
  Context* context = nullptr;
  const CUresult bad = FindContext(context);
  if (context == nullptr || !context->alive) return bad;
  if (CUresult unsafe = CheckUnsafe("cuMemFree"); unsafe != CUDA_SUCCESS) {
    return unsafe;
  }
  if (address == 0) return bad;
  Allocation* block = memory_.Find(address);
  if (block == nullptr || block->is_host() || block->address != address) {
    Report(FindingKind::kMisuse,
           absl::StrCat("cuMemFree: found ", memory_.Describe(address),
                        "; expected the start of a block"));
    return bad != CUDA_SUCCESS ? bad : CUDA_ERROR_INVALID_VALUE;
  }
  return FreeAfterUse(block, "cuMemFree");
}

CUresult Driver::MemGetAddressRange(CUdeviceptr* start, size_t* bytes,
                                    CUdeviceptr address) {
  const Allocation* block = memory_.Find(address);
  if (block == nullptr) return CUDA_ERROR_NOT_FOUND;
  if (start != nullptr) *start = block->address;
  if (bytes != nullptr) *bytes = block->bytes;
  return CUDA_SUCCESS;
}

CUresult Driver::MemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  Context* context = nullptr;
  if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  if (CUresult bad = CheckUnsafe("cuMemHostAlloc"); bad != CUDA_SUCCESS) {
    return bad;
  }
  constexpr unsigned kFlags = CU_MEMHOSTALLOC_PORTABLE |
                              CU_MEMHOSTALLOC_DEVICEMAP |
                              CU_MEMHOSTALLOC_WRITECOMBINED;
  if (pointer == nullptr || bytes == 0 || (flags & ~kFlags) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  auto pages = std::make_unique<Pages>(bytes, Pages::Access::kReadAndWrite);
  if (pages->get() == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  auto block = std::make_unique<Allocation>(
      MemoryKind::kPinned, context, reinterpret_cast<uint64_t>(pages->get()),
      bytes, absl::StrCat("page-locked block ", ++blocks_), timeline_);
  block->storage = pages->get();
  block->pages = std::move(pages);
  *pointer = memory_.Add(std::move(block))->storage;
  return CUDA_SUCCESS;
}

CUresult Driver::FreeHostMemory(void* pointer, MemoryKind kind,
                                CUresult unknown, const char* call) {
  Context* context = nullptr;
  const CUresult bad = FindContext(context);
  if (context == nullptr || !context->alive) return bad;
  if (CUresult unsafe = CheckUnsafe(call); unsafe != CUDA_SUCCESS) {
    return unsafe;
  }
  const uint64_t address = reinterpret_cast<uint64_t>(pointer);
  Allocation* block = memory_.Find(address);
  if (block == nullptr || block->kind != kind || block->address != address) {
    Report(FindingKind::kMisuse,
           absl::StrCat(call, ": found ", memory_.Describe(address),
                        "; expected the start of a block"));
    return bad != CUDA_SUCCESS ? bad : unknown;
  }
  return FreeAfterUse(block, call);
}

CUresult Driver::MemFreeHost(void* pointer) {
  return FreeHostMemory(pointer, MemoryKind::kPinned, CUDA_ERROR_INVALID_VALUE,
                        "cuMemFreeHost");
}

// host_memory.register: 712 and 713.
CUresult Driver::MemHostUnregister(void* pointer) {
  return FreeHostMemory(pointer, MemoryKind::kRegistered,
                        CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
                        "cuMemHostUnregister");
}

CUresult Driver::MemHostRegister(void* pointer, size_t bytes, unsigned flags) {
  Context* context = nullptr;
  if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  constexpr unsigned kFlags =
      CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & ~kFlags) != 0) {
    return NotEmulated("cuMemHostRegister of such memory");
  }
  const uint64_t start = reinterpret_cast<uint64_t>(pointer);
  const auto after = memory_.all().lower_bound(start + bytes);
  if (after != memory_.all().begin()) {
    const Allocation& before = *std::prev(after)->second;
    if (before.address + before.bytes > start) {
      return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
  }
  auto block = std::make_unique<Allocation>(
      MemoryKind::kRegistered, context, start, bytes,
      absl::StrCat("registered block ", ++blocks_), timeline_);
  block->storage = static_cast<std::byte*>(pointer);
  memory_.Add(std::move(block));
  return CUDA_SUCCESS;
}

// host_memory.pinned_everywhere: the addresses are equal.
CUresult Driver::MemHostGetDevicePointer(CUdeviceptr* address, void* pointer,
                                         unsigned flags) {
  Context* context = nullptr;
  if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  const uint64_t host = reinterpret_cast<uint64_t>(pointer);
  const Allocation* block = memory_.Find(host);
  if (address == nullptr || flags != 0 || block == nullptr ||
      !block->is_host()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *address = host;
  return CUDA_SUCCESS;
}

// memory.pointer_attributes.
CUresult Driver::PointerGetAttribute(void* value, CUpointer_attribute name,
                                     CUdeviceptr address) {
  const Allocation* block = memory_.Find(address);
  if (value == nullptr || block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (name) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<CUcontext*>(value) = contexts_.HandleOf(block->context);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<CUmemorytype*>(value) =
          block->is_host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(value) = address;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!block->is_host()) return CUDA_ERROR_INVALID_VALUE;
      *static_cast<void**>(value) = reinterpret_cast<void*>(address);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(value) = block->context->device->number;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(value) = block->address;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t*>(value) = block->bytes;
      return CUDA_SUCCESS;
    default:
      return NotEmulated("cuPointerGetAttribute of such an attribute");
  }
}

}  // namespace partita::emulated_gpu
