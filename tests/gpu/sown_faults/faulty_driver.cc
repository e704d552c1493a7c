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
#include "tests/gpu/sown_faults/operands.h"
#include "third_party/cuda_loader/process_driver.h"

namespace partita {

// All members but the program's functions are guarded by the lock, which is
// held while a call is made.
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
  void AfterErrors(std::function<void()> stops) {
    after_errors_ = std::move(stops);
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
    if constexpr (kIs<member, &DriverApi::StreamSynchronize>) GiveBackEarly();
    if (WasGivenBack<member>(args...)) return CUDA_SUCCESS;
    if (UsesWhatWasGivenBack<member>(args...)) account_.NoteUsedLater();
    SowEdges(call, args...);
    SowOperands(call, args...);
    if constexpr (KindOf<member>().has_value()) {
      if (IsAskedAgain(call, args...)) return std::nullopt;
      const std::optional<Wrong> wrong = WrongOf(*KindOf<member>());
      if (!wrong.has_value()) return std::nullopt;
      switch (*wrong) {
        case Wrong::kDropped:
          is_sown_ = true;
          return Drop(call, args...);
        case Wrong::kTwice:
          is_sown_ = true;
          return MakeTwice(call, args...);
        case Wrong::kLate:
          is_sown_ = true;
          late_thread_ = std::this_thread::get_id();
          late_command_ = account_.work().SetPerformed({});
          account_.work().SetPerformed(late_command_);
          late_ = Later(call, args...);
          return CUDA_SUCCESS;
        case Wrong::kNeighbours:
          if (TakeMade(account_, call, args...)) {
            is_sown_ = true;
            account_.NoteTwice();
            return CUDA_SUCCESS;
          }
          return TakeNeighbours(call, args...);
        case Wrong::kEarly:
          goes_early_ = true;
          break;
        case Wrong::kSwapped:
          ChangeFlags(call, args...);
          return AnswerWrongly(call, args...);
        case Wrong::kShort:
          ShortenMemory(call, args...);
          break;
        case Wrong::kMoved:
        case Wrong::kLong:
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
    if (result != CUDA_SUCCESS) {
      NoteError<member>(result);
      return result;
    }
    if (std::exchange(goes_early_, false)) {
      RememberEarly(Call<member>(), args...);
    }
    account_.Note(Call<member>(), args...);
    return result;
  }

  // Not those of questions, and of access that a peer has already.
  template <auto member>
  void NoteError(CUresult result) {
    constexpr std::optional<CallKind> kind = KindOf<member>();
    if (!kind.has_value() || kind == CallKind::kQuestion ||
        kind == CallKind::kPeer || result == CUDA_ERROR_NOT_READY) {
      return;
    }
    if (after_errors_ != nullptr) after_errors_();
  }

  // ---- Calls that are made twice.
  template <auto member, typename... Args>
  CUresult MakeTwice(Call<member>, Args&... args) {
    const CUresult result = Issue<member>(args...);
    if constexpr (KindOf<member>() == CallKind::kDestroy ||
                  KindOf<member>() == CallKind::kFree) {
      account_.NoteTwice();
    }
    Issue<member>(args...);
    return result;
  }
  template <auto member, typename... Rest>
  CUresult MakeTwice(Call<member>, CUgraphNode*& node, CUgraph& graph,
                     const CUgraphNode*& after, size_t& count, Rest&... rest) {
    return AddTwice(*node, [&] {
      return Issue<member>(node, graph, after, count, rest...);
    });
  }
  // The program has the first node.
  template <typename Add>
  CUresult AddTwice(CUgraphNode& node, Add add) {
    const CUresult result = add();
    const CUgraphNode first = node;
    if (result == CUDA_SUCCESS && add() == CUDA_SUCCESS) {
      account_.graphs().DoesWorkOf(node, first);
    }
    node = first;
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
    std::vector<uint64_t> values = ValuesOf(function, parameters);
    return [=, this]() mutable {
      std::vector<void*> pointers;
      for (uint64_t& value : values) pointers.push_back(&value);
      Issue<&DriverApi::LaunchKernel>(
          function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
          shared_bytes, stream, pointers.data(), static_cast<void**>(nullptr));
    };
  }

  size_t NumParameters(CUkernel kernel) const {
    size_t count = 0;
    size_t offset = 0;
    size_t size = 0;
    while (real_.KernelGetParamInfo(kernel, count, &offset, &size) ==
           CUDA_SUCCESS) {
      ++count;
    }
    return count;
  }
  std::vector<uint64_t> ValuesOf(CUfunction function, void** parameters) {
    const size_t count = NumParameters(account_.kernel(function));
    std::vector<uint64_t> values;
    for (size_t i = 0; i < count; ++i) {
      values.push_back(*static_cast<const uint64_t*>(parameters[i]));
    }
    return values;
  }

  // ---- Nodes and edges of graphs.
  template <auto member, typename... Args>
  CUresult Drop(Call<member>, Args&...) {
    return CUDA_SUCCESS;
  }
  // Later nodes may follow it.
  template <auto member, typename... Rest>
  CUresult Drop(Call<member>, CUgraphNode*& node, CUgraph& graph,
                const CUgraphNode*& after, size_t& count, Rest&...) {
    return Issue<&DriverApi::GraphAddEmptyNode>(node, graph, after, count);
  }

  template <auto member, typename... Args>
  void SowEdges(Call<member>, Args&...) {}
  template <auto member, typename... Rest>
  void SowEdges(Call<member>, CUgraphNode*&, CUgraph& graph,
                const CUgraphNode*& after, size_t& count, Rest&...) {
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

  // ---- Operands that are no other call's.
  template <auto member, typename... Args>
  void SowOperands(Call<member>, Args&...) {}
  void SowOperands(Call<&DriverApi::LaunchKernel>, CUfunction& function,
                   unsigned& blocks, unsigned&, unsigned&, unsigned& threads,
                   unsigned&, unsigned&, unsigned&, CUstream&,
                   void**& parameters, void**&) {
    parameters = SowKernel(function, blocks, threads, parameters);
  }
  void SowOperands(Call<&DriverApi::GraphAddKernelNode>, CUgraphNode*&,
                   CUgraph&, const CUgraphNode*&, size_t&,
                   const CUDA_KERNEL_NODE_PARAMS*& params) {
    kernel_ = *params;
    kernel_.kernelParams = SowKernel(kernel_.func, kernel_.gridDimX,
                                     kernel_.blockDimX, params->kernelParams);
    params = &kernel_;
  }
  void SowOperands(Call<&DriverApi::MemcpyAsync>, CUdeviceptr& to,
                   CUdeviceptr& from, size_t& bytes, CUstream&) {
    SowBytes(to, from, bytes);
  }
  // The host's side is memory of the program.
  void SowOperands(Call<&DriverApi::MemcpyHtoDAsync>, CUdeviceptr&,
                   const void*&, size_t& bytes, CUstream&) {
    if (WrongOf(CallKind::kBytes) == Wrong::kShort) is_sown_ = Shorten(bytes);
  }
  void SowOperands(Call<&DriverApi::MemcpyDtoHAsync>, void*&, CUdeviceptr&,
                   size_t& bytes, CUstream&) {
    if (WrongOf(CallKind::kBytes) == Wrong::kShort) is_sown_ = Shorten(bytes);
  }
  void SowOperands(Call<&DriverApi::GraphAddMemcpyNode>, CUgraphNode*&,
                   CUgraph&, const CUgraphNode*&, size_t&,
                   const CUDA_MEMCPY3D*& params, CUcontext&) {
    copy_ = *params;
    SowBytes(copy_.dstDevice, copy_.srcDevice, copy_.WidthInBytes);
    params = &copy_;
  }
  void SowOperands(Call<&DriverApi::GraphLaunch>, CUgraphExec& exec,
                   CUstream&) {
    if (!WrongOf(CallKind::kExec).has_value()) return;
    is_sown_ = Take(account_.launched, exec);
  }
  void SowBytes(CUdeviceptr& to, CUdeviceptr& from, size_t& bytes) {
    const std::optional<Wrong> wrong = WrongOf(CallKind::kBytes);
    if (!wrong.has_value()) return;
    is_sown_ = ChangeBytes(account_, *wrong, to, from, bytes);
  }
  // The parameters that the kernel is to have.
  void** SowKernel(CUfunction function, unsigned& blocks, unsigned& threads,
                   void** parameters) {
    values_ = ValuesOf(function, parameters);
    pointers_.clear();
    for (size_t i = 0; i < values_.size(); ++i) {
      const std::optional<Wrong> wrong = WrongOf(CallKind::kArgument);
      if (wrong.has_value()) is_sown_ = ChangeArgument(*wrong, i, values_);
    }
    const std::optional<Wrong> wrong = WrongOf(CallKind::kGrid);
    if (wrong.has_value()) is_sown_ = ChangeGrid(*wrong, blocks, threads);
    for (uint64_t& value : values_) pointers_.push_back(&value);
    return pointers_.data();
  }

  template <auto member, typename... Args>
  void ShortenMemory(Call<member>, Args&...) {}
  void ShortenMemory(Call<&DriverApi::MemAlloc>, CUdeviceptr*&, size_t& bytes) {
    is_sown_ = Shorten(bytes);
  }

  template <auto member, typename... Args>
  void ChangeFlags(Call<member>, Args&...) {}
  void ChangeFlags(Call<&DriverApi::EventCreate>, CUevent*&, unsigned& flags) {
    ToggleFlag(CU_EVENT_DISABLE_TIMING, flags);
  }
  void ChangeFlags(Call<&DriverApi::StreamCreateWithPriority>, CUstream*&,
                   unsigned& flags, int&) {
    ToggleFlag(CU_STREAM_NON_BLOCKING, flags);
  }
  void ChangeFlags(Call<&DriverApi::MemHostAlloc>, void**&, size_t&,
                   unsigned& flags) {
    ToggleFlag(CU_MEMHOSTALLOC_PORTABLE, flags);
  }
  void ToggleFlag(unsigned flag, unsigned& flags) {
    flags ^= flag;
    is_sown_ = true;
  }

  template <auto member, typename... Args>
  std::optional<CUresult> AnswerWrongly(Call<member>, Args&...) {
    return std::nullopt;
  }
  std::optional<CUresult> AnswerWrongly(Call<&DriverApi::DeviceCanAccessPeer>,
                                        int*& can, CUdevice& device,
                                        CUdevice& peer) {
    const CUresult result =
        Issue<&DriverApi::DeviceCanAccessPeer>(can, device, peer);
    *can = *can == 0 ? 1 : 0;
    is_sown_ = true;
    return result;
  }
  std::optional<CUresult> AnswerWrongly(Call<&DriverApi::PointerGetAttribute>,
                                        void*& answer,
                                        CUpointer_attribute& attribute,
                                        CUdeviceptr& address) {
    const CUresult result =
        Issue<&DriverApi::PointerGetAttribute>(answer, attribute, address);
    if (result != CUDA_SUCCESS) return result;
    is_sown_ = ChangeAnswer(account_, attribute, answer);
    return result;
  }

  // ---- Operands of neighbours.
  template <auto member, typename... Args>
  std::optional<CUresult> TakeNeighbours(Call<member> call, Args&... args) {
    is_sown_ |= TakeNeighbour(account_, call, args...);
    return std::nullopt;
  }
  // The last one that has as many parameters.
  std::optional<CUresult> TakeNeighbours(Call<&DriverApi::KernelGetFunction>,
                                         CUfunction*& function,
                                         CUkernel& kernel) {
    const std::vector<CUfunction>& functions = account_.functions;
    for (auto other = functions.rbegin(); other != functions.rend(); ++other) {
      if (account_.kernel(*other) == kernel ||
          NumParameters(account_.kernel(*other)) != NumParameters(kernel)) {
        continue;
      }
      is_sown_ = true;
      *function = *other;
      return CUDA_SUCCESS;
    }
    return std::nullopt;
  }
  std::optional<CUresult> TakeNeighbours(Call<&DriverApi::GraphAddKernelNode>,
                                         CUgraphNode*& node, CUgraph& graph,
                                         const CUgraphNode*& after,
                                         size_t& count,
                                         const CUDA_KERNEL_NODE_PARAMS*&) {
    const CUgraphNode other = account_.graphs().Last(graph, kKernelWork);
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
    const CUgraphNode other = account_.graphs().Last(graph, kCopyWork);
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

  // ---- What is given back early.
  template <auto member, typename... Args>
  void RememberEarly(Call<member>, Args...) {}
  template <auto member, typename Handle, typename... Rest>
  void RememberEarly(Call<member>, Handle* made, Rest...) {
    if constexpr (kIsGivenBack<member>) {
      const Handle handle = *made;
      early_key_ = KeyOf(handle);
      give_back_early_ = [this, handle] {
        Issue<GivesBack<member>::by>(handle);
      };
    }
  }
  void GiveBackEarly() {
    if (give_back_early_ == nullptr || !account_.has_launched() ||
        was_given_back_) {
      return;
    }
    is_sown_ = true;
    was_given_back_ = true;
    give_back_early_();
  }
  // Every kernel is launched in every step.
  template <auto member, typename... Args>
  bool UsesWhatWasGivenBack(Args&... args) const {
    if (!was_given_back_) return false;
    if (kIs<member, &DriverApi::LaunchKernel> ||
        kIs<member, &DriverApi::GraphLaunch>) {
      if (fault_->kind == CallKind::kCode) return true;
    }
    return ((KeyOf(args) == early_key_) || ...);
  }
  template <auto member, typename... Args>
  bool WasGivenBack(Args&... args) const {
    if constexpr (KindOf<member>() == CallKind::kDestroy ||
                  KindOf<member>() == CallKind::kFree) {
      return was_given_back_ && ((KeyOf(args) == early_key_) && ...);
    }
    return false;
  }

  const DriverApi& real_;
  const std::optional<SownFault> fault_;
  std::function<void()> before_waits_;
  std::function<void()> after_errors_;
  std::mutex lock_;
  std::array<int64_t, kCallKinds> counts_{};
  bool is_sown_ = false;
  std::set<CUevent> not_ready_;     // the last answer to a query
  std::vector<CUgraphNode> after_;  // of the node that is added now
  std::vector<uint64_t> values_;    // of the kernel's parameters
  std::vector<void*> pointers_;     // to them
  CUDA_KERNEL_NODE_PARAMS kernel_ = {};
  CUDA_MEMCPY3D copy_ = {};
  std::function<void()> late_;  // a call that is held back, of this thread
  std::thread::id late_thread_;
  IssuedWork::Performed late_command_;
  bool goes_early_ = false;  // what is made now
  uintptr_t early_key_ = 0;
  std::function<void()> give_back_early_;
  bool was_given_back_ = false;

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

void FaultyDriver::AfterErrors(std::function<void()> stops) {
  calls_->AfterErrors(std::move(stops));
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
