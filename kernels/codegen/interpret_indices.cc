// One point at a time, one instruction at a time.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/codegen/interpret.h"
#include "kernels/codegen/interpret_instruction.h"
#include "kernels/codegen/memory_element.h"

namespace partita {
namespace {

class IndexInterpreter {
 public:
  IndexInterpreter(const IndexProgram& program, void* const* operands,
                   void* const* results)
      : program_(program),
        operands_(operands),
        results_(results),
        coordinates_(TermLoop(program) + 1) {}

  void Point(int64_t point) {
    SetCoordinates(program_.loops, /*first=*/0, point);
    Compute(program_.first);
    KeepState(program_.first);
    for (int64_t step = 0; step < NumSteps(program_); ++step) {
      SetCoordinates(program_.steps, program_.loops.size(), step);
      AddSums();
      Compute(program_.step);
      KeepState(program_.step);
    }
    Compute(program_.last);
    for (size_t i = 0; i < program_.last.results.size(); ++i) {
      WriteElement(ResultType(program_, i), results_[i], point,
                   registers_[program_.last.results[i]]);
    }
  }

 private:
  void SetCoordinates(const std::vector<int64_t>& loops, size_t first,
                      int64_t index) {
    for (size_t loop = loops.size(); loop-- > 0;) {
      coordinates_[first + loop] = index % loops[loop];
      index /= loops[loop];
    }
  }

  void KeepState(const ProgramBody& body) {
    state_.clear();
    for (int32_t result : body.results) state_.push_back(registers_[result]);
  }

  // Behind the state.
  void AddSums() {
    std::vector<uint64_t> all = state_;
    for (const StepSum& sum : program_.sums) {
      state_ = {0};
      for (int64_t term = 0; term < sum.terms; ++term) {
        coordinates_.back() = term;
        Compute(sum.body);
        KeepState(sum.body);
      }
      all.push_back(state_[0]);
    }
    state_ = std::move(all);
  }

  void Compute(const ProgramBody& body) {
    registers_.resize(body.instructions.size());
    for (size_t at = 0; at < registers_.size(); ++at) {
      registers_[at] = ValueOf(body, body.instructions[at]);
    }
  }

  uint64_t ValueOf(const ProgramBody& body, const Instruction& i) const {
    const auto value = [&](int32_t id) { return id < 0 ? 0 : registers_[id]; };
    switch (i.op) {
      case Opcode::kLoad:
        return state_[i.bits];
      case Opcode::kCoordinate:
        return static_cast<uint64_t>(coordinates_[i.bits]);
      case Opcode::kElement:
        return i.b >= 0 && (registers_[i.b] & 1) == 0
                   ? 0
                   : ReadElement(i.type, operands_[i.bits], Offset(i));
      default: {
        const ScalarType from = i.a < 0 ? i.type : body.instructions[i.a].type;
        return ComputeInstruction(i, from, value(i.a), value(i.b), value(i.c));
      }
    }
  }

  int64_t Offset(const Instruction& element) const {
    const uint64_t bits = registers_[element.a];
    return program_.index == ScalarType::kI32 ? static_cast<int32_t>(bits)
                                              : static_cast<int64_t>(bits);
  }

  const IndexProgram& program_;
  void* const* operands_;
  void* const* results_;
  std::vector<int64_t> coordinates_;  // of loops, steps, and a term
  std::vector<uint64_t> state_;
  std::vector<uint64_t> registers_;  // of a body
};

}  // namespace

void InterpretIndices(const IndexProgram& program, void* const* operands,
                      void* const* results, int64_t begin, int64_t end) {
  IndexInterpreter interpreter(program, operands, results);
  for (int64_t point = begin; point < end; ++point) interpreter.Point(point);
}

void InterpretIndices(const JoinedProgram& program, void* const* operands,
                      void* const* results, int64_t begin, int64_t end) {
  for (const IndexProgram& part : program.parts) {
    const int64_t points = NumPoints(part);
    InterpretIndices(part, operands, results, std::max<int64_t>(begin, 0),
                     std::min(end, points));
    results += part.last.results.size();
    begin -= points;
    end -= points;
  }
}

}  // namespace partita
