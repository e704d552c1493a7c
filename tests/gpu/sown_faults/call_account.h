// The calls that a program made of a driver, and what they did.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GPU_SOWN_FAULTS_CALL_ACCOUNT_H_
#define PARTITA_TESTS_GPU_SOWN_FAULTS_CALL_ACCOUNT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/gpu/sown_faults/graph_account.h"
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

// What work is, in sentences.
inline constexpr char kKernelWork[] = "a kernel";
inline constexpr char kCopyWork[] = "a copy";

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
  GraphAccount& graphs() { return graphs_; }
  bool has_launched() const { return has_launched_; }
  CUkernel kernel(CUfunction function) { return kernels_[function]; }
  // What was made and not given back, a sentence each.
  std::vector<std::string> Kept() const;

  // Something was given back a second time, or will be; or was used later.
  void NoteTwice() { is_given_back_twice_ = true; }
  void NoteUsedLater() { is_used_later_ = true; }

  // The oldest other stream of the same context; 0: there is none.
  uintptr_t OtherStream(CUstream stream) const;
  // The last page-locked block of so many bytes or more; 0: there is none.
  uintptr_t PinnedBlock(size_t bytes) const;
  // True if the bytes are memory of a device, or of one page-locked block: no
  // access of them changes other memory of the process.
  bool MayAccess(uintptr_t address, size_t bytes) const;

  // Handles that calls had. Devices count from 1.
  Recent created, recorded, waited_for, streams, contexts, freed, freed_on_host;
  Recent made_streams, made_graphs, devices, launched, copied_from,
      recorded_in_graphs;
  std::vector<CUfunction> functions;

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
    made_streams.Add(KeyOf(*stream));
    kept_.insert({"streams", KeyOf(*stream)});
    streams_of_.insert({*stream, {current(), streams_made_++}});
  }
  void Note(Call<&DriverApi::StreamDestroy>, CUstream stream) {
    kept_.erase({"streams", KeyOf(stream)});
    streams_of_.erase(stream);
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
    devices.Add(KeyOf(device) + 1);
    ++retained_[device];
  }
  void Note(Call<&DriverApi::DevicePrimaryCtxRelease>, CUdevice device) {
    --retained_[device];
  }
  void Note(Call<&DriverApi::KernelGetFunction>, CUfunction* function,
            CUkernel kernel) {
    functions.push_back(*function);
    kernels_[*function] = kernel;
  }
  void Note(Call<&DriverApi::CtxSetCurrent>, CUcontext context) {
    contexts.Add(KeyOf(context));
    current() = context;
  }

  void Note(Call<&DriverApi::MemAlloc>, CUdeviceptr* block, size_t bytes) {
    NoteBlock("blocks", {.context = KeyOf(current()),
                         .address = KeyOf(*block),
                         .bytes = bytes});
  }
  void Note(Call<&DriverApi::MemHostAlloc>, void** block, size_t bytes,
            unsigned) {
    NoteBlock("page-locked blocks", {.address = KeyOf(*block), .bytes = bytes});
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
  void Note(Call<&DriverApi::CtxSynchronize>) {
    for (const auto& [stream, made] : streams_of_) {
      if (made.context == current()) work_.HostWaitsForStream(KeyOf(stream));
    }
  }
  void Note(Call<&DriverApi::LaunchKernel>, CUfunction, unsigned, unsigned,
            unsigned, unsigned, unsigned, unsigned, unsigned, CUstream stream,
            void**, void**) {
    has_launched_ = true;
    streams.Add(KeyOf(stream));
    work_.AddWork(
        KeyOf(stream),
        {.what = kKernelWork, .context = KeyOf(streams_of_[stream].context)});
  }
  void Note(Call<&DriverApi::MemcpyAsync>, CUdeviceptr to, CUdeviceptr from,
            size_t bytes, CUstream stream) {
    NoteCopy(stream, KeyOf(to), KeyOf(from), bytes);
  }
  void Note(Call<&DriverApi::MemcpyHtoDAsync>, CUdeviceptr to, const void* from,
            size_t bytes, CUstream stream) {
    NoteCopy(stream, KeyOf(to), KeyOf(from), bytes);
  }
  void Note(Call<&DriverApi::MemcpyDtoHAsync>, void* to, CUdeviceptr from,
            size_t bytes, CUstream stream) {
    NoteCopy(stream, KeyOf(to), KeyOf(from), bytes);
  }

  void Note(Call<&DriverApi::GraphCreate>, CUgraph* graph, unsigned) {
    made_graphs.Add(KeyOf(*graph));
    kept_.insert({"graphs", KeyOf(*graph)});
  }
  void Note(Call<&DriverApi::GraphDestroy>, CUgraph graph) {
    kept_.erase({"graphs", KeyOf(graph)});
    graphs_.Destroy(graph);
  }
  void Note(Call<&DriverApi::GraphAddKernelNode>, CUgraphNode* node,
            CUgraph graph, const CUgraphNode* after, size_t count,
            const CUDA_KERNEL_NODE_PARAMS* params) {
    graphs_.Add(graph,
                {.node = *node,
                 .after = {after, count},
                 .issued = IssuedWork::Issued{.what = kKernelWork,
                                              .context = KeyOf(params->ctx)}});
  }
  void Note(Call<&DriverApi::GraphAddMemcpyNode>, CUgraphNode* node,
            CUgraph graph, const CUgraphNode* after, size_t count,
            const CUDA_MEMCPY3D* copy, CUcontext) {
    copied_from.Add(copy->srcDevice);
    graphs_.Add(graph, {.node = *node,
                        .after = {after, count},
                        .issued = CopyOf(copy->dstDevice, copy->srcDevice,
                                         copy->WidthInBytes)});
  }
  void Note(Call<&DriverApi::GraphAddEventRecordNode>, CUgraphNode* node,
            CUgraph graph, const CUgraphNode* after, size_t count,
            CUevent event) {
    recorded_in_graphs.Add(KeyOf(event));
    graphs_.Add(graph, {.node = *node, .after = {after, count}});
  }
  void Note(Call<&DriverApi::GraphAddEmptyNode>, CUgraphNode* node,
            CUgraph graph, const CUgraphNode* after, size_t count) {
    graphs_.Add(graph, {.node = *node, .after = {after, count}});
  }
  void Note(Call<&DriverApi::GraphInstantiate>, CUgraphExec* exec,
            CUgraph graph, unsigned long long) {
    kept_.insert({"graph execs", KeyOf(*exec)});
    graphs_.Instantiate(*exec, graph);
  }
  void Note(Call<&DriverApi::GraphExecDestroy>, CUgraphExec exec) {
    kept_.erase({"graph execs", KeyOf(exec)});
  }
  void Note(Call<&DriverApi::GraphLaunch>, CUgraphExec exec, CUstream stream) {
    has_launched_ = true;
    launched.Add(KeyOf(exec));
    streams.Add(KeyOf(stream));
    work_.LaunchGraph(KeyOf(stream), KeyOf(exec), graphs_.NodesOf(exec));
  }

 private:
  // Of the calling thread.
  CUcontext& current() { return current_[std::this_thread::get_id()]; }
  void NoteBlock(const char* kind, const IssuedWork::Block& block);
  void NoteFree(const char* kind, uintptr_t address);
  IssuedWork::Issued CopyOf(uintptr_t to, uintptr_t from, size_t bytes) const;
  void NoteCopy(CUstream stream, uintptr_t to, uintptr_t from, size_t bytes);
  // That has the address; null: none of the driver's.
  const IssuedWork::Block* BlockAt(uintptr_t address) const;

  const bool fetches_wait_;
  IssuedWork work_;
  GraphAccount graphs_;
  std::map<std::thread::id, CUcontext> current_;
  struct MadeStream {
    CUcontext context = nullptr;
    int64_t number = 0;
  };
  std::map<CUstream, MadeStream> streams_of_;
  int64_t streams_made_ = 0;
  bool has_launched_ = false;
  std::set<std::pair<std::string, uintptr_t>> kept_;
  bool is_given_back_twice_ = false;
  bool is_used_later_ = false;
  std::map<CUdevice, int> retained_;
  std::map<uintptr_t, IssuedWork::Block> blocks_;  // by address
  std::map<CUfunction, CUkernel> kernels_;
};

}  // namespace partita

#endif  // PARTITA_TESTS_GPU_SOWN_FAULTS_CALL_ACCOUNT_H_
