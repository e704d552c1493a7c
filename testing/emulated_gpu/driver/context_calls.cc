// Contexts: one primary for each device, others on demand, one current in each
// thread.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/driver/driver.h"

namespace partita::emulated_gpu {
namespace {

// Of an H100 (stream.priorities).
constexpr int kGreatestPriority = -5;

struct Limit {
  CUlimit name;
  size_t value;
};
// Of an H100 (footprint.local_memory).
constexpr Limit kLimits[] = {
    {CU_LIMIT_STACK_SIZE, 1024},
    {CU_LIMIT_MALLOC_HEAP_SIZE, 8388608},
    {CU_LIMIT_PRINTF_FIFO_SIZE, 8650752},
};

}  // namespace

std::unique_ptr<Context> Driver::NewContext(Device& device, bool primary) {
  auto context = std::make_unique<Context>();
  context->device = &device;
  context->primary = primary;
  context->name =
      primary ? absl::StrCat("the primary context of gpu ", device.number)
              : absl::StrCat("context ", ++device.contexts, " of gpu ",
                             device.number);
  auto legacy = std::make_unique<Stream>();
  legacy->context = context.get();
  legacy->legacy = true;
  legacy->name = absl::StrCat("the legacy stream of ", context->name);
  legacy->chain = timeline_.AddChain(legacy->name);
  context->legacy = std::move(legacy);
  return context;
}

void Driver::Activate(Context& context) {
  context.alive = true;
  context.device->context_bytes +=
      static_cast<uint64_t>(options_.bytes_per_context);
}

// cuda.h:6281 ff.: all that is in a context ends with it.
void Driver::Deactivate(Context& context) {
  RunContext(context);
  HostJoins(context.clock);
  std::vector<Allocation*> blocks;
  for (const auto& [address, block] : memory_.all()) {
    if (block->context == &context) blocks.push_back(block.get());
  }
  const auto in_use = [&](const std::string& what) {
    Report(FindingKind::kLeak,
           absl::StrCat(what, " was in use when ", context.name, " ended"));
  };
  for (Allocation* block : blocks) {
    in_use(block->text);
    Free(block);
  }
  for (Stream* stream : streams_.live()) {
    if (stream->context != &context) continue;
    in_use(stream->name);
    if (stream->capture != nullptr) LoseCapture(*stream, "the end");
    streams_.End(stream);
  }
  for (Event* event : events_.live()) {
    if (event->context != &context) continue;
    in_use(event->name);
    events_.End(event);
  }
  for (GraphExec* exec : execs_.live()) {
    if (exec->context != &context) continue;
    in_use(exec->name);
    execs_.End(exec);
  }
  for (Function* function : functions_.live()) {
    if (function->context != &context) continue;
    function->kernel->functions.erase(&context);
    functions_.End(function);
  }
  context.device->context_bytes -=
      static_cast<uint64_t>(options_.bytes_per_kernel) * context.loaded.size();
  context.loaded.clear();
  context.peers.clear();
  for (Context* other : contexts_.live()) other->peers.erase(&context);
  context.alive = false;
  context.retained = 0;
  context.device->context_bytes -=
      static_cast<uint64_t>(options_.bytes_per_context);
}

CUresult Driver::DevicePrimaryCtxRetain(CUcontext* handle, CUdevice number) {
  Device* device = nullptr;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindDevice(number, device); bad != CUDA_SUCCESS)
    return bad;
  // error.recover_by_release: an error that ended it stays until the process
  // ends.
  if (device->sticky != CUDA_SUCCESS) return device->sticky;
  Context& context = *primary_[number];
  if (context.retained == 0) {
    if (FreeBytes(*device) <
        static_cast<uint64_t>(options_.bytes_per_context)) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    Activate(context);
  }
  ++context.retained;
  *handle = contexts_.HandleOf(&context);
  return CUDA_SUCCESS;
}

CUresult Driver::DevicePrimaryCtxRelease(CUdevice number) {
  Device* device = nullptr;
  if (CUresult bad = FindDevice(number, device); bad != CUDA_SUCCESS)
    return bad;
  Context& context = *primary_[number];
  if (context.retained == 0) {
    Report(FindingKind::kMisuse,
           absl::StrCat("cuDevicePrimaryCtxRelease: found ", context.name,
                        " not retained"));
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (--context.retained == 0) Deactivate(context);
  return CUDA_SUCCESS;
}

CUresult Driver::DevicePrimaryCtxReset(CUdevice number) {
  Device* device = nullptr;
  if (CUresult bad = FindDevice(number, device); bad != CUDA_SUCCESS)
    return bad;
  if (primary_[number]->alive) Deactivate(*primary_[number]);
  return CUDA_SUCCESS;
}

CUresult Driver::DevicePrimaryCtxGetState(CUdevice number, unsigned* flags,
                                          int* active) {
  Device* device = nullptr;
  if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindDevice(number, device); bad != CUDA_SUCCESS)
    return bad;
  *flags = 0;
  *active = primary_[number]->alive ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult Driver::CtxCreate(CUcontext* handle, CUctxCreateParams* parameters,
                           unsigned flags, CUdevice number) {
  Device* device = nullptr;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindDevice(number, device); bad != CUDA_SUCCESS)
    return bad;
  if (device->sticky != CUDA_SUCCESS) return device->sticky;
  if (parameters != nullptr || flags > CU_CTX_FLAGS_MASK) {
    return NotEmulated("cuCtxCreate with parameters");
  }
  if (FreeBytes(*device) < static_cast<uint64_t>(options_.bytes_per_context)) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  Context* context = contexts_.Add(NewContext(*device, /*primary=*/false));
  Activate(*context);
  Thread().stack.push_back(context);
  *handle = contexts_.HandleOf(context);
  return CUDA_SUCCESS;
}

CUresult Driver::CtxDestroy(CUcontext handle) {
  Context* context = contexts_.Find(handle);
  if (context == nullptr || context->primary) {
    Report(FindingKind::kMisuse,
           "cuCtxDestroy: found no live context of cuCtxCreate");
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  // cuda.h:6292: the current one is popped.
  std::vector<Context*>& stack = Thread().stack;
  if (!stack.empty() && stack.back() == context) stack.pop_back();
  Deactivate(*context);
  contexts_.End(context);
  return CUDA_SUCCESS;
}

// cuda.h:6404: a null context pops the current one, another takes its place.
CUresult Driver::CtxSetCurrent(CUcontext handle) {
  std::vector<Context*>& stack = Thread().stack;
  if (handle == nullptr) {
    if (!stack.empty()) stack.pop_back();
    return CUDA_SUCCESS;
  }
  Context* context = contexts_.Find(handle);
  if (context == nullptr) {
    Report(FindingKind::kMisuse, "cuCtxSetCurrent: found no context");
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (stack.empty()) {
    stack.push_back(context);
  } else {
    stack.back() = context;
  }
  return CUDA_SUCCESS;
}

CUresult Driver::CtxGetCurrent(CUcontext* handle) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::vector<Context*>& stack = Thread().stack;
  *handle = stack.empty() ? nullptr : contexts_.HandleOf(stack.back());
  return CUDA_SUCCESS;
}

// cuda.h:6458 ff.
CUresult Driver::CtxGetDevice(CUdevice* device) {
  Context* context = nullptr;
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  *device = context->device->number;
  return CUDA_SUCCESS;
}

CUresult Driver::CtxSynchronize() {
  Context* context = nullptr;
  if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  if (CUresult bad = CheckUnsafe("cuCtxSynchronize"); bad != CUDA_SUCCESS) {
    return bad;
  }
  RunContext(*context);
  HostJoins(context->clock);
  return context->device->sticky;
}

CUresult Driver::CtxGetLimit(size_t* value, CUlimit name) {
  Context* context = nullptr;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  for (const Limit& limit : kLimits) {
    if (limit.name != name) continue;
    *value = limit.value;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_UNSUPPORTED_LIMIT;
}

CUresult Driver::CtxGetStreamPriorityRange(int* least, int* greatest) {
  Context* context = nullptr;
  if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = kGreatestPriority;
  return CUDA_SUCCESS;
}

// cuda.h:14920, 14964.
CUresult Driver::StreamCreateWithPriority(CUstream* handle, unsigned flags,
                                          int priority) {
  Context* context = nullptr;
  if (handle == nullptr || flags > CU_STREAM_NON_BLOCKING) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  auto stream = std::make_unique<Stream>();
  stream->context = context;
  stream->blocking = flags == CU_STREAM_DEFAULT;
  stream->priority = std::clamp(priority, kGreatestPriority, 0);
  stream->name =
      absl::StrCat("stream ", ++context->streams, " of ", context->name);
  stream->chain = timeline_.AddChain(stream->name);
  *handle = streams_.HandleOf(streams_.Add(std::move(stream)));
  return CUDA_SUCCESS;
}

CUresult Driver::StreamCreate(CUstream* handle, unsigned flags) {
  return StreamCreateWithPriority(handle, flags, 0);
}

}  // namespace partita::emulated_gpu
