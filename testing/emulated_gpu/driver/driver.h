// The emulated driver: one function for each call of the table.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_DRIVER_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_DRIVER_H_

#include <cuda.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "testing/emulated_gpu/driver/address_space.h"
#include "testing/emulated_gpu/driver/allocated_bytes.h"
#include "testing/emulated_gpu/driver/command.h"
#include "testing/emulated_gpu/driver/finding.h"
#include "testing/emulated_gpu/driver/objects.h"
#include "testing/emulated_gpu/driver/options.h"
#include "testing/emulated_gpu/driver/scheduler.h"
#include "testing/emulated_gpu/driver/timeline.h"
#include "testing/emulated_gpu/driver/unseen_writes.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita::emulated_gpu {

// What the driver knows of the calling thread.
struct ThreadState {
  uint64_t driver = 0;          // the number of the driver that it is of
  std::vector<Context*> stack;  // of contexts; the last one is current
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  bool in_host_function = false;
};

// Thread safety: callers of everything but Enter hold the lock that it takes.
class Driver {
 public:
  explicit Driver(const EmulatedGpuOptions& options);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // Runs one call of the table: takes the lock, and asks first whether the call
  // is to fail.
  template <typename Call>
  CUresult Enter(const char* name, Call call);

  // The calls, MemAlloc for cuMemAlloc. Sub-files *_calls.cc have them.
#define PARTITA_DRIVER_CALL(member, function) \
  std::remove_pointer_t<decltype(DriverApi::member)> member;
#include "third_party/cuda_loader/driver_calls.inc"
#undef PARTITA_DRIVER_CALL

  // For EmulatedCuda.
  std::vector<Finding> Findings();
  std::vector<Finding> Leaks();
  int64_t CallCount();
  int64_t AllocationCount();
  int64_t CallCount(absl::string_view name);
  AllocatedBytes Allocated();
  bool has_addresses() const { return memory_.is_reserved(); }

 private:
  // ---- calls.cc: what calls have in common.
  CUresult BeforeCall(const char* name, bool& gives_back);
  ThreadState& Thread();
  void Report(FindingKind kind, std::string text);
  CUresult NotEmulated(const char* call);
  // Null, and a code, if the thread has none that works.
  CUresult FindContext(Context*& context);
  CUresult FindStream(CUstream handle, Stream*& stream);
  CUresult FindEvent(CUevent handle, Event*& event);
  CUresult FindDevice(CUdevice number, Device*& device);
  CUresult FindKernel(CUfunction handle, Kernel*& kernel, Context*& context);
  // A handle that is not one: a finding, and a code.
  template <typename Registry, typename Handle>
  CUresult BadHandle(const Registry& registry, Handle handle, const char* what);

  // ---- context_calls.cc
  std::unique_ptr<Context> NewContext(Device& device, bool primary);
  void Activate(Context& context);
  // Ends all that is in it, after its work is done.
  void Deactivate(Context& context);

  // ---- memory_calls.cc
  uint64_t FreeBytes(const Device& device) const;
  // What is allocated at the address that a call was given; null and a code if
  // the bytes are not in one.
  CUresult FindRange(const char* call, uint64_t address, uint64_t bytes,
                     Allocation*& allocation);
  void Free(Allocation* allocation);
  CUresult FreeAfterUse(Allocation* allocation, const char* call);
  CUresult FreeHostMemory(void* pointer, MemoryKind kind, CUresult unknown,
                          const char* call);
  void ReportUnfinished(const Allocation& allocation, const char* call);

  // ---- copy_calls.cc
  enum class Direction : uint8_t { kAny, kToDevice, kToHost, kOnDevices };
  CUresult CheckCopy(const char* call, Direction direction, Copy& copy);
  bool IsBetweenDevices(const Copy& copy);
  // Whether its call returns when pageable memory has the bytes.
  bool WaitsForPageable(const Copy& copy);
  // Issues or captures it. `wait`: the call returns when it is done.
  CUresult SubmitCopy(const char* call, Direction direction, CUdeviceptr to,
                      CUdeviceptr from, size_t bytes, CUstream stream,
                      bool wait);
  // Pageable memory is read now; page-locked memory must not change until the
  // copy runs.
  void KeepSource(Copy& copy);
  CUresult SubmitFill(const char* call, Fill fill, CUstream stream);
  CUresult CheckFill(const char* call, const Fill& fill);

  // ---- launch_calls.cc
  struct LaunchArguments {
    ptx::Extents grid;
    ptx::Extents block;
    unsigned shared_bytes = 0;
    void** parameters = nullptr;
    void** extra = nullptr;
  };
  CUresult MakeLaunch(const Kernel& kernel, const LaunchArguments& arguments,
                      KernelLaunch& launch);
  CUresult ParametersFromBuffer(const KernelCode& code, void** extra,
                                std::vector<uint64_t>& values);
  CUresult SubmitLaunch(CUfunction function, const LaunchArguments& arguments,
                        CUstream stream);

  // ---- code_calls.cc
  // Readings::loading_waits. CUDA_ERROR_OUT_OF_MEMORY if the code does not fit.
  CUresult Load(const Kernel& kernel, Context& context);
  // From all contexts.
  void Unload(const Kernel& kernel);
  CUresult FunctionAttribute(const Kernel& kernel, CUfunction_attribute name,
                             int* value);

  // ---- run.cc: the order of commands, and what they do.
  CommandRef Issue(Stream& stream, Action action,
                   const std::vector<CommandRef>& also_after,
                   const VectorClock& also_clock);
  CommandRef IssueIn(ChainId chain, Context* context, Action action,
                     const std::vector<CommandRef>& after, VectorClock clock,
                     bool behind_wait);
  // To a stream, or to its capture.
  CUresult Submit(Stream& stream, Action action, CUgraphNodeType type,
                  CommandRef* issued = nullptr);
  void RunUntilDone(const CommandRef& command);
  // Readings::launches_wait. To races the host knows no more than without it.
  CUresult MayWait(const CommandRef& launch);
  void RunContext(Context& context);
  void RunAll();
  // Some commands or none, as the seed says.
  void RunSome();
  // False if none may start.
  bool RunOne();
  void Execute(Command& command);
  void ExecuteKernel(const Command& command, const KernelLaunch& launch);
  void ExecuteCopy(const Command& command, const Copy& copy);
  void ExecuteFill(const Command& command, const Fill& fill);
  void ExecuteHostCall(const Command& command, const HostCall& call);
  void EndContexts(const Command& command, CUresult error);

  // ---- host_view.cc: what the host sees of the work's writes
  // (unseen_writes.h).
  // The host knows that all of this is over.
  void HostJoins(const VectorClock& clock);
  void Show(absl::FunctionRef<bool(CommandId)> is_over);
  void ShowWhatIsOver(const VectorClock& clock);
  // A command is done, and the host does not know it.
  void MayArrive(CommandId done);
  static UnseenWrites::Writer WriterOf(const Command& command);
  // A command is issued.
  void BeginHostWrites(const Command& command);
  // Null: pageable memory.
  void Store(const Command& command, Allocation* to, uint64_t address,
             const std::byte* from, uint64_t bytes);

  // ---- capture_calls.cc
  // Into a new graph, if that is null.
  CUresult BeginCapture(CUstream stream, Graph* graph,
                        std::vector<GraphNode*> after,
                        CUstreamCaptureMode mode);
  // Refuses a call that is unsafe while this thread's or another's capture is
  // going on (cuda.h:15442 ff.), and ends that.
  CUresult CheckUnsafe(const char* call);
  void Invalidate(Capture& capture, const std::string& why);
  // Before work goes to a stream: its capture may be over, or the legacy
  // stream in the way of one.
  CUresult CheckCapture(Stream& stream);
  void RecordInCapture(Stream& stream, Event& event);
  CUresult WaitInCapture(Stream& stream, Event& event);
  CUresult CheckCapturedEvent(Event& event, const char* call);
  void AddCapturedNode(Stream& stream, Action action, CUgraphNodeType type);
  void EndCapture(Capture& capture);
  // The stream ends while it captures.
  void LoseCapture(Stream& stream, const char* call);

  // ---- graph_calls.cc
  CUresult FindGraph(CUgraph handle, Graph*& graph);
  CUresult FindNodes(const Graph* graph, const CUgraphNode* handles,
                     size_t count, std::vector<GraphNode*>& nodes);
  GraphNode* AddNode(Graph& graph, CUgraphNodeType type, Context* context,
                     Action action, std::vector<GraphNode*> after);
  // A node of a call that is not in its graph yet.
  struct NewNode {
    Graph* graph = nullptr;
    std::vector<GraphNode*> after;
    Context* context = nullptr;
  };
  // What every cuGraphAdd*Node begins with, and those that name a context.
  CUresult BeginNode(CUgraph handle, const CUgraphNode* dependencies,
                     size_t count, NewNode& node);
  CUresult BeginNode(CUgraph handle, const CUgraphNode* dependencies,
                     size_t count, CUcontext context, NewNode& node);
  // What they end with.
  GraphNode* EndNode(NewNode node, CUgraphNodeType type, Action action,
                     CUgraphNode* handle);
  CUresult KernelNode(const CUDA_KERNEL_NODE_PARAMS& params, Context*& context,
                      KernelLaunch& launch);
  CUresult NodeContext(CUcontext handle, Context*& context);
  // A finding for memory that the node's context has no access to.
  void CheckPeers(const char* call, const Context& context, const Copy& copy);
  Graph* CloneGraph(const Graph& graph);
  void EndGraph(Graph& graph);

  // ---- graph_read_calls.cc
  CUresult FindNode(CUgraphNode handle, GraphNode*& node);

  // ---- graph_exec_calls.cc
  CUresult Flatten(const Graph& graph, std::vector<ExecNode>& nodes);
  CUresult FindExec(CUgraphExec handle, GraphExec*& exec);
  void AssignChains(const std::string& name, std::vector<ExecNode>& nodes);

  const EmulatedGpuOptions options_;
  const std::vector<int> visible_;  // GPUs of the machine, by CUdevice
  const uint64_t number_;           // of drivers in this process
  std::mutex lock_;
  std::condition_variable_any done_;
  bool initialised_ = false;
  int64_t calls_ = 0;
  int64_t allocations_ = 0;  // calls that allocate
  std::map<absl::string_view, int64_t> calls_by_name_;
  int64_t running_ = 0;  // commands that another thread runs

  FindingLog findings_;
  Timeline timeline_;
  Scheduler scheduler_;
  VectorClock host_clock_;

  std::vector<Device> devices_;
  std::vector<Context*> primary_;  // of each device
  AddressSpace memory_;
  UnseenWrites unseen_;
  Registry<Context, CUcontext> contexts_;
  Registry<Stream, CUstream> streams_;
  Registry<Event, CUevent> events_;
  Registry<Library, CUlibrary> libraries_;
  Registry<Kernel, CUkernel> kernels_;
  Registry<Function, CUfunction> functions_;
  Registry<Graph, CUgraph> graphs_;
  Registry<GraphNode, CUgraphNode> nodes_;
  Registry<GraphExec, CUgraphExec> execs_;
  std::vector<std::unique_ptr<Capture>> captures_;
  std::vector<Capture*> capturing_;  // those that have not ended
  int64_t blocks_ = 0;               // of memory, that were ever allocated
  uint64_t host_calls_ = 0;          // host functions that ran
  int64_t open_host_calls_ = 0;      // that were issued and are not over
  int64_t events_made_ = 0;
  int64_t graphs_made_ = 0;
  int64_t execs_made_ = 0;
  std::vector<CUgraphNode> capture_tail_;  // what cuStreamGetCaptureInfo gave
  std::vector<CUgraphEdgeData> capture_edges_;
};

template <typename Call>
CUresult Driver::Enter(const char* name, Call call) {
  std::lock_guard<std::mutex> held(lock_);
  bool gives_back = false;
  const CUresult refusal = BeforeCall(name, gives_back);
  if (refusal != CUDA_SUCCESS) {
    if (gives_back) call();
    return refusal;
  }
  return call();
}

template <typename Registry, typename Handle>
CUresult Driver::BadHandle(const Registry& registry, Handle handle,
                           const char* what) {
  Report(FindingKind::kMisuse,
         std::string(registry.HasEnded(handle)
                         ? "found the handle of a destroyed "
                         : "found a handle that is not one of a ") +
             what);
  return CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_DRIVER_H_
