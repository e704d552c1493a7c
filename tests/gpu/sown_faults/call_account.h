// What a program told a driver, call by call.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GPU_SOWN_FAULTS_CALL_ACCOUNT_H_
#define PARTITA_TESTS_GPU_SOWN_FAULTS_CALL_ACCOUNT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/gpu/sown_faults/issued_work.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita {

// Stands for one call of the table.
template <auto member>
struct Call {};

template <typename Handle>
uintptr_t KeyOf(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<uintptr_t>(handle);
  } else {
    return static_cast<uintptr_t>(handle);
  }
}

// The last operand of its kind, and the last one before it that is another.
class Recent {
 public:
  void Add(uintptr_t key) {
    if (key == 0 || key == last_) return;
    before_ = std::exchange(last_, key);
  }
  // 0 if there is none.
  uintptr_t OtherThan(uintptr_t key) const {
    return last_ == key ? before_ : last_;
  }

 private:
  uintptr_t last_ = 0;
  uintptr_t before_ = 0;
};

// Not thread safe.
class CallAccount {
 public:
  // `fetches_wait`: a copy to pageable memory is done when its call returns.
  explicit CallAccount(bool fetches_wait) : fetches_wait_(fetches_wait) {}

  IssuedWork& work() { return work_; }
  bool has_launched() const { return has_launched_; }
  CUkernel kernel(CUfunction function) { return kernels_[function]; }
  // What was made and not given back, a sentence each.
  std::vector<std::string> Kept() const;

  // Handles that calls had.
  Recent created, recorded, waited_for, streams, contexts, freed, freed_on_host;

  // What a call did that succeeded, with its arguments.
  template <auto member, typename... Args>
  void Note(Call<member>, Args...) {}
  void Note(Call<&DriverApi::EventCreate>, CUevent* event, unsigned) {
    created.Add(KeyOf(*event));
    kept_.insert({"events", KeyOf(*event)});
  }
  void Note(Call<&DriverApi::EventDestroy>, CUevent event) {
    kept_.erase({"events", KeyOf(event)});
  }
  void Note(Call<&DriverApi::StreamCreateWithPriority>, CUstream* stream,
            unsigned, int) {
    kept_.insert({"streams", KeyOf(*stream)});
  }
  void Note(Call<&DriverApi::StreamDestroy>, CUstream stream) {
    kept_.erase({"streams", KeyOf(stream)});
  }
  void Note(Call<&DriverApi::LibraryLoadData>, CUlibrary* library, const void*,
            CUjit_option*, void**, unsigned, CUlibraryOption*, void**,
            unsigned) {
    kept_.insert({"libraries", KeyOf(*library)});
  }
  void Note(Call<&DriverApi::LibraryUnload>, CUlibrary library) {
    kept_.erase({"libraries", KeyOf(library)});
  }
  void Note(Call<&DriverApi::DevicePrimaryCtxRetain>, CUcontext*,
            CUdevice device) {
    ++retained_[device];
  }
  void Note(Call<&DriverApi::DevicePrimaryCtxRelease>, CUdevice device) {
    --retained_[device];
  }
  void Note(Call<&DriverApi::KernelGetFunction>, CUfunction* function,
            CUkernel kernel) {
    kernels_[*function] = kernel;
  }
  void Note(Call<&DriverApi::CtxSetCurrent>, CUcontext context) {
    contexts.Add(KeyOf(context));
  }

  void Note(Call<&DriverApi::MemAlloc>, CUdeviceptr* block, size_t bytes) {
    NoteBlock("blocks", KeyOf(*block), bytes);
  }
  void Note(Call<&DriverApi::MemHostAlloc>, void** block, size_t bytes,
            unsigned) {
    NoteBlock("page-locked blocks", KeyOf(*block), bytes);
  }
  void Note(Call<&DriverApi::MemFree>, CUdeviceptr block) {
    freed.Add(KeyOf(block));
    NoteFree("blocks", KeyOf(block));
  }
  void Note(Call<&DriverApi::MemFreeHost>, void* block) {
    freed_on_host.Add(KeyOf(block));
    NoteFree("page-locked blocks", KeyOf(block));
  }
  void Note(Call<&DriverApi::EventRecord>, CUevent event, CUstream stream) {
    recorded.Add(KeyOf(event));
    work_.Record(KeyOf(event), KeyOf(stream));
  }
  void Note(Call<&DriverApi::StreamWaitEvent>, CUstream stream, CUevent event,
            unsigned) {
    waited_for.Add(KeyOf(event));
    work_.Wait(KeyOf(stream), KeyOf(event));
  }
  void Note(Call<&DriverApi::EventQuery>, CUevent event) {
    work_.HostWaitsForEvent(KeyOf(event));
  }
  void Note(Call<&DriverApi::EventSynchronize>, CUevent event) {
    work_.HostWaitsForEvent(KeyOf(event));
  }
  void Note(Call<&DriverApi::StreamSynchronize>, CUstream stream) {
    work_.HostWaitsForStream(KeyOf(stream));
  }
  void Note(Call<&DriverApi::LaunchKernel>, CUfunction, unsigned, unsigned,
            unsigned, unsigned, unsigned, unsigned, unsigned, CUstream stream,
            void**, void**) {
    has_launched_ = true;
    streams.Add(KeyOf(stream));
    work_.AddWork(KeyOf(stream), "a kernel");
  }
  void Note(Call<&DriverApi::MemcpyAsync>, CUdeviceptr to, CUdeviceptr from,
            size_t, CUstream stream) {
    NoteCopy(stream, KeyOf(to), KeyOf(from));
  }
  void Note(Call<&DriverApi::MemcpyHtoDAsync>, CUdeviceptr to, const void* from,
            size_t, CUstream stream) {
    NoteCopy(stream, KeyOf(to), KeyOf(from));
  }
  void Note(Call<&DriverApi::MemcpyDtoHAsync>, void* to, CUdeviceptr from,
            size_t, CUstream stream) {
    NoteCopy(stream, KeyOf(to), KeyOf(from));
  }

 private:
  void NoteBlock(const char* kind, uintptr_t address, size_t bytes);
  void NoteFree(const char* kind, uintptr_t address);
  void NoteCopy(CUstream stream, uintptr_t to, uintptr_t from);
  bool IsPageable(uintptr_t address) const;

  const bool fetches_wait_;
  IssuedWork work_;
  bool has_launched_ = false;
  std::set<std::pair<std::string, uintptr_t>> kept_;
  std::map<CUdevice, int> retained_;
  std::map<uintptr_t, size_t> blocks_;  // bytes, by address
  std::map<CUfunction, CUkernel> kernels_;
};

}  // namespace partita

#endif  // PARTITA_TESTS_GPU_SOWN_FAULTS_CALL_ACCOUNT_H_
