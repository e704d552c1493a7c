// A loop over blocks, turns of the threads of one, and a loop over the
// instructions of a thread.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/executor.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "testing/emulated_gpu/ptx/shared_memory.h"

namespace partita::ptx {
namespace {

constexpr int kWidestAccess = 16;  // bytes

uint64_t LowBytes(uint64_t value, int bytes) {
  return bytes >= 8 ? value : value & ((uint64_t{1} << (8 * bytes)) - 1);
}

uint64_t SignExtended(uint64_t value, int bytes) {
  const int shift = 64 - 8 * bytes;
  return static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift);
}

struct Position {
  Extents at;
  uint64_t number = 0;  // in order
};

Position PositionOf(uint64_t number, const Extents& extents) {
  return {{static_cast<uint32_t>(number % extents.x),
           static_cast<uint32_t>(number / extents.x % extents.y),
           static_cast<uint32_t>(number / extents.x / extents.y)},
          number};
}

constexpr uint32_t kWarpThreads = 32;

// What a thread brings to a shuffle.
struct Shuffled {
  uint32_t value = 0;
  uint32_t operand = 0;  // b of the PTX ISA
  uint32_t bounds = 0;   // c of the PTX ISA
  uint32_t mask = 0;     // the threads of the warp that take part
};

class Thread {
 public:
  // `left` is the number of instructions that all threads may run.
  Thread(const Kernel& kernel, Extents grid, Extents block,
         absl::Span<const uint64_t> parameters, Memory& memory,
         SharedMemory& shared, const LaunchOptions& options, uint64_t& left)
      : kernel_(kernel),
        grid_(grid),
        block_(block),
        parameters_(parameters),
        memory_(memory),
        shared_(shared),
        nan_(options.nan),
        left_(left),
        registers_(kernel.registers),
        written_(kernel.registers, false) {}

  void Start(const Position& block, const Position& thread) {
    at_block_ = block;
    at_thread_ = thread;
    // The work of a thread is that of its instructions, however many registers
    // the kernel declares.
    for (uint32_t number : to_forget_) written_[number] = false;
    to_forget_.clear();
    next_ = 0;
    done_ = false;
    waiting_ = nullptr;
  }

  // To the end, or to an instruction at which it waits.
  absl::Status Run() {
    while (!done_ && waiting_ == nullptr) {
      const Instruction& instruction = kernel_.instructions[next_++];
      if (left_-- == 0)
        return AddPosition(instruction, absl::DeadlineExceededError(
                                            "found more instructions than the "
                                            "limit; expected an end of the "
                                            "loop"));
      const absl::Status status = Step(instruction);
      if (status.ok() && fault_ == nullptr) continue;
      if (fault_ == nullptr) return AddPosition(instruction, status);
      return AddPosition(instruction,
                         absl::DataLossError(absl::StrCat(
                             "found ", std::exchange(fault_, nullptr),
                             "; expected registers written before")));
    }
    return absl::OkStatus();
  }

  bool done() const { return done_; }
  // The barrier or shuffle at which it waits; null if it does not.
  const Instruction* waiting() const { return waiting_; }
  const Shuffled& shuffled() const { return shuffled_; }
  void PassBarrier() { waiting_ = nullptr; }
  void EndShuffle(uint32_t value) {
    Write(waiting_->operands[0], value);
    waiting_ = nullptr;
  }
  // Of the instruction at which it waits, on a GPU for ever.
  absl::Status Fault(absl::string_view found,
                     absl::string_view expected) const {
    return AddPosition(
        *waiting_, absl::DeadlineExceededError(
                       absl::StrCat("found ", found, "; expected ", expected)));
  }

 private:
  absl::Status AddPosition(const Instruction& instruction,
                           const absl::Status& status) const {
    return absl::Status(
        status.code(),
        absl::StrCat("kernel ", kernel_.name, ", line ", instruction.line,
                     ", block ", at_block_.number, ", thread ",
                     at_thread_.number, ": ", instruction.form->text, ": ",
                     status.message()));
  }

  uint64_t ReadRegister(uint32_t number) {
    if (written_[number]) return registers_[number];
    fault_ = "a register that no instruction wrote";
    return 0;
  }
  uint64_t ReadSpecial(Special special) const {
    switch (special) {
      case Special::kTidX:
        return at_thread_.at.x;
      case Special::kTidY:
        return at_thread_.at.y;
      case Special::kTidZ:
        return at_thread_.at.z;
      case Special::kNtidX:
        return block_.x;
      case Special::kNtidY:
        return block_.y;
      case Special::kNtidZ:
        return block_.z;
      case Special::kCtaidX:
        return at_block_.at.x;
      case Special::kCtaidY:
        return at_block_.at.y;
      case Special::kCtaidZ:
        return at_block_.at.z;
      case Special::kNctaidX:
        return grid_.x;
      case Special::kNctaidY:
        return grid_.y;
      case Special::kNctaidZ:
        break;
    }
    return grid_.z;
  }
  uint64_t Read(const Operand& operand) {
    switch (operand.kind) {
      case Operand::Kind::kRegister:
        return ReadRegister(operand.index);
      case Operand::Kind::kImmediate:
        return operand.bits;
      case Operand::Kind::kSpecial:
        return ReadSpecial(static_cast<Special>(operand.index));
      default:
        return 0;
    }
  }
  void Write(const Operand& operand, uint64_t value) {
    registers_[operand.index] = value;
    if (written_[operand.index]) return;
    written_[operand.index] = true;
    to_forget_.push_back(operand.index);
  }
  // The bytes of a wider register are filled with the value's sign, or with 0.
  void WriteWider(const Operand& operand, uint64_t value, Type type) {
    const int held = static_cast<int>(operand.bits);
    if (IsSigned(type) && held > BytesOf(type)) {
      value = LowBytes(SignExtended(value, BytesOf(type)), held);
    }
    Write(operand, value);
  }

  absl::Status Step(const Instruction& instruction) {
    if (instruction.guard != Operand::kNoRegister &&
        (ReadRegister(instruction.guard) != 0) == instruction.guard_negated) {
      return absl::OkStatus();
    }
    const Form& form = *instruction.form;
    const auto& operands = instruction.operands;
    switch (form.action) {
      case Action::kCompute:
        Compute(form, operands);
        return absl::OkStatus();
      case Action::kSelect:
        Write(operands[0],
              Read(operands[3]) != 0 ? Read(operands[1]) : Read(operands[2]));
        return absl::OkStatus();
      case Action::kPack:
        Write(operands[0], Read(operands[1]) | Read(operands[2])
                                                   << (4 * BytesOf(form.type)));
        return absl::OkStatus();
      case Action::kUnpack: {
        const uint64_t whole = Read(operands[2]);
        const int half = BytesOf(form.type) / 2;
        Write(operands[0], LowBytes(whole, half));
        Write(operands[1], whole >> (8 * half));
        return absl::OkStatus();
      }
      case Action::kLoadParameter:
        Write(operands[0],
              LowBytes(parameters_[operands[1].index] >> (8 * operands[1].bits),
                       BytesOf(form.type)));
        return absl::OkStatus();
      case Action::kLoad:
        return Load(instruction, memory_);
      case Action::kStore:
        return Store(instruction, memory_);
      case Action::kLoadShared:
        return Load(instruction, shared_);
      case Action::kStoreShared:
        return Store(instruction, shared_);
      case Action::kBarrier:
        waiting_ = &instruction;
        return CheckBarrier(Read(operands[0]));
      case Action::kShuffle:
        waiting_ = &instruction;
        shuffled_ = {static_cast<uint32_t>(Read(operands[1])),
                     static_cast<uint32_t>(Read(operands[2])),
                     static_cast<uint32_t>(Read(operands[3])),
                     static_cast<uint32_t>(Read(operands[4]))};
        return absl::OkStatus();
      case Action::kBranch:
        next_ = instruction.target;
        return absl::OkStatus();
      case Action::kReturn:
        break;
    }
    done_ = true;
    return absl::OkStatus();
  }

  static absl::Status CheckBarrier(uint64_t number) {
    if (number == 0) return absl::OkStatus();
    return absl::UnimplementedError(
        absl::StrCat("found barrier ", number, "; expected barrier 0"));
  }

  using Operands = std::array<Operand, kMostOperands>;

  void Compute(const Form& form, const Operands& operands) {
    uint64_t in[3] = {};
    for (size_t i = 1; i < form.signature.size(); ++i) {
      in[i - 1] =
          LowBytes(Read(operands[i]),
                   BytesOf(form.signature[i] == 'i' ? Type::kU32 : form.from));
    }
    const uint64_t value = form.evaluate(nan_, in[0], in[1], in[2]);
    if (form.signature == "df") {
      WriteWider(operands[0], value, form.type);
    } else {
      Write(operands[0], value);
    }
  }

  absl::Status Locate(const Instruction& instruction, const Operand& operand,
                      Access& access) {
    access = {
        .address = (operand.index == Operand::kNoRegister
                        ? 0
                        : ReadRegister(operand.index)) +
                   operand.bits,
        .bytes = BytesOf(instruction.form->type) * instruction.form->vector,
        .block = at_block_.number,
        .thread = static_cast<uint32_t>(at_thread_.number),
        .line = instruction.line};
    if (fault_ == nullptr && access.address % access.bytes != 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          "found the address ", absl::Hex(access.address), " of ", access.bytes,
          " bytes; expected a multiple of their number"));
    }
    return absl::OkStatus();
  }
  absl::Status Load(const Instruction& instruction, Memory& memory) {
    const Form& form = *instruction.form;
    Access access;
    PARTITA_RETURN_IF_ERROR(
        Locate(instruction, instruction.operands[form.vector], access));
    if (fault_ != nullptr) return absl::OkStatus();
    std::byte bytes[kWidestAccess];
    PARTITA_RETURN_IF_ERROR(memory.Read(access, bytes));
    const int size = BytesOf(form.type);
    for (int i = 0; i < form.vector; ++i) {
      uint64_t value = 0;
      std::memcpy(&value, bytes + i * size, size);
      WriteWider(instruction.operands[i], value, form.type);
    }
    return absl::OkStatus();
  }
  absl::Status Store(const Instruction& instruction, Memory& memory) {
    const Form& form = *instruction.form;
    Access access;
    PARTITA_RETURN_IF_ERROR(
        Locate(instruction, instruction.operands[0], access));
    std::byte bytes[kWidestAccess];
    const int size = BytesOf(form.type);
    for (int i = 0; i < form.vector; ++i) {
      const uint64_t value = Read(instruction.operands[1 + i]);
      std::memcpy(bytes + i * size, &value, size);
    }
    if (fault_ != nullptr) return absl::OkStatus();
    return memory.Write(access, bytes);
  }

  const Kernel& kernel_;
  const Extents grid_;
  const Extents block_;
  const absl::Span<const uint64_t> parameters_;
  Memory& memory_;
  SharedMemory& shared_;
  const NanRules nan_;
  uint64_t& left_;  // instructions, of all threads
  Position at_block_;
  Position at_thread_;
  std::vector<uint64_t> registers_;
  std::vector<bool> written_;        // by this thread
  std::vector<uint32_t> to_forget_;  // the written ones
  size_t next_ = 0;
  bool done_ = false;
  const Instruction* waiting_ = nullptr;
  Shuffled shuffled_;
  const char* fault_ = nullptr;  // of the instruction that runs
};

// The thread of the warp whose value `lane` gets. PTX ISA, shfl.sync.
uint32_t SourceOf(ShuffleMode mode, uint32_t lane, const Shuffled& shuffled) {
  constexpr uint32_t kLanes = kWarpThreads - 1;
  const uint32_t operand = shuffled.operand & kLanes;
  const uint32_t segment = shuffled.bounds >> 8 & kLanes;
  const uint32_t most =
      (lane & segment) | (shuffled.bounds & kLanes & ~segment);
  switch (mode) {
    case ShuffleMode::kUp: {
      // `most` is the least one here.
      const bool is_inside = lane >= operand && lane - operand >= most;
      return is_inside ? lane - operand : lane;
    }
    case ShuffleMode::kDown:
      return lane + operand <= most ? lane + operand : lane;
    case ShuffleMode::kButterfly:
      return (lane ^ operand) <= most ? lane ^ operand : lane;
    case ShuffleMode::kIndex:
      break;
  }
  const uint32_t source = (lane & segment) | (operand & ~segment);
  return source <= most ? source : lane;
}

// The numbers below `count`, ascending or in an order drawn from `random`.
class Order {
 public:
  Order(uint64_t count, std::mt19937_64* random) : count_(count) {
    if (random == nullptr) return;
    drawn_.resize(count);
    std::iota(drawn_.begin(), drawn_.end(), 0u);
    std::shuffle(drawn_.begin(), drawn_.end(), *random);
  }
  uint64_t size() const { return count_; }
  uint64_t operator[](uint64_t i) const {
    return drawn_.empty() ? i : drawn_[i];
  }

 private:
  const uint64_t count_;
  std::vector<uint32_t> drawn_;  // empty: ascending
};

// The threads of a block, as far as each one runs alone.
class Block {
 public:
  Block(const Kernel& kernel, Extents grid, Extents block,
        absl::Span<const uint64_t> parameters, Memory& memory,
        const LaunchOptions& options)
      : extents_(block),
        shared_(kernel.shared),
        left_(options.most_instructions) {
    // Threads that never wait for each other need the registers of one.
    const uint64_t count = kernel.synchronizes ? block.count() : 1;
    threads_.reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      threads_.emplace_back(kernel, grid, block, parameters, memory, shared_,
                            options, left_);
    }
  }

  // The block at `at`, with its threads in this order.
  absl::Status Run(const Position& at, const Order& order) {
    shared_.BeginBlock();
    if (threads_.size() == 1) return RunApart(at, order);
    for (uint64_t i = 0; i < order.size(); ++i) {
      threads_[order[i]].Start(at, PositionOf(order[i], extents_));
    }
    while (true) {
      for (uint64_t i = 0; i < order.size(); ++i) {
        PARTITA_RETURN_IF_ERROR(threads_[order[i]].Run());
      }
      bool is_shuffled = false;
      for (size_t first = 0; first < threads_.size(); first += kWarpThreads) {
        PARTITA_RETURN_IF_ERROR(Shuffle(Warp(first), is_shuffled));
      }
      if (is_shuffled) continue;
      const Thread* waits = FirstThatWaits();
      if (waits == nullptr) return absl::OkStatus();
      PARTITA_RETURN_IF_ERROR(PassBarrier(*waits));
    }
  }

 private:
  // One thread after another.
  absl::Status RunApart(const Position& at, const Order& order) {
    for (uint64_t i = 0; i < order.size(); ++i) {
      threads_[0].Start(at, PositionOf(order[i], extents_));
      do {
        PARTITA_RETURN_IF_ERROR(threads_[0].Run());
        // A block of one thread may have barriers.
        if (threads_[0].waiting() == nullptr) break;
        bool is_shuffled = false;
        PARTITA_RETURN_IF_ERROR(Shuffle(absl::MakeSpan(threads_), is_shuffled));
        if (!is_shuffled) PARTITA_RETURN_IF_ERROR(PassBarrier(threads_[0]));
      } while (true);
    }
    return absl::OkStatus();
  }

  absl::Span<Thread> Warp(size_t first) {
    return absl::MakeSpan(threads_).subspan(first, kWarpThreads);
  }
  static bool IsAt(const Thread& thread, Action action) {
    return thread.waiting() != nullptr &&
           thread.waiting()->form->action == action;
  }
  const Thread* FirstThatWaits() const {
    for (const Thread& thread : threads_) {
      if (thread.waiting() != nullptr) return &thread;
    }
    return nullptr;
  }

  // Lets threads of a warp pass the shuffle at which all that it names wait.
  // Others may wait at another one, whose threads these are not.
  static absl::Status Shuffle(absl::Span<Thread> warp, bool& is_shuffled) {
    for (size_t lane = 0; lane < warp.size(); ++lane) {
      if (!IsAt(warp[lane], Action::kShuffle)) continue;
      return ShuffleAs(warp, static_cast<uint32_t>(lane), is_shuffled);
    }
    return absl::OkStatus();
  }
  static absl::Status ShuffleAs(absl::Span<Thread> warp, uint32_t leader,
                                bool& is_shuffled) {
    const Instruction* instruction = warp[leader].waiting();
    const uint32_t mask = warp[leader].shuffled().mask;
    const auto takes_part = [&](uint32_t lane) {
      return lane < warp.size() && (mask >> lane & 1) != 0;
    };
    for (uint32_t lane = 0; lane < kWarpThreads; ++lane) {
      const bool is_there = takes_part(lane);
      if (is_there && warp[lane].waiting() == instruction &&
          warp[lane].shuffled().mask == mask) {
        continue;
      }
      if ((mask >> lane & 1) == 0 && lane != leader) continue;
      return warp[leader].Fault(
          absl::StrCat("no thread ", lane,
                       " of the warp at this shuffle, of mask ",
                       absl::Hex(mask)),
          "all threads of the mask, the own one among them");
    }
    std::vector<uint32_t> values(warp.size());
    for (uint32_t lane = 0; lane < warp.size(); ++lane) {
      if (!takes_part(lane)) continue;
      const uint32_t source =
          SourceOf(instruction->form->shuffle, lane, warp[lane].shuffled());
      if (!takes_part(source)) {
        return warp[lane].Fault(
            absl::StrCat("a value of thread ", source, " of the warp"),
            "one of a thread of the mask");
      }
      values[lane] = warp[source].shuffled().value;
    }
    for (uint32_t lane = 0; lane < warp.size(); ++lane) {
      if (takes_part(lane)) warp[lane].EndShuffle(values[lane]);
    }
    is_shuffled = true;
    return absl::OkStatus();
  }

  // All threads wait or have ended; `first` waits.
  absl::Status PassBarrier(const Thread& first) {
    for (const Thread& thread : threads_) {
      if (thread.waiting() == first.waiting()) continue;
      return first.Fault(thread.done()
                             ? "a thread of the block that has ended"
                             : absl::StrCat("a thread of the block at line ",
                                            thread.waiting()->line),
                         "all threads of the block at the same barrier");
    }
    for (Thread& thread : threads_) thread.PassBarrier();
    shared_.PassBarrier();
    return absl::OkStatus();
  }

  const Extents extents_;
  SharedMemory shared_;
  uint64_t left_;  // instructions, of all threads
  std::vector<Thread> threads_;
};

absl::Status Bad(const Kernel& kernel, absl::string_view found,
                 absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(
      "kernel ", kernel.name, ": found ", found, "; expected ", expected));
}

absl::Status CheckLaunch(const Kernel& kernel, Extents grid, Extents block,
                         size_t parameters, uint64_t most_instructions) {
  // What a driver takes; so the products of the extents do not overflow.
  constexpr uint32_t kMostRows = 65535;
  constexpr uint32_t kMostPlanes = 64;
  constexpr uint64_t kMostBlocks = (uint64_t{1} << 31) - 1;
  // What the interpreter keeps at once.
  constexpr uint64_t kMostBlockRegisters = uint64_t{1} << 22;
  if (grid.y > kMostRows || grid.z > kMostRows || block.z > kMostPlanes) {
    return Bad(kernel,
               absl::StrCat("a grid of ", grid.y, " rows and ", grid.z,
                            " planes, a block of ", block.z, " planes"),
               absl::StrCat("at most ", kMostRows, ", ", kMostRows, " and ",
                            kMostPlanes));
  }
  if (grid.count() == 0 || grid.count() > kMostBlocks) {
    return Bad(kernel, absl::StrCat(grid.count(), " blocks"),
               absl::StrCat("1 to ", kMostBlocks));
  }
  if (block.x > kernel.most_threads || block.y > kernel.most_threads ||
      block.count() == 0 || block.count() > kernel.most_threads) {
    return Bad(kernel, absl::StrCat(block.count(), " threads of a block"),
               absl::StrCat("1 to ", kernel.most_threads));
  }
  if (kernel.needs_most_threads && block.count() != kernel.most_threads) {
    return Bad(kernel, absl::StrCat(block.count(), " threads of a block"),
               absl::StrCat(kernel.most_threads));
  }
  if (grid.count() > most_instructions / block.count()) {
    return Bad(kernel, absl::StrCat(grid.count() * block.count(), " threads"),
               absl::StrCat("at most as many as instructions may run, ",
                            most_instructions));
  }
  if (kernel.synchronizes &&
      kernel.registers > kMostBlockRegisters / block.count()) {
    return Bad(kernel,
               absl::StrCat(kernel.registers, " registers of each of ",
                            block.count(), " threads that wait for each other"),
               absl::StrCat("at most ", kMostBlockRegisters, " of a block"));
  }
  if (parameters == kernel.parameters.size()) return absl::OkStatus();
  return Bad(kernel, absl::StrCat(parameters, " values of parameters"),
             absl::StrCat(kernel.parameters.size()));
}

}  // namespace

absl::Status Launch(const Kernel& kernel, Extents grid, Extents block,
                    absl::Span<const uint64_t> parameters, Memory& memory,
                    const LaunchOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckLaunch(kernel, grid, block, parameters.size(),
                                      options.most_instructions));
  std::mt19937_64 random(options.seed);
  std::mt19937_64* drawn = options.seed == 0 ? nullptr : &random;
  Block threads(kernel, grid, block, parameters, memory, options);
  const Order blocks(grid.count(), drawn);
  for (uint64_t i = 0; i < blocks.size(); ++i) {
    PARTITA_RETURN_IF_ERROR(
        threads.Run(PositionOf(blocks[i], grid), Order(block.count(), drawn)));
  }
  return absl::OkStatus();
}

}  // namespace partita::ptx
