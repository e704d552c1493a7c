// Copies and fills.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/driver/driver.h"

namespace partita::emulated_gpu {

CUresult Driver::FindRange(const char* call, uint64_t address, uint64_t bytes,
                           Allocation*& allocation) {
  allocation = memory_.Find(address);
  if (allocation != nullptr &&
      address - allocation->address + bytes <= allocation->bytes) {
    return CUDA_SUCCESS;
  }
  Report(FindingKind::kBounds,
         absl::StrCat(call, ": found ", bytes, " bytes from ",
                      memory_.Describe(address),
                      " on; expected bytes of one block"));
  return CUDA_ERROR_INVALID_VALUE;
}

// Which ends are pageable memory of the host, and whether the others exist.
CUresult Driver::CheckCopy(const char* call, Direction direction, Copy& copy) {
  const auto check = [&](uint64_t address, bool may_be_pageable, bool of_host,
                         bool& pageable) {
    if (address == 0) return CUDA_ERROR_INVALID_VALUE;
    Allocation* found = memory_.Find(address);
    if (of_host && memory_.IsOfDevices(address)) {
      Report(FindingKind::kHostDereference,
             absl::StrCat(call, ": found ", memory_.Describe(address),
                          "; expected memory of the host"));
      return CUDA_ERROR_INVALID_VALUE;
    }
    pageable =
        found == nullptr && may_be_pageable && !memory_.IsOfDevices(address);
    return pageable ? CUDA_SUCCESS
                    : FindRange(call, address, copy.bytes, found);
  };
  const bool to_device =
      direction == Direction::kToDevice || direction == Direction::kOnDevices;
  const bool from_device =
      direction == Direction::kToHost || direction == Direction::kOnDevices;
  if (CUresult bad = check(copy.to, !to_device, direction == Direction::kToHost,
                           copy.to_pageable);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  if (CUresult bad =
          check(copy.from, !from_device, direction == Direction::kToDevice,
                copy.from_pageable);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  if (copy.to < copy.from + copy.bytes && copy.from < copy.to + copy.bytes) {
    Report(FindingKind::kMisuse,
           absl::StrCat(call, ": found a copy of ", copy.bytes,
                        " bytes over its own source, ",
                        memory_.Describe(copy.from)));
  }
  return CUDA_SUCCESS;
}

// CUDA driver API, "API synchronization behavior": pageable memory is read
// before the call returns (memory.pageable_staged).
void Driver::KeepSource(Copy& copy) {
  const auto* source = reinterpret_cast<const std::byte*>(copy.from);
  if (copy.from_pageable) {
    copy.staged = std::make_shared<const std::vector<std::byte>>(
        source, source + copy.bytes);
    return;
  }
  const Allocation* from = memory_.Find(copy.from);
  if (from == nullptr || !from->is_host() ||
      copy.from - from->address + copy.bytes > from->bytes) {
    return;
  }
  copy.is_watched = true;
  std::vector<std::byte> bytes(copy.bytes);
  unseen_.Read(copy.from, copy.bytes, bytes.data());
  copy.source_hash = HashOfBytes(bytes.data(), copy.bytes);
  copy.source_writes = from->writes + host_calls_;
}

// CUDA driver API, "API synchronization behavior": copies on the host are
// synchronous, and those from a device may be.
bool Driver::WaitsForPageable(const Copy& copy) {
  if (!copy.to_pageable) return false;
  const Allocation* from = memory_.Find(copy.from);
  return copy.from_pageable || (from != nullptr && from->is_host()) ||
         options_.readings.pageable_fetches_wait;
}

bool Driver::IsBetweenDevices(const Copy& copy) {
  const Allocation* from = memory_.Find(copy.from);
  const Allocation* to = memory_.Find(copy.to);
  return from != nullptr && to != nullptr && !from->is_host() &&
         !to->is_host() && from->context->device != to->context->device;
}

CUresult Driver::SubmitCopy(const char* call, Direction direction,
                            CUdeviceptr to, CUdeviceptr from, size_t bytes,
                            CUstream handle, bool wait) {
  Stream* stream = nullptr;
  if (CUresult bad = FindStream(handle, stream); bad != CUDA_SUCCESS)
    return bad;
  if (CUresult bad = CheckCapture(*stream); bad != CUDA_SUCCESS) return bad;
  if (bytes == 0) return CUDA_SUCCESS;
  Copy copy{.to = to, .from = from, .bytes = bytes};
  if (CUresult bad = CheckCopy(call, direction, copy); bad != CUDA_SUCCESS) {
    return bad;
  }
  if (stream->capture != nullptr && IsBetweenDevices(copy) &&
      !options_.readings.device_copy_captures) {
    Invalidate(*stream->capture, call);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (stream->capture == nullptr) KeepSource(copy);
  const bool staged = copy.staged != nullptr;
  // What comes from pageable memory may still be on its way when the call
  // returns.
  const bool waits = WaitsForPageable(copy) || (wait && !staged);
  const CommandRef before = stream->last;
  const VectorClock clock_before = stream->clock;
  CommandRef issued;
  if (CUresult bad =
          Submit(*stream, std::move(copy), CU_GRAPH_NODE_TYPE_MEMCPY, &issued);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  if (issued != nullptr && waits) {
    RunUntilDone(issued);
    HostJoins(issued->clock);
  } else if (issued != nullptr && staged && before != nullptr) {
    if (wait || options_.readings.pageable_copies_wait) RunUntilDone(before);
    if (wait) HostJoins(clock_before);
  }
  return stream->context->device->sticky;
}

CUresult Driver::MemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return SubmitCopy("cuMemcpyHtoD", Direction::kToDevice, to,
                    reinterpret_cast<CUdeviceptr>(from), bytes, nullptr,
                    /*wait=*/true);
}

CUresult Driver::MemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return SubmitCopy("cuMemcpyDtoH", Direction::kToHost,
                    reinterpret_cast<CUdeviceptr>(to), from, bytes, nullptr,
                    /*wait=*/true);
}

CUresult Driver::MemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes,
                                 CUstream stream) {
  return SubmitCopy("cuMemcpyHtoDAsync", Direction::kToDevice, to,
                    reinterpret_cast<CUdeviceptr>(from), bytes, stream,
                    /*wait=*/false);
}

CUresult Driver::MemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes,
                                 CUstream stream) {
  return SubmitCopy("cuMemcpyDtoHAsync", Direction::kToHost,
                    reinterpret_cast<CUdeviceptr>(to), from, bytes, stream,
                    /*wait=*/false);
}

CUresult Driver::MemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                 CUstream stream) {
  return SubmitCopy("cuMemcpyDtoDAsync", Direction::kOnDevices, to, from, bytes,
                    stream, /*wait=*/false);
}

CUresult Driver::MemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                             CUstream stream) {
  return SubmitCopy("cuMemcpyAsync", Direction::kAny, to, from, bytes, stream,
                    /*wait=*/false);
}

CUresult Driver::MemcpyPeerAsync(CUdeviceptr to, CUcontext to_context,
                                 CUdeviceptr from, CUcontext from_context,
                                 size_t bytes, CUstream handle) {
  constexpr char kCall[] = "cuMemcpyPeerAsync";
  Stream* stream = nullptr;
  if (CUresult bad = FindStream(handle, stream); bad != CUDA_SUCCESS)
    return bad;
  if (stream->capture != nullptr && !options_.readings.peer_copy_captures) {
    Invalidate(*stream->capture, kCall);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  for (const auto& [address, context_handle] :
       {std::pair(to, to_context), std::pair(from, from_context)}) {
    const Context* context = contexts_.Find(context_handle);
    if (context == nullptr || !context->alive) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    Allocation* block = nullptr;
    if (bytes == 0) continue;
    if (CUresult bad = FindRange(kCall, address, bytes, block);
        bad != CUDA_SUCCESS) {
      return bad;
    }
    if (!block->is_host() && block->context != context) {
      Report(FindingKind::kWrongContext,
             absl::StrCat(kCall, ": found ", memory_.Describe(address),
                          "; expected memory of ", context->name));
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return SubmitCopy(kCall, Direction::kOnDevices, to, from, bytes, handle,
                    /*wait=*/false);
}

CUresult Driver::CheckFill(const char* call, const Fill& fill) {
  const uint64_t row = fill.width * fill.element_bytes;
  Allocation* block = nullptr;
  if (fill.to % fill.element_bytes != 0) return CUDA_ERROR_INVALID_VALUE;
  return FindRange(call, fill.to, (fill.height - 1) * fill.pitch + row, block);
}

CUresult Driver::SubmitFill(const char* call, Fill fill, CUstream handle) {
  Stream* stream = nullptr;
  if (CUresult bad = FindStream(handle, stream); bad != CUDA_SUCCESS)
    return bad;
  if (CUresult bad = CheckCapture(*stream); bad != CUDA_SUCCESS) return bad;
  if (fill.width == 0) return CUDA_SUCCESS;
  if (CUresult bad = CheckFill(call, fill); bad != CUDA_SUCCESS) return bad;
  return Submit(*stream, fill, CU_GRAPH_NODE_TYPE_MEMSET);
}

CUresult Driver::MemsetD8Async(CUdeviceptr to, unsigned char value,
                               size_t count, CUstream stream) {
  return SubmitFill(
      "cuMemsetD8Async",
      {.to = to, .value = value, .element_bytes = 1, .width = count}, stream);
}

CUresult Driver::MemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                                CUstream stream) {
  return SubmitFill(
      "cuMemsetD32Async",
      {.to = to, .value = value, .element_bytes = 4, .width = count}, stream);
}

}  // namespace partita::emulated_gpu
