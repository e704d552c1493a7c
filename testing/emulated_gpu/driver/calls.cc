// What calls have in common, and the calls that start the driver.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/driver/driver.h"
#include "testing/emulated_gpu/driver/entry.h"
#include "testing/emulated_gpu/driver/visible_gpus.h"

namespace partita::emulated_gpu {
namespace {

// CUDA 13.0, as the header that gives the types.
constexpr int kVersion = 13000;

std::atomic<uint64_t> drivers_made{0};

// Calls that describe an error are counted by nobody, and never fail.
bool OnlyDescribes(absl::string_view name) {
  return absl::StartsWith(name, "cuGetError");
}

// Calls that allocate memory, load code, or make an object.
bool Allocates(absl::string_view name) {
  for (absl::string_view word :
       {"Alloc", "HostRegister", "Create", "Instantiate", "GraphAdd",
        "LoadData", "FuncLoad", "CtxRetain"}) {
    if (absl::StrContains(name, word)) return true;
  }
  return false;
}

// Calls that give back what others took: when they fail, they have.
bool GivesBack(absl::string_view name) {
  for (absl::string_view word : {"Free", "Destroy", "Release", "Unload",
                                 "Unregister", "DisablePeerAccess"}) {
    if (absl::StrContains(name, word)) return true;
  }
  return false;
}

}  // namespace

Driver::Driver(const EmulatedGpuOptions& options)
    : options_(options),
      visible_(options.visible.has_value() ? *options.visible
                                           : AllGpus(options.gpus)),
      number_(++drivers_made),
      scheduler_(options.seed, options.order),
      devices_(visible_.size()),
      primary_(visible_.size()),
      memory_(static_cast<int>(visible_.size()),
              static_cast<uint64_t>(options.bytes_per_gpu)),
      unseen_(timeline_, options.seed) {
  timeline_.AddChain("the host");
  for (int i = 0; i < static_cast<int>(visible_.size()); ++i) {
    devices_[i].number = i;
    primary_[i] = contexts_.Add(NewContext(devices_[i], /*primary=*/true));
  }
}

Driver::~Driver() = default;

ThreadState& Driver::Thread() {
  thread_local ThreadState state;
  if (state.driver != number_) state = {.driver = number_};
  return state;
}

void Driver::Report(FindingKind kind, std::string text) {
  findings_.Add(kind, std::move(text));
}

CUresult Driver::BeforeCall(const char* name, bool& gives_back) {
  if (OnlyDescribes(name)) return CUDA_SUCCESS;
  // cuda.h:18070: a host function must not make CUDA calls.
  if (Thread().in_host_function) {
    Report(FindingKind::kMisuse,
           absl::StrCat(name, ": found a call inside a host function"));
    return CUDA_ERROR_NOT_PERMITTED;
  }
  gives_back = GivesBack(name);
  if (Allocates(name)) ++allocations_;
  ++calls_by_name_[name];
  if (++calls_ == options_.fail_call) return options_.fail_with;
  gives_back = false;
  const absl::string_view call = name;
  if (!initialised_ && call != "cuInit" && call != "cuDriverGetVersion" &&
      call != "cuGetProcAddress") {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  return CUDA_SUCCESS;
}

CUresult Driver::NotEmulated(const char* call) {
  Report(FindingKind::kNotEmulated,
         absl::StrCat(call, ": the call is not emulated"));
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult Driver::FindContext(Context*& context) {
  const ThreadState& thread = Thread();
  if (thread.stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  context = thread.stack.back();
  // As an H100's driver (footprint.primary_again).
  if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return context->device->sticky;
}

CUresult Driver::FindStream(CUstream handle, Stream*& stream) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY) {
    Context* context = nullptr;
    const CUresult result = FindContext(context);
    if (result == CUDA_SUCCESS) stream = context->legacy.get();
    return result;
  }
  if (handle == CU_STREAM_PER_THREAD)
    return NotEmulated("CU_STREAM_PER_THREAD");
  stream = streams_.Find(handle);
  if (stream != nullptr) return stream->context->device->sticky;
  const CUresult bad = BadHandle(streams_, handle, "stream");
  // misuse.stream_of_destroyed_context.
  const Stream* ended = reinterpret_cast<const Stream*>(handle);
  return streams_.HasEnded(handle) && !ended->context->alive
             ? CUDA_ERROR_CONTEXT_IS_DESTROYED
             : bad;
}

CUresult Driver::FindEvent(CUevent handle, Event*& event) {
  event = events_.Find(handle);
  if (event == nullptr) return BadHandle(events_, handle, "event");
  return event->context->device->sticky;
}

CUresult Driver::FindDevice(CUdevice number, Device*& device) {
  if (number < 0 || number >= static_cast<int>(visible_.size())) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  device = &devices_[number];
  return CUDA_SUCCESS;
}

CUresult Driver::Init(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (visible_.empty()) return CUDA_ERROR_NO_DEVICE;
  initialised_ = true;
  return CUDA_SUCCESS;
}

CUresult Driver::DriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = kVersion;
  return CUDA_SUCCESS;
}

CUresult Driver::GetProcAddress(const char* symbol, void** function, int,
                                cuuint64_t,
                                CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *function = FindEntry(symbol);
  if (status != nullptr) {
    *status = *function == nullptr ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
                                   : CU_GET_PROC_ADDRESS_SUCCESS;
  }
  return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

// Not emulated: pools of memory (arenas are allocated by cuMemAlloc), and the
// driver's linker, whose output no interpreter reads.
CUresult Driver::MemAllocAsync(CUdeviceptr*, size_t, CUstream) {
  return NotEmulated("cuMemAllocAsync");
}
CUresult Driver::LinkCreate(unsigned, CUjit_option*, void**, CUlinkState*) {
  return NotEmulated("cuLinkCreate");
}
CUresult Driver::LinkAddData(CUlinkState, CUjitInputType, void*, size_t,
                             const char*, unsigned, CUjit_option*, void**) {
  return NotEmulated("cuLinkAddData");
}
CUresult Driver::LinkComplete(CUlinkState, void**, size_t*) {
  return NotEmulated("cuLinkComplete");
}
CUresult Driver::LinkDestroy(CUlinkState) {
  return NotEmulated("cuLinkDestroy");
}

std::vector<Finding> Driver::Findings() {
  std::lock_guard<std::mutex> held(lock_);
  RunAll();
  return findings_.all();
}

int64_t Driver::CallCount() {
  std::lock_guard<std::mutex> held(lock_);
  return calls_;
}

int64_t Driver::AllocationCount() {
  std::lock_guard<std::mutex> held(lock_);
  return allocations_;
}

int64_t Driver::CallCount(absl::string_view name) {
  std::lock_guard<std::mutex> held(lock_);
  const auto count = calls_by_name_.find(name);
  return count == calls_by_name_.end() ? 0 : count->second;
}

AllocatedBytes Driver::Allocated() {
  std::lock_guard<std::mutex> held(lock_);
  AllocatedBytes allocated = {.of_gpu = std::vector<int64_t>(devices_.size())};
  for (const auto& [address, block] : memory_.all()) {
    const auto bytes = static_cast<int64_t>(block->bytes);
    if (block->kind == MemoryKind::kPinned) allocated.page_locked += bytes;
    if (block->is_host()) continue;
    allocated.of_gpu[block->context->device->number] += bytes;
  }
  return allocated;
}

std::vector<Finding> Driver::Leaks() {
  std::lock_guard<std::mutex> held(lock_);
  FindingLog leaks;
  const auto add = [&](const std::string& what) {
    leaks.Add(FindingKind::kLeak, absl::StrCat(what, " was not given back"));
  };
  for (const auto& [address, block] : memory_.all()) {
    add(absl::StrCat(block->text, " (", block->bytes, " bytes)"));
  }
  for (const Stream* stream : streams_.live()) add(stream->name);
  for (const Event* event : events_.live()) add(event->name);
  for (const Library* library : libraries_.live()) {
    add(absl::StrCat("a library of ", library->kernels.size(), " kernels"));
  }
  for (const Graph* graph : graphs_.live()) {
    if (!graph->is_child) add(graph->name);
  }
  for (const GraphExec* exec : execs_.live()) add(exec->name);
  for (const Context* context : contexts_.live()) {
    if (context->alive) add(context->name);
  }
  return leaks.all();
}

}  // namespace partita::emulated_gpu
