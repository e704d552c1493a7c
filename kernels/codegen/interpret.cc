// One element at a time, one instruction at a time.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/interpret.h"

#include "kernels/codegen/interpret_instruction.h"
#include "kernels/codegen/memory_element.h"

namespace partita {
namespace {

// Of the element `index` of the loops, in order.
int64_t OffsetOf(const std::vector<int64_t>& loops,
                 const std::vector<int64_t>& strides, int64_t index) {
  int64_t offset = 0;
  for (size_t loop = loops.size(); loop-- > 0;) {
    offset += index % loops[loop] * strides[loop];
    index /= loops[loop];
  }
  return offset;
}

// One row at a time.
class RowInterpreter {
 public:
  RowInterpreter(const RowProgram& program, void* const* operands,
                 void* const* results)
      : program_(program),
        length_(RowLength(program)),
        operands_(operands),
        results_(results) {
    for (const ProgramOperand& operand : program.operands) {
      row_strides_.push_back(RowStrides(program, operand));
      column_strides_.push_back(ColumnStrides(program, operand));
    }
  }

  void Row(int64_t row) {
    row_ = row;
    scalars_.clear();
    for (const RowPhase& phase : program_.phases) {
      Reduce(phase);
      InterpretElement(phase.scalars, /*index=*/0);
      for (int32_t result : phase.scalars.results) {
        scalars_.push_back(registers_[result]);
      }
    }
    for (int64_t i = 0; i < length_; ++i) StoreElement(i);
    StoreRow();
  }

 private:
  void InterpretElement(const ProgramBody& body, int64_t index) {
    InterpretBody(
        body, [&](int number) { return Load(number, index); }, registers_);
  }
  uint64_t Load(int number, int64_t index) const {
    const size_t scalar = static_cast<size_t>(number);
    if (scalar >= program_.operands.size()) {
      return scalars_[scalar - program_.operands.size()];
    }
    const ProgramOperand& operand = program_.operands[number];
    const int64_t offset =
        OffsetOf(program_.rows, row_strides_[number], row_) +
        OffsetOf(program_.columns, column_strides_[number], index);
    return ReadElement(operand.type, operands_[number], offset);
  }

  void Reduce(const RowPhase& phase) {
    const size_t reductions = phase.combiners.size();
    const size_t count = static_cast<size_t>(NumAccumulators(length_));
    std::vector<std::vector<uint64_t>> accumulators;
    std::vector<ProgramBody> combine;
    for (size_t r = 0; r < reductions; ++r) {
      const ScalarType type =
          phase.elements.instructions[phase.elements.results[r]].type;
      accumulators.emplace_back(count, StartBits(phase.combiners[r], type));
      combine.push_back(BodyOf(phase.combiners[r], type));
    }
    for (int64_t i = 0; i < length_; ++i) {
      InterpretElement(phase.elements, i);
      for (size_t r = 0; r < reductions; ++r) {
        uint64_t& total = accumulators[r][static_cast<size_t>(i) % count];
        total =
            Combined(combine[r], total, registers_[phase.elements.results[r]]);
      }
    }
    for (size_t r = 0; r < reductions; ++r) {
      scalars_.push_back(Joined(combine[r], accumulators[r]));
    }
  }
  uint64_t Combined(const ProgramBody& combine, uint64_t a, uint64_t b) {
    InterpretBody(
        combine, [&](int number) { return number == 0 ? a : b; }, combined_);
    return combined_[combine.results[0]];
  }
  uint64_t Joined(const ProgramBody& combine, std::vector<uint64_t>& values) {
    while (values.size() > 1) {
      for (size_t k = 0; 2 * k < values.size(); ++k) {
        values[k] = Combined(combine, values[2 * k], values[2 * k + 1]);
      }
      values.resize(values.size() / 2);
    }
    return values[0];
  }

  void StoreElement(int64_t index) {
    const ProgramBody& body = program_.elements;
    InterpretElement(body, index);
    for (size_t i = 0; i < body.results.size(); ++i) {
      const int32_t from = body.results[i];
      WriteElement(body.instructions[from].type, results_[i],
                   row_ * length_ + index, registers_[from]);
    }
  }
  void StoreRow() const {
    const std::vector<ScalarType> types = ResultTypes(program_);
    const size_t first = program_.elements.results.size();
    for (size_t i = first; i < types.size(); ++i) {
      WriteElement(types[i], results_[i], row_,
                   scalars_[program_.row_results[i - first]]);
    }
  }

  const RowProgram& program_;
  const int64_t length_;
  void* const* operands_;
  void* const* results_;
  std::vector<std::vector<int64_t>> row_strides_;     // by operand
  std::vector<std::vector<int64_t>> column_strides_;  // by operand
  int64_t row_ = 0;
  std::vector<uint64_t> scalars_;
  std::vector<uint64_t> registers_;  // of a body
  std::vector<uint64_t> combined_;   // of a combiner's
};

}  // namespace

void Interpret(const ElementwiseProgram& program, void* const* operands,
               void* const* results, int64_t begin, int64_t end,
               std::vector<uint64_t>& registers) {
  for (int64_t index = begin; index < end; ++index) {
    InterpretBody(
        program,
        [&](int number) {
          const ProgramOperand& operand = program.operands[number];
          return ReadElement(operand.type, operands[number],
                             OffsetOf(program.loops, operand.strides, index));
        },
        registers);
    for (size_t i = 0; i < program.results.size(); ++i) {
      const int32_t from = program.results[i];
      WriteElement(program.instructions[from].type, results[i], index,
                   registers[from]);
    }
  }
}

void InterpretRows(const RowProgram& program, void* const* operands,
                   void* const* results, int64_t begin, int64_t end) {
  RowInterpreter interpreter(program, operands, results);
  for (int64_t row = begin; row < end; ++row) interpreter.Row(row);
}

}  // namespace partita
