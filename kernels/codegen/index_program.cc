// Counts, and what instructions depend on.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/index_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <vector>

namespace partita {
namespace {

int64_t Extents(const std::vector<int64_t>& extents) {
  int64_t product = 1;
  for (int64_t extent : extents) product *= extent;
  return product;
}

// Of a constant index.
int64_t ValueOf(const Instruction& constant) {
  return constant.type == ScalarType::kI32
             ? static_cast<int32_t>(constant.bits)
             : static_cast<int64_t>(constant.bits);
}

// A divisor of the number; 2^62 of the one whose magnitude has no int64_t.
int64_t DivisorOf(int64_t value) {
  return value == std::numeric_limits<int64_t>::min() ? int64_t{1} << 62
                                                      : std::abs(value);
}

// The slope of a sum that leaves 64 bits is not known.
IndexSlope SlopeOfSum(const IndexSlope& a, const IndexSlope& b, int sign) {
  int64_t addend, slope;
  if (!a.known || !b.known || __builtin_mul_overflow(sign, b.slope, &addend) ||
      __builtin_add_overflow(a.slope, addend, &slope)) {
    return {};
  }
  return {true, slope, std::gcd(a.divisor, b.divisor)};
}

// A product of two coordinates has no slope, but one with a constant does.
IndexSlope SlopeOfProduct(const IndexSlope& a, const IndexSlope& b,
                          const Instruction& factor) {
  if (!a.known || !b.known) return {};
  if (factor.op != Opcode::kConstant) {
    return {a.slope == 0 && b.slope == 0, 0, 1};
  }
  const int64_t value = ValueOf(factor);
  int64_t slope, divisor;
  if (__builtin_mul_overflow(a.slope, value, &slope)) return {};
  // Each factor divides the product.
  if (__builtin_mul_overflow(a.divisor, DivisorOf(value), &divisor)) {
    divisor = a.divisor;
  }
  return {true, slope, divisor};
}

IndexSlope SlopeOf(const Instruction& i, const ProgramBody& body,
                   const std::vector<IndexSlope>& slopes, int loop,
                   int64_t group) {
  const auto is_same = [&](int32_t id) {
    return id < 0 || (slopes[id].known && slopes[id].slope == 0);
  };
  switch (i.op) {
    case Opcode::kConstant:
      return {true, 0, DivisorOf(ValueOf(i))};
    case Opcode::kCoordinate:
      if (static_cast<int>(i.bits) != loop) return {true, 0, 1};
      return {true, 1, group};
    case Opcode::kAdd:
      return SlopeOfSum(slopes[i.a], slopes[i.b], 1);
    case Opcode::kSub:
      return SlopeOfSum(slopes[i.a], slopes[i.b], -1);
    case Opcode::kMul:
      return SlopeOfProduct(slopes[i.a], slopes[i.b], body.instructions[i.b]);
    case Opcode::kLoad:  // states differ
      return {};
    default:
      return {is_same(i.a) && is_same(i.b) && is_same(i.c), 0, 1};
  }
}

// What loads depend on, by number; later ones on all loops.
std::vector<LoopSet> LoopsOf(const ProgramBody& body,
                             const std::vector<LoopSet>& loads) {
  std::vector<LoopSet> sets;
  for (const Instruction& i : body.instructions) {
    LoopSet set = 0;
    if (i.op == Opcode::kCoordinate) set = LoopSet{1} << i.bits;
    if (i.op == Opcode::kLoad) {
      set = i.bits < loads.size() ? loads[i.bits] : ~LoopSet{0};
    }
    for (int32_t from : {i.a, i.b, i.c}) {
      if (from >= 0) set |= sets[from];
    }
    sets.push_back(set);
  }
  return sets;
}

double InstructionsOf(const StepSum& sum) {
  return static_cast<double>(sum.terms) *
         static_cast<double>(sum.body.instructions.size());
}

}  // namespace

int64_t NumPoints(const IndexProgram& program) {
  return Extents(program.loops);
}

int64_t NumPoints(const JoinedProgram& program) {
  int64_t points = 0;
  for (const IndexProgram& part : program.parts) points += NumPoints(part);
  return points;
}

int64_t NumSteps(const IndexProgram& program) {
  return program.steps.empty() ? 0 : Extents(program.steps);
}

ScalarType ResultType(const IndexProgram& program, size_t result) {
  return program.last.instructions[program.last.results[result]].type;
}

double InstructionsOfPoint(const IndexProgram& program) {
  double of_step = static_cast<double>(program.step.instructions.size());
  for (const StepSum& sum : program.sums) of_step += InstructionsOf(sum);
  return static_cast<double>(program.first.instructions.size() +
                             program.last.instructions.size()) +
         static_cast<double>(NumSteps(program)) * of_step;
}

std::vector<LoopSet> LoopsOf(const IndexProgram& program,
                             const ProgramBody& body) {
  std::vector<LoopSet> loads(program.first.results.size(), ~LoopSet{0});
  for (const StepSum& sum : program.sums) {
    loads.push_back(LoopsOfTotal(program, sum));
  }
  return LoopsOf(body, loads);
}

std::vector<LoopSet> LoopsOf(const StepSum& sum) {
  // The sum so far depends on what the terms do.
  const std::vector<LoopSet> terms = LoopsOf(sum.body, {0});
  return LoopsOf(sum.body, {terms[sum.body.results[0]]});
}

LoopSet LoopsOfTotal(const IndexProgram& program, const StepSum& sum) {
  const LoopSet term = LoopSet{1} << TermLoop(program);
  return LoopsOf(sum)[sum.body.results[0]] & ~term;
}

std::vector<const ProgramBody*> BodiesOf(const IndexProgram& program) {
  std::vector<const ProgramBody*> bodies = {&program.first};
  for (const StepSum& sum : program.sums) bodies.push_back(&sum.body);
  bodies.push_back(&program.step);
  bodies.push_back(&program.last);
  return bodies;
}

size_t TermLoop(const IndexProgram& program) {
  return program.loops.size() + program.steps.size();
}

size_t InnermostStepLoop(const IndexProgram& program) {
  size_t level = program.steps.empty() ? 0 : program.steps.size() - 1;
  while (level > 0 && program.steps[level] == 1) --level;
  return program.loops.size() + level;
}

std::vector<IndexSlope> SlopesAlong(const ProgramBody& body, int loop,
                                    int64_t group) {
  std::vector<IndexSlope> slopes;
  for (const Instruction& i : body.instructions) {
    slopes.push_back(SlopeOf(i, body, slopes, loop, group));
  }
  return slopes;
}

std::vector<bool> NeighbourReads(const IndexProgram& program,
                                 const ProgramBody& body, int64_t group) {
  const int inner = static_cast<int>(program.loops.size()) - 1;
  const std::vector<IndexSlope> slopes = SlopesAlong(body, inner, group);
  std::vector<bool> reads(body.instructions.size(), false);
  for (size_t at = 0; group > 1 && at < reads.size(); ++at) {
    const Instruction& i = body.instructions[at];
    if (i.op != Opcode::kElement) continue;
    const IndexSlope& offset = slopes[i.a];
    const bool one_condition =
        i.b < 0 || (slopes[i.b].known && slopes[i.b].slope == 0);
    reads[at] = one_condition && offset.known && offset.slope == 1 &&
                offset.divisor % group == 0 &&
                program.operands[i.bits].elements >= group;
  }
  return reads;
}

}  // namespace partita
