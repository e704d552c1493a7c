// Index arithmetic, and accesses of groups and of single elements.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/gpu_function.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen/instruction_emitter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace partita {
namespace {

constexpr unsigned kGlobal = 1;  // the address space of the device's memory

class GpuFunction {
 public:
  GpuFunction(const ElementwiseProgram& program, llvm::Module& module)
      : program_(program),
        count_(NumElements(program)),
        group_(GroupElements(program)),
        ir_(module.getContext()),
        emitter_(ir_, /*lanes=*/1) {
    const size_t parameters = program.operands.size() + program.results.size();
    function_ = llvm::Function::Create(
        llvm::FunctionType::get(
            ir_.getVoidTy(),
            std::vector<llvm::Type*>(parameters, ir_.getPtrTy()), false),
        llvm::Function::ExternalLinkage, program.name, module);
    function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    LimitThreads(module);
    index_type_ = CountsIn32Bits() ? ir_.getInt32Ty() : ir_.getInt64Ty();
  }

  void Emit() {
    llvm::BasicBlock* entry = Block("entry");
    llvm::BasicBlock* groups = Block("groups");
    llvm::BasicBlock* elements = Block("elements");
    llvm::BasicBlock* done = Block("done");
    ir_.SetInsertPoint(entry);
    ReadParameters();
    const int64_t whole = count_ / group_;
    if (group_ == 1 || whole == 0) {
      ir_.CreateBr(elements);
      groups->eraseFromParent();
      ir_.SetInsertPoint(elements);
      EmitLoop(Index(0), count_, /*lanes=*/1, done);
    } else {
      ir_.CreateCondBr(EveryGroupIsAligned(), groups, elements);
      ir_.SetInsertPoint(groups);
      llvm::BasicBlock* rest = Block("rest");
      EmitLoop(Index(0), whole, group_, rest);
      ir_.SetInsertPoint(rest);
      ir_.CreateBr(whole * group_ == count_ ? done : elements);
      ir_.SetInsertPoint(elements);
      llvm::PHINode* first = ir_.CreatePHI(index_type_, 2, "first");
      first->addIncoming(Index(0), entry);
      if (whole * group_ != count_) {
        first->addIncoming(Index(whole * group_), rest);
      }
      EmitLoop(first, count_, /*lanes=*/1, done);
    }
    ir_.SetInsertPoint(done);
    ir_.CreateRetVoid();
  }

 private:
  llvm::BasicBlock* Block(const char* name) {
    return llvm::BasicBlock::Create(ir_.getContext(), name, function_);
  }
  llvm::Value* Index(int64_t value) {
    return llvm::ConstantInt::get(index_type_, value);
  }
  ScalarType ResultType(size_t result) const {
    return program_.instructions[program_.results[result]].type;
  }

  void LimitThreads(llvm::Module& module) {
    llvm::LLVMContext& context = module.getContext();
    module.getOrInsertNamedMetadata("nvvm.annotations")
        ->addOperand(llvm::MDNode::get(
            context,
            {llvm::ValueAsMetadata::get(function_),
             llvm::MDString::get(context, "maxntidx"),
             llvm::ConstantAsMetadata::get(ir_.getInt32(kGpuBlockThreads))}));
  }

  // Division of 64 bits takes several times as long. Indices and offsets stay
  // below kMostGpuThreads, so that a step further does not wrap.
  bool CountsIn32Bits() const {
    const auto is_near = [](int64_t offset) {
      return offset <= kMostGpuThreads;
    };
    return is_near(count_) &&
           std::all_of(program_.operands.begin(), program_.operands.end(),
                       [&](const ProgramOperand& operand) {
                         return is_near(FurthestOffset(operand));
                       });
  }
  int64_t FurthestOffset(const ProgramOperand& operand) const {
    int64_t offset = 0;
    for (size_t loop = 0; loop < program_.loops.size(); ++loop) {
      offset += (program_.loops[loop] - 1) * operand.strides[loop];
    }
    return offset;
  }

  void ReadParameters() {
    for (llvm::Argument& argument : function_->args()) {
      llvm::Value* address = ir_.CreateAddrSpaceCast(
          &argument, llvm::PointerType::get(ir_.getContext(), kGlobal));
      (argument.getArgNo() < program_.operands.size() ? operands_ : results_)
          .push_back(address);
    }
    const auto special = [&](llvm::Intrinsic::ID id) {
      llvm::Value* value = ir_.CreateIntrinsic(id, {}, {});
      return ir_.CreateZExt(value, index_type_);
    };
    llvm::Value* threads = special(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
    llvm::Value* block = special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
    llvm::Value* thread = special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
    llvm::Value* blocks = special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
    thread_ = ir_.CreateAdd(ir_.CreateMul(block, threads), thread);
    threads_ = ir_.CreateMul(blocks, threads);
  }

  // True if the addresses of all accesses of kNeighbours are multiples of their
  // sizes.
  llvm::Value* EveryGroupIsAligned() {
    llvm::Value* beyond = ir_.getInt64(0);
    const auto add = [&](llvm::Value* address, ScalarType type) {
      llvm::Value* bits = ir_.CreatePtrToInt(address, ir_.getInt64Ty());
      beyond = ir_.CreateOr(
          beyond,
          ir_.CreateAnd(bits, ir_.getInt64(group_ * BytesOf(type) - 1)));
    };
    for (size_t i = 0; i < operands_.size(); ++i) {
      const ProgramOperand& operand = program_.operands[i];
      if (GroupAccessOf(program_, operand, group_) ==
          GroupAccess::kNeighbours) {
        add(operands_[i], operand.type);
      }
    }
    for (size_t i = 0; i < results_.size(); ++i)
      add(results_[i], ResultType(i));
    return ir_.CreateICmpEQ(beyond, ir_.getInt64(0));
  }

  // for (i = first + thread; i < end; i += threads) compute the `lanes`
  // elements from i * lanes on; then a branch to `next`.
  void EmitLoop(llvm::Value* first, int64_t end, int lanes,
                llvm::BasicBlock* next) {
    llvm::Value* begin = ir_.CreateAdd(first, thread_);
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    llvm::BasicBlock* loop = Block("loop");
    ir_.CreateCondBr(ir_.CreateICmpULT(begin, Index(end)), loop, next);
    ir_.SetInsertPoint(loop);
    llvm::PHINode* i = ir_.CreatePHI(index_type_, 2, "i");
    i->addIncoming(begin, before);
    EmitElements(ir_.CreateMul(i, Index(lanes)), lanes);
    llvm::Value* after = ir_.CreateAdd(i, threads_);
    i->addIncoming(after, loop);
    ir_.CreateCondBr(ir_.CreateICmpULT(after, Index(end)), loop, next);
  }

  void EmitElements(llvm::Value* index, int lanes) {
    const std::vector<llvm::Value*> coordinates = Coordinates(index);
    // By operand, then by lane.
    std::vector<std::vector<llvm::Value*>> loaded;
    for (size_t i = 0; i < operands_.size(); ++i) {
      loaded.push_back(LoadLanes(i, index, coordinates, lanes));
    }
    // By result, then by lane.
    std::vector<std::vector<llvm::Value*>> computed(results_.size());
    for (int lane = 0; lane < lanes; ++lane) {
      const std::vector<llvm::Value*> values =
          emitter_.Emit(program_, [&](int operand) {
            return ToRegister(program_.operands[operand].type,
                              loaded[operand][lane]);
          });
      for (size_t i = 0; i < values.size(); ++i) {
        computed[i].push_back(ToMemory(ResultType(i), values[i]));
      }
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      Store(ResultType(i), computed[i], results_[i], index);
    }
  }

  // By loop.
  std::vector<llvm::Value*> Coordinates(llvm::Value* index) {
    std::vector<llvm::Value*> coordinates(program_.loops.size());
    for (size_t loop = coordinates.size(); loop-- > 0;) {
      llvm::Value* extent = Index(program_.loops[loop]);
      coordinates[loop] = loop == 0 ? index : ir_.CreateURem(index, extent);
      if (loop > 0) index = ir_.CreateUDiv(index, extent);
    }
    return coordinates;
  }

  bool IsDense(const ProgramOperand& operand) const {
    int64_t stride = 1;
    for (size_t loop = program_.loops.size(); loop-- > 0;) {
      if (operand.strides[loop] != stride) return false;
      stride *= program_.loops[loop];
    }
    return true;
  }

  llvm::Value* Offset(const ProgramOperand& operand, llvm::Value* index,
                      const std::vector<llvm::Value*>& coordinates) {
    if (IsDense(operand)) return index;
    llvm::Value* offset = Index(0);
    for (size_t loop = 0; loop < coordinates.size(); ++loop) {
      if (operand.strides[loop] == 0) continue;
      offset = ir_.CreateAdd(
          offset,
          ir_.CreateMul(coordinates[loop], Index(operand.strides[loop])));
    }
    return offset;
  }

  // The elements of an operand as they are in memory.
  std::vector<llvm::Value*> LoadLanes(
      size_t i, llvm::Value* index,
      const std::vector<llvm::Value*>& coordinates, int lanes) {
    const ProgramOperand& operand = program_.operands[i];
    llvm::Value* offset = Offset(operand, index, coordinates);
    const auto load = [&](llvm::Value* at) {
      return Load(operand.type, operands_[i], at, /*lanes=*/1)[0];
    };
    switch (GroupAccessOf(program_, operand, lanes)) {
      case GroupAccess::kOnce:
        return std::vector<llvm::Value*>(lanes, load(offset));
      case GroupAccess::kNeighbours:
        return Load(operand.type, operands_[i], offset, lanes);
      case GroupAccess::kEach:
        break;
    }
    std::vector<llvm::Value*> values;
    for (int lane = 0; lane < lanes; ++lane) {
      values.push_back(
          load(ir_.CreateAdd(offset, Index(lane * operand.strides.back()))));
    }
    return values;
  }

  llvm::Value* Address(ScalarType type, llvm::Value* base, llvm::Value* at) {
    return ir_.CreateGEP(emitter_.MemoryType(type), base,
                         ir_.CreateZExt(at, ir_.getInt64Ty()));
  }

  // What one access of some elements is made of: elements of four bytes and
  // more; of smaller ones, words that hold several.
  struct AccessShape {
    llvm::Type* word;  // the vector's element
    int words;
    int elements_of_word;
    llvm::Align align;
  };
  AccessShape ShapeOf(ScalarType type, int lanes) {
    const int bytes = static_cast<int>(BytesOf(type));
    const llvm::Align align(static_cast<uint64_t>(bytes) * lanes);
    if (bytes >= 4 || lanes == 1) {
      return {emitter_.MemoryType(type), lanes, 1, align};
    }
    const int word_bytes = std::min(4, bytes * lanes);
    return {ir_.getIntNTy(8 * word_bytes), bytes * lanes / word_bytes,
            word_bytes / bytes, align};
  }
  static llvm::Type* AccessType(const AccessShape& shape) {
    if (shape.words == 1) return shape.word;
    return llvm::FixedVectorType::get(shape.word, shape.words);
  }

  // `lanes` neighbouring elements in one access.
  std::vector<llvm::Value*> Load(ScalarType type, llvm::Value* base,
                                 llvm::Value* at, int lanes) {
    const AccessShape shape = ShapeOf(type, lanes);
    llvm::Value* all = ir_.CreateAlignedLoad(
        AccessType(shape), Address(type, base, at), shape.align);
    std::vector<llvm::Value*> elements;
    for (int i = 0; i < shape.words; ++i) {
      llvm::Value* word =
          shape.words == 1 ? all : ir_.CreateExtractElement(all, i);
      for (int j = 0; j < shape.elements_of_word; ++j) {
        elements.push_back(
            shape.elements_of_word == 1 ? word : FromWord(type, word, j));
      }
    }
    return elements;
  }
  // Element `j` of a word.
  llvm::Value* FromWord(ScalarType type, llvm::Value* word, int j) {
    const uint64_t shift = 8 * BytesOf(type) * j;
    return ir_.CreateTrunc(ir_.CreateLShr(word, shift),
                           emitter_.MemoryType(type));
  }

  void Store(ScalarType type, const std::vector<llvm::Value*>& elements,
             llvm::Value* base, llvm::Value* at) {
    const AccessShape shape = ShapeOf(type, static_cast<int>(elements.size()));
    llvm::Value* all = nullptr;
    for (int i = 0; i < shape.words; ++i) {
      llvm::Value* word =
          ToWord(type, shape, &elements[i * shape.elements_of_word]);
      if (shape.words == 1) {
        all = word;
      } else {
        if (all == nullptr) all = llvm::PoisonValue::get(AccessType(shape));
        all = ir_.CreateInsertElement(all, word, i);
      }
    }
    ir_.CreateAlignedStore(all, Address(type, base, at), shape.align);
  }
  // One word of an access, from its elements.
  llvm::Value* ToWord(ScalarType type, const AccessShape& shape,
                      llvm::Value* const* elements) {
    if (shape.elements_of_word == 1) return elements[0];
    llvm::Value* word = nullptr;
    for (int j = 0; j < shape.elements_of_word; ++j) {
      llvm::Value* element = ir_.CreateShl(
          ir_.CreateZExt(elements[j], shape.word), 8 * BytesOf(type) * j);
      word = word == nullptr ? element : ir_.CreateOr(word, element);
    }
    return word;
  }

  llvm::Value* ToRegister(ScalarType type, llvm::Value* memory) {
    if (type != ScalarType::kBool) return memory;
    return ir_.CreateICmpNE(memory, ir_.getInt8(0));
  }
  llvm::Value* ToMemory(ScalarType type, llvm::Value* value) {
    if (type != ScalarType::kBool) return value;
    return ir_.CreateZExt(value, ir_.getInt8Ty());
  }

  const ElementwiseProgram& program_;
  const int64_t count_;
  const int group_;
  llvm::IRBuilder<> ir_;
  InstructionEmitter emitter_;
  llvm::Function* function_ = nullptr;
  llvm::Type* index_type_ = nullptr;
  llvm::Value* thread_ = nullptr;   // the number of this thread in the launch
  llvm::Value* threads_ = nullptr;  // of the launch
  std::vector<llvm::Value*> operands_;
  std::vector<llvm::Value*> results_;
};

}  // namespace

void AddGpuFunction(const ElementwiseProgram& program, llvm::Module& module) {
  GpuFunction(program, module).Emit();
}

}  // namespace partita
