// One function for each call of the table: it counts and sows.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/sown_faults/faulty_driver.h"

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "tests/gpu/sown_faults/call_account.h"
#include "tests/gpu/sown_faults/kind_of_call.h"
#include "tests/gpu/sown_faults/neighbours.h"
#include "third_party/cuda_loader/process_driver.h"

namespace partita {

// All members but `before_waits_` are guarded by the lock, which is held while
// a call is made.
class FaultyDriver::Calls {
 public:
  Calls(const DriverApi& real, const Options& options)
      : real_(real), fault_(options.fault), account_(options.fetches_wait) {}

  template <auto member, typename... Args>
  CUresult Make(Args... args) {
    if constexpr (kIs<member, &DriverApi::GetErrorName> ||
                  kIs<member, &DriverApi::GetErrorString>) {
      return (real_.*member)(args...);
    } else {
      if constexpr (Waits<member>()) LetOthersGoFirst();
      const std::lock_guard<std::mutex> held(lock_);
      if (std::optional<CUresult> wrong = MakeWrong<member>(args...)) {
        return *wrong;
      }
      const CUresult result = Issue<member>(args...);
      if (late_ != nullptr && late_thread_ == std::this_thread::get_id() &&
          EndsDelay<member>()) {
        MakeLate();
      }
      return result;
    }
  }

  void BeforeWaits(std::function<void()> let_others_go_first) {
    before_waits_ = std::move(let_others_go_first);
  }
  std::mutex& lock() { return lock_; }
  CallAccount& account() { return account_; }
  bool is_sown() const { return is_sown_; }
  int64_t count(CallKind kind) const {
    return counts_[static_cast<size_t>(kind)];
  }

 private:
  template <auto member>
  static constexpr bool Waits() {
    return KindOf<member>() == CallKind::kHostWait &&
           !kIs<member, &DriverApi::EventQuery>;
  }
  // What one thread waits for, the memory shows to all. The call that is wrong
  // may be one of those others, and come later.
  void LetOthersGoFirst() {
    if (fault_.has_value() && before_waits_ != nullptr) before_waits_();
  }

  // Counts the call. The fault, if it is this call's.
  std::optional<Wrong> WrongOf(CallKind kind) {
    const int64_t index = counts_[static_cast<size_t>(kind)]++;
    if (!fault_.has_value() || fault_->kind != kind || fault_->index != index) {
      return std::nullopt;
    }
    return fault_->wrong;
  }

  // What the program gets instead of the call's result; none: the call is made,
  // maybe with other operands.
  template <auto member, typename... Args>
  std::optional<CUresult> MakeWrong(Args&... args) {
    constexpr Call<member> call;
    if constexpr (kIs<member, &DriverApi::StreamSynchronize>) FreeEarly();
    if (WasFreed(call, args...)) return CUDA_SUCCESS;
    SowEdges(call, args...);
    if constexpr (KindOf<member>().has_value()) {
      if (IsAskedAgain(call, args...)) return std::nullopt;
      const std::optional<Wrong> wrong = WrongOf(*KindOf<member>());
      if (!wrong.has_value()) return std::nullopt;
      switch (*wrong) {
        case Wrong::kDropped:
          is_sown_ = true;
          return Drop(call, args...);
        case Wrong::kLate:
          is_sown_ = true;
          late_thread_ = std::this_thread::get_id();
          late_command_ = account_.work().SetPerformed({});
          account_.work().SetPerformed(late_command_);
          late_ = Later(call, args...);
          return CUDA_SUCCESS;
        case Wrong::kNeighbours:
          return TakeNeighbours(call, args...);
        case Wrong::kEarly:
          frees_early_ = true;
          break;
      }
    }
    return std::nullopt;
  }

  template <auto member, typename... Args>
  CUresult Issue(Args... args) {
    const CUresult result = (real_.*member)(args...);
    if constexpr (kIs<member, &DriverApi::EventQuery>) {
      NoteAnswer(result, args...);
    }
    if (result != CUDA_SUCCESS) return result;
    if constexpr (kIs<member, &DriverApi::MemAlloc>) {
      if (std::exchange(frees_early_, false)) early_ = FirstBlock(args...);
    }
    account_.Note(Call<member>(), args...);
    return result;
  }

  // ---- Queries. All that ask until an event is reached are one wait: how many
  // there are is up to chance.
  template <auto member, typename... Args>
  bool IsAskedAgain(Call<member>, Args&...) const {
    return false;
  }
  bool IsAskedAgain(Call<&DriverApi::EventQuery>, CUevent& event) const {
    return not_ready_.contains(event);
  }
  void NoteAnswer(CUresult answer, CUevent event) {
    if (answer == CUDA_ERROR_NOT_READY) {
      not_ready_.insert(event);
    } else {
      not_ready_.erase(event);
    }
  }

  // ---- Late calls.
  void MakeLate() {
    const IssuedWork::Performed now =
        account_.work().SetPerformed(late_command_);
    std::exchange(late_, nullptr)();
    account_.work().SetPerformed(now);
  }
  template <auto member>
  bool EndsDelay() const {
    if (fault_->kind == CallKind::kSwitch) {
      return !kIs<member, &DriverApi::CtxGetCurrent>;
    }
    constexpr std::optional<CallKind> kind = KindOf<member>();
    return kind == CallKind::kRecord || kind == CallKind::kWait ||
           kind == CallKind::kCopy || kind == CallKind::kLaunch ||
           kind == CallKind::kHostWait;
  }
  template <auto member, typename... Args>
  std::function<void()> Later(Call<member>, Args... args) {
    return [this, args...] { Issue<member>(args...); };
  }
  // The caller may change the parameters after the call.
  std::function<void()> Later(Call<&DriverApi::LaunchKernel>,
                              CUfunction function, unsigned grid_x,
                              unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y,
                              unsigned block_z, unsigned shared_bytes,
                              CUstream stream, void** parameters, void**) {
    std::vector<uint64_t> values;
    size_t offset = 0;
    size_t size = 0;
    while (real_.KernelGetParamInfo(account_.kernel(function), values.size(),
                                    &offset, &size) == CUDA_SUCCESS) {
      values.push_back(
          *static_cast<const uint64_t*>(parameters[values.size()]));
    }
    return [=, this]() mutable {
      std::vector<void*> pointers;
      for (uint64_t& value : values) pointers.push_back(&value);
      Issue<&DriverApi::LaunchKernel>(
          function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
          shared_bytes, stream, pointers.data(), static_cast<void**>(nullptr));
    };
  }

  // ---- Nodes and edges of graphs.
  template <auto member, typename... Args>
  CUresult Drop(Call<member>, Args&...) {
    return CUDA_SUCCESS;
  }
  // Later nodes may follow it.
  CUresult Drop(Call<&DriverApi::GraphAddKernelNode>, CUgraphNode*& node,
                CUgraph& graph, const CUgraphNode*& after, size_t& count,
                const CUDA_KERNEL_NODE_PARAMS*&) {
    return Issue<&DriverApi::GraphAddEmptyNode>(node, graph, after, count);
  }
  CUresult Drop(Call<&DriverApi::GraphAddMemcpyNode>, CUgraphNode*& node,
                CUgraph& graph, const CUgraphNode*& after, size_t& count,
                const CUDA_MEMCPY3D*&, CUcontext&) {
    return Issue<&DriverApi::GraphAddEmptyNode>(node, graph, after, count);
  }

  template <auto member, typename... Args>
  void SowEdges(Call<member>, Args&...) {}
  void SowEdges(Call<&DriverApi::GraphAddKernelNode>, CUgraphNode*&,
                CUgraph& graph, const CUgraphNode*& after, size_t& count,
                const CUDA_KERNEL_NODE_PARAMS*&) {
    SowEdges(graph, after, count);
  }
  void SowEdges(Call<&DriverApi::GraphAddMemcpyNode>, CUgraphNode*&,
                CUgraph& graph, const CUgraphNode*& after, size_t& count,
                const CUDA_MEMCPY3D*&, CUcontext&) {
    SowEdges(graph, after, count);
  }
  void SowEdges(CUgraph graph, const CUgraphNode*& after, size_t& count) {
    after_.assign(after, after + count);
    for (size_t i = 0; i < count; ++i) {
      const std::optional<Wrong> wrong = WrongOf(CallKind::kEdge);
      if (!wrong.has_value()) continue;
      is_sown_ = account_.graphs().ChangeEdge(
          graph, i, *wrong == Wrong::kNeighbours, after_);
    }
    after = after_.data();
    count = after_.size();
  }

  // ---- Operands of neighbours.
  template <auto member, typename... Args>
  std::optional<CUresult> TakeNeighbours(Call<member> call, Args&... args) {
    is_sown_ |= TakeNeighbour(account_, call, args...);
    return std::nullopt;
  }
  std::optional<CUresult> TakeNeighbours(Call<&DriverApi::EventCreate>,
                                         CUevent*& event, unsigned&) {
    const uintptr_t other = account_.created.OtherThan(0);
    if (other == 0) return std::nullopt;
    is_sown_ = true;
    *event = reinterpret_cast<CUevent>(other);
    return CUDA_SUCCESS;
  }
  std::optional<CUresult> TakeNeighbours(Call<&DriverApi::GraphAddKernelNode>,
                                         CUgraphNode*& node, CUgraph& graph,
                                         const CUgraphNode*& after,
                                         size_t& count,
                                         const CUDA_KERNEL_NODE_PARAMS*&) {
    const CUgraphNode other = account_.graphs().Last(graph, kKernel);
    CUDA_KERNEL_NODE_PARAMS params = {};
    if (other == nullptr ||
        real_.GraphKernelNodeGetParams(other, &params) != CUDA_SUCCESS) {
      return std::nullopt;
    }
    const CUDA_KERNEL_NODE_PARAMS* const taken = &params;
    return AddWorkOf(other, *node, [&] {
      return Issue<&DriverApi::GraphAddKernelNode>(node, graph, after, count,
                                                   taken);
    });
  }
  std::optional<CUresult> TakeNeighbours(Call<&DriverApi::GraphAddMemcpyNode>,
                                         CUgraphNode*& node, CUgraph& graph,
                                         const CUgraphNode*& after,
                                         size_t& count, const CUDA_MEMCPY3D*&,
                                         CUcontext& context) {
    const CUgraphNode other = account_.graphs().Last(graph, kCopy);
    CUDA_MEMCPY3D params = {};
    if (other == nullptr ||
        real_.GraphMemcpyNodeGetParams(other, &params) != CUDA_SUCCESS) {
      return std::nullopt;
    }
    const CUDA_MEMCPY3D* const taken = &params;
    return AddWorkOf(other, *node, [&] {
      return Issue<&DriverApi::GraphAddMemcpyNode>(node, graph, after, count,
                                                   taken, context);
    });
  }
  template <typename Add>
  CUresult AddWorkOf(CUgraphNode other, const CUgraphNode& node, Add add) {
    is_sown_ = true;
    const CUresult result = add();
    if (result == CUDA_SUCCESS) account_.graphs().DoesWorkOf(node, other);
    return result;
  }

  // ---- Memory that is freed early.
  static CUdeviceptr FirstBlock(const CUdeviceptr* block, size_t) {
    return *block;
  }
  void FreeEarly() {
    if (early_ == 0 || !account_.has_launched() || was_freed_early_) return;
    is_sown_ = true;
    was_freed_early_ = true;
    Issue<&DriverApi::MemFree>(early_);
  }
  template <auto member, typename... Args>
  bool WasFreed(Call<member>, Args&...) {
    return false;
  }
  bool WasFreed(Call<&DriverApi::MemFree>, CUdeviceptr& block) {
    return was_freed_early_ && block == early_;
  }

  const DriverApi& real_;
  const std::optional<SownFault> fault_;
  std::function<void()> before_waits_;
  std::mutex lock_;
  std::array<int64_t, kCallKinds> counts_{};
  bool is_sown_ = false;
  std::set<CUevent> not_ready_;     // the last answer to a query
  std::vector<CUgraphNode> after_;  // of the node that is added now
  std::function<void()> late_;      // a call that is held back, of this thread
  std::thread::id late_thread_;
  IssuedWork::Performed late_command_;
  bool frees_early_ = false;  // the block that is allocated now
  CUdeviceptr early_ = 0;
  bool was_freed_early_ = false;

  CallAccount account_;
};

namespace {

std::atomic<FaultyDriver::Calls*> current{nullptr};

template <auto member>
struct TableEntry;
template <typename... Args, CUresult (*DriverApi::*member)(Args...)>
struct TableEntry<member> {
  static CUresult Make(Args... args) {
    FaultyDriver::Calls* const calls = current.load();
    if (calls == nullptr) return CUDA_ERROR_DEINITIALIZED;
    return calls->Make<member>(args...);
  }
};

}  // namespace

FaultyDriver::FaultyDriver(const DriverApi& real, const Options& options)
    : real_(real), calls_(std::make_unique<Calls>(real, options)) {
  current = calls_.get();
  SetProcessDriver(&api());
}

FaultyDriver::~FaultyDriver() {
  SetProcessDriver(&real_);
  current = nullptr;
}

const DriverApi& FaultyDriver::api() const {
  static constexpr DriverApi table = {
#define PARTITA_DRIVER_CALL(member, function) \
  .member = TableEntry<&DriverApi::member>::Make,
#include "third_party/cuda_loader/driver_calls.inc"
#undef PARTITA_DRIVER_CALL
  };
  return table;
}

void FaultyDriver::BeforeWaits(std::function<void()> let_others_go_first) {
  calls_->BeforeWaits(std::move(let_others_go_first));
}

int64_t FaultyDriver::count(CallKind kind) const { return calls_->count(kind); }

bool FaultyDriver::is_sown() const { return calls_->is_sown(); }

std::vector<std::string> FaultyDriver::Kept() const {
  return calls_->account().Kept();
}

void FaultyDriver::SetCommand(CUgraphNode node, CommandId command) {
  const std::lock_guard<std::mutex> held(calls_->lock());
  calls_->account().graphs().SetCommand(node, command);
}

void FaultyDriver::Account(absl::FunctionRef<void(IssuedWork&)> change) {
  const std::lock_guard<std::mutex> held(calls_->lock());
  change(calls_->account().work());
}

}  // namespace partita
