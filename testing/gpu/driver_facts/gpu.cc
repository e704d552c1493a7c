// Opens the GPU and loads the test kernels.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/driver_facts/gpu.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <vector>

#include "graph/status_macros.h"

namespace partita {

constexpr const char* kKernelNames[] = {
    "spin",         "set_word",       "add_word",       "append",
    "read_word",    "await_all",      "sample_timer",   "sample_clock",
    "copy16",       "busy",           "store_at",       "trap_now",
    "fail_assert",  "overflow_stack", "few_threads",    "local_array",
    "read_shared",  "fill_shared",    "shuffle_absent", "barrier_exited",
    "pass_message", "atomic_add",     "barrier_count",  "empty"};

absl::StatusOr<std::unique_ptr<Gpu>> Gpu::Open(const DriverApi& api) {
  std::unique_ptr<Gpu> gpu(new Gpu(api));
  PARTITA_RETURN_IF_ERROR(gpu->Start());
  return gpu;
}

absl::Status Gpu::Start() {
  PARTITA_RETURN_IF_ERROR(Status(api_.Init(0), "cuInit"));
  PARTITA_RETURN_IF_ERROR(Status(api_.DeviceGet(&device_, 0), "cuDeviceGet"));
  PARTITA_RETURN_IF_ERROR(
      Status(api_.DevicePrimaryCtxRetain(&context_, device_),
             "cuDevicePrimaryCtxRetain"));
  PARTITA_RETURN_IF_ERROR(
      Status(api_.CtxSetCurrent(context_), "cuCtxSetCurrent"));
  return LoadKernels();
}

absl::Status Gpu::LoadKernels() {
  PARTITA_ASSIGN_OR_RETURN(library_, LoadLibrary(api_, kTestKernels));
  for (const char* name : kKernelNames) {
    CUkernel kernel = nullptr;
    PARTITA_RETURN_IF_ERROR(
        Status(api_.LibraryGetKernel(&kernel, library_.get(), name), name));
    CUfunction function = nullptr;
    PARTITA_RETURN_IF_ERROR(
        Status(api_.KernelGetFunction(&function, kernel), name));
    PARTITA_RETURN_IF_ERROR(Status(api_.FuncLoad(function), "cuFuncLoad"));
    kernels_[name] = kernel;
  }
  return absl::OkStatus();
}

// The process ends soon: the context goes with it, even after an error.
Gpu::~Gpu() { library_.release(); }

int Gpu::attribute(CUdevice_attribute name) const {
  int value = -1;
  api_.DeviceGetAttribute(&value, name, device_);
  return value;
}

CUkernel Gpu::kernel(const std::string& name) const {
  const auto found = kernels_.find(name);
  return found == kernels_.end() ? nullptr : found->second;
}

CUresult Gpu::LaunchKernel(CUstream stream, CUkernel kernel, LaunchShape shape,
                           void** parameters) const {
  return api_.LaunchKernel(reinterpret_cast<CUfunction>(kernel), shape.blocks,
                           1, 1, shape.threads, 1, 1, shape.shared_bytes,
                           stream, parameters, nullptr);
}

absl::StatusOr<OwnedStream> Gpu::NewStream() const {
  return partita::NewStream(api_, CU_STREAM_NON_BLOCKING);
}

absl::StatusOr<OwnedEvent> Gpu::NewEvent(unsigned flags) const {
  return partita::NewEvent(api_, flags);
}

absl::StatusOr<GlobalMemory> Gpu::NewMemory(size_t bytes) const {
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory memory, NewDeviceMemory(api_, bytes));
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, NewStream());
  PARTITA_RETURN_IF_ERROR(
      Status(api_.MemsetD8Async(memory.get(), 0, bytes, stream.get()),
             "cuMemsetD8Async"));
  PARTITA_RETURN_IF_ERROR(
      Status(api_.StreamSynchronize(stream.get()), "cuStreamSynchronize"));
  return memory;
}

absl::StatusOr<PinnedMemory> Gpu::NewPinned(size_t bytes) const {
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory memory, NewPinnedMemory(api_, bytes));
  std::memset(memory.get(), 0, bytes);
  return memory;
}

absl::StatusOr<uint32_t> Gpu::ReadWord(CUdeviceptr address) const {
  uint32_t word = 0;
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, NewStream());
  PARTITA_RETURN_IF_ERROR(
      Status(api_.MemcpyDtoHAsync(&word, address, sizeof(word), stream.get()),
             "cuMemcpyDtoHAsync"));
  PARTITA_RETURN_IF_ERROR(
      Status(api_.StreamSynchronize(stream.get()), "cuStreamSynchronize"));
  return word;
}

int64_t Gpu::FreeBytes() const {
  size_t free = 0;
  size_t total = 0;
  if (api_.MemGetInfo(&free, &total) != CUDA_SUCCESS) return -1;
  return static_cast<int64_t>(free);
}

absl::StatusOr<OwnedContext> Gpu::NewContext() const {
  CUcontext context = nullptr;
  PARTITA_RETURN_IF_ERROR(
      Status(api_.CtxCreate(&context, nullptr, 0, device_), "cuCtxCreate"));
  OwnedContext owned(api_, context);
  // cuCtxCreate pushed it on this thread's stack; null pops it (cuda.h:6404).
  PARTITA_RETURN_IF_ERROR(
      Status(api_.CtxSetCurrent(nullptr), "cuCtxSetCurrent"));
  return owned;
}

absl::StatusOr<Gate> Gate::New(const Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory flag,
                           gpu.NewPinned(2 * sizeof(uint32_t)));
  return Gate(gpu, std::move(flag));
}

CUresult Gate::Block(CUstream stream, double limit_seconds) const {
  return gpu_->Launch(stream, "spin", {}, flag_.get(),
                      static_cast<uint64_t>(limit_seconds * 1e9));
}

void Gate::Open() const {
  if (flag_.get() == nullptr) return;
  std::atomic_ref<uint32_t>(*static_cast<uint32_t*>(flag_.get())).store(1);
}

bool Gate::ran_out() const {
  return std::atomic_ref<uint32_t>(static_cast<uint32_t*>(flag_.get())[1])
             .load() != 0;
}

double HostSeconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace partita
