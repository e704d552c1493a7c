// What one generated kernel computes whose elements compute where they read,
// such as a transpose, a pool, a matmul or a convolution: plain data, for any
// emitter.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_INDEX_PROGRAM_H_
#define PARTITA_KERNELS_CODEGEN_INDEX_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/codegen/program.h"

namespace partita {

struct IndexedOperand {
  friend bool operator==(const IndexedOperand&,
                         const IndexedOperand&) = default;
  ScalarType type = ScalarType::kF32;
  int64_t elements = 0;
};

// What a step adds up before its body runs.
struct StepSum {
  friend bool operator==(const StepSum&, const StepSum&) = default;
  int64_t terms = 0;
  // The next value of the sum, which begins as 0, from the one before: kLoad 0.
  // Has one result. Reads coordinates as `step` does, and that of the term,
  // which has the number after those of the step loops.
  ProgramBody body;
};

// One element of each result for each point of the loops. All results are dense
// in loop order.
//
// Each point has a state of some registers. `first` computes them; then `step`
// computes new ones from the old ones, once for each point of the step loops,
// in order; `last` computes the results. So the order of a reduction is the
// order of the steps, and no thread needs another one's.
//
// A body reads elements of operands by kElement, whose offset is inside the
// operand wherever its condition holds; coordinates of the loops, and in `step`
// those of the step loops, which have the numbers after them; and in `step` and
// `last` the state, by kLoad.
//
// Sums are computed before each step, for that step alone, in order; `step`
// reads them by kLoad, with the numbers after those of the state.
struct IndexProgram {
  friend bool operator==(const IndexProgram&, const IndexProgram&) = default;
  std::string name;  // of the function
  // Of coordinates: i32 where all indices fit.
  ScalarType index = ScalarType::kI32;
  std::vector<int64_t> loops;  // outermost first
  std::vector<int64_t> steps;  // outermost first; without state: empty
  std::vector<IndexedOperand> operands;
  ProgramBody first;
  std::vector<StepSum> sums;
  ProgramBody step;
  ProgramBody last;
};

// Several index programs as one kernel, as results of different extents need.
// Each reads the same operands; the results are those of the first part, then
// those of the next one.
struct JoinedProgram {
  friend bool operator==(const JoinedProgram&, const JoinedProgram&) = default;
  std::string name;                 // of the function; parts have none
  std::vector<IndexProgram> parts;  // at least one
};

int64_t NumPoints(const IndexProgram& program);
// Of all parts, one after the other.
int64_t NumPoints(const JoinedProgram& program);
// Of each point; 0 without step loops.
int64_t NumSteps(const IndexProgram& program);
ScalarType ResultType(const IndexProgram& program, size_t result);
// Instructions that are computed for each point, all steps counted.
double InstructionsOfPoint(const IndexProgram& program);

// Which coordinates an instruction depends on: a bit for each loop and step
// loop, by number.
using LoopSet = uint64_t;
// Every step may change the state, which so depends on all loops. `body` is
// first, step or last.
std::vector<LoopSet> LoopsOf(const IndexProgram& program,
                             const ProgramBody& body);
// Of the instructions of a sum's body, and of the sum when it is complete.
std::vector<LoopSet> LoopsOf(const StepSum& sum);
LoopSet LoopsOfTotal(const IndexProgram& program, const StepSum& sum);

// All bodies in the order in which they run.
std::vector<const ProgramBody*> BodiesOf(const IndexProgram& program);
// The number of a sum's coordinate.
size_t TermLoop(const IndexProgram& program);
// The number of the last step loop with several steps, else of the first one.
size_t InnermostStepLoop(const IndexProgram& program);

// How an integer depends on the coordinate c of one loop, if c is a multiple of
// `group` plus 0, 1, ... group - 1.
struct IndexSlope {
  bool known = false;   // it is a value of c's multiple plus slope * (the rest)
  int64_t slope = 0;    // 0: the same for the whole group
  int64_t divisor = 1;  // of its value at the multiple; 0 if that value is 0
};
// By instruction of the body.
std::vector<IndexSlope> SlopesAlong(const ProgramBody& body, int loop,
                                    int64_t group);

// By instruction of the body: true for a kElement that reads neighbouring
// elements for a group of the innermost loop, from a multiple of `group` on.
std::vector<bool> NeighbourReads(const IndexProgram& program,
                                 const ProgramBody& body, int64_t group);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_INDEX_PROGRAM_H_
