// Live ranges in the order of a body's instructions.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/live_words.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace partita {
namespace {

int64_t WordsOf(const Instruction& i) {
  if (i.op == Opcode::kConstant || i.type == ScalarType::kBool) return 0;
  return BytesOf(i.type) == 8 ? 2 : 1;
}

// Where a value is live: after the instructions [from, to). The one at `to` may
// put its result into the same register.
struct LiveRange {
  size_t from = 0;
  size_t to = 0;
  int64_t words = 0;
};

// From each instruction to its last reader; results up to the end. Loaded
// values are there from the begin.
std::vector<LiveRange> RangesOf(const ProgramBody& body) {
  std::vector<LiveRange> ranges;
  for (size_t at = 0; at < body.instructions.size(); ++at) {
    const Instruction& i = body.instructions[at];
    for (int32_t read : {i.a, i.b, i.c}) {
      if (read >= 0) ranges[read].to = at;
    }
    ranges.push_back({i.op == Opcode::kLoad ? 0 : at, at, WordsOf(i)});
  }
  for (int32_t result : body.results) ranges[result].to = ranges.size() + 1;
  return ranges;
}

int64_t MostAtOnce(const std::vector<LiveRange>& ranges) {
  std::vector<int64_t> change(ranges.size() + 2, 0);
  for (const LiveRange& range : ranges) {
    change[range.from] += range.words;
    change[range.to] -= range.words;
  }
  int64_t live = 0;
  int64_t most = 0;
  for (int64_t words : change) most = std::max(most, live += words);
  return most;
}

// Of elements in memory: small ones share a word.
int64_t PackedWords(int64_t bytes) { return (bytes + 3) / 4; }

int64_t ResultBytes(const ProgramBody& body) {
  int64_t bytes = 0;
  for (int32_t result : body.results) {
    bytes += BytesOf(body.instructions[result].type);
  }
  return bytes;
}

// Of the operands that the body reads and that differ between the elements of
// a group.
int64_t OperandBytes(const ProgramBody& body,
                     const std::vector<ProgramOperand>& operands) {
  int64_t bytes = 0;
  for (const Instruction& i : body.instructions) {
    if (i.op != Opcode::kLoad || i.bits >= operands.size()) continue;
    const ProgramOperand& operand = operands[i.bits];
    const bool differs = !operand.strides.empty() && operand.strides.back() > 0;
    if (differs) bytes += BytesOf(operand.type);
  }
  return bytes;
}

// Compilers keep to the order of elements where registers are few: after one,
// its results are live and its operands are not.
int64_t WordsOfGroup(const ProgramBody& body,
                     const std::vector<ProgramOperand>& operands, int group) {
  const int64_t others =
      (group - 1) * std::max(OperandBytes(body, operands), ResultBytes(body));
  return MostAtOnce(RangesOf(body)) + PackedWords(others);
}

int64_t ResultWords(const ProgramBody& body) {
  int64_t words = 0;
  for (int32_t result : body.results) {
    words += WordsOf(body.instructions[result]);
  }
  return words;
}

// Counts the bodies of an index program.
class TileWords {
 public:
  TileWords(const IndexProgram& program, const IndexTile& tile)
      : program_(program),
        tile_(tile),
        inner_(static_cast<int>(program.loops.size()) - 1),
        state_(StateWords()) {}

  int64_t Most() const {
    return std::max(
        {OfBody(program_.first), OfSums(), OfSteps(), OfBody(program_.last)});
  }

 private:
  int64_t StateWords() const {
    int64_t words = 0;
    for (int32_t result : program_.first.results) {
      const ScalarType type = program_.first.instructions[result].type;
      words += type == ScalarType::kBool ? 0 : BytesOf(type) == 8 ? 2 : 1;
    }
    return words * tile_.points();
  }

  // A body for one point, and what other points add to it.
  struct BodyWords {
    std::vector<LiveRange> ranges;
    int64_t others = 0;
    int64_t results = 0;  // of all points
    int64_t most() const { return MostAtOnce(ranges) + others; }
  };

  int64_t OfBody(const ProgramBody& body) const {
    return Count(body, LoopsOf(program_, body), std::nullopt).most();
  }

  // Sums that are complete are live beside the state.
  int64_t OfSums() const {
    int64_t most = 0;
    int64_t held = state_;
    for (const StepSum& sum : program_.sums) {
      const BodyWords words = Count(sum.body, LoopsOf(sum), TermLoop(program_));
      most = std::max(most, held + Rounds(words, tile_.terms));
      held += words.results;
    }
    return most;
  }

  int64_t OfSteps() const {
    if (program_.steps.empty()) return 0;
    return Rounds(Count(program_.step, LoopsOf(program_, program_.step),
                        InnermostStepLoop(program_)),
                  tile_.steps);
  }

  // What is carried from round to round is there once.
  static int64_t Rounds(const BodyWords& words, int at_once) {
    const int64_t carried = words.results;
    return carried + at_once * std::max<int64_t>(0, words.most() - carried);
  }

  // In the rounds of a loop, if it is one's body: the assembler then computes
  // the floats of points side by side, except for what the next instruction
  // alone reads.
  BodyWords Count(const ProgramBody& body, const std::vector<LoopSet>& loops,
                  std::optional<size_t> loop) const {
    BodyWords words{.ranges = RangesOf(body)};
    const std::vector<int64_t> times = TimesOf(body, loops);
    const auto bytes = [&](size_t at) {
      const Instruction& i = body.instructions[at];
      return i.op == Opcode::kConstant ? 0 : BytesOf(i.type);
    };
    int64_t results = 0, other_results = 0;
    for (int32_t result : body.results) {
      results += times[result] * bytes(result);
      other_results += (times[result] - 1) * bytes(result);
    }
    const std::vector<bool> is_held = InvariantsOf(body, loops, loop);
    int64_t held = 0, read = 0;
    for (size_t at = 0; at < times.size(); ++at) {
      const Opcode op = body.instructions[at].op;
      LiveRange& range = words.ranges[at];
      if (is_held[at]) {
        range.from = 0;
        range.to = times.size() + 1;
        held += (times[at] - 1) * bytes(at);
      } else if (op == Opcode::kLoad || op == Opcode::kElement) {
        read += (times[at] - 1) * bytes(at);
      } else if (loop.has_value() && range.to > at + 1 &&
                 IsFloatType(body.instructions[at].type) &&
                 range.to < times.size()) {
        range.words *= times[at];
      }
    }
    words.others = PackedWords(held + std::max(read, other_results));
    words.results = PackedWords(results);
    return words;
  }

  // How many points of the tile have a value of their own, by instruction.
  std::vector<int64_t> TimesOf(const ProgramBody& body,
                               const std::vector<LoopSet>& loops) const {
    const std::vector<bool> in_group = DiffersInGroup(body, loops);
    std::vector<int64_t> times(loops.size(), 1);
    for (size_t at = 0; at < times.size(); ++at) {
      if (in_group[at]) times[at] *= tile_.group;
      if (Depends(loops[at], tile_.rows_loop)) times[at] *= tile_.rows;
    }
    return times;
  }

  bool Depends(LoopSet loops, int loop) const {
    return loop >= 0 && inner_ >= 0 && (loops >> loop & 1) != 0;
  }

  // True for an instruction with a value for each point of a group. The offset
  // of an access of neighbours is that of the first one.
  std::vector<bool> DiffersInGroup(const ProgramBody& body,
                                   const std::vector<LoopSet>& loops) const {
    const std::vector<bool> neighbours =
        NeighbourReads(program_, body, tile_.group);
    std::vector<bool> differs(loops.size(), false);
    for (int32_t result : body.results) differs[result] = true;
    for (size_t at = differs.size(); at-- > 0;) {
      const Instruction& i = body.instructions[at];
      differs[at] = differs[at] && Depends(loops[at], inner_);
      for (int32_t read : {i.a, i.b, i.c}) {
        if (read >= 0 && differs[at] && !neighbours[at]) differs[read] = true;
      }
    }
    return differs;
  }

  // Compilers move what does not change in a loop before it: what the loop
  // reads of that is then live in all of it.
  static std::vector<bool> InvariantsOf(const ProgramBody& body,
                                        const std::vector<LoopSet>& loops,
                                        std::optional<size_t> loop) {
    std::vector<bool> are_held(loops.size(), false);
    const auto changes = [&](size_t at) {
      return (loops[at] >> *loop & 1) != 0;
    };
    for (size_t at = 0; loop.has_value() && at < loops.size(); ++at) {
      const Instruction& i = body.instructions[at];
      for (int32_t read : {i.a, i.b, i.c}) {
        if (read >= 0 && !changes(read) && changes(at)) are_held[read] = true;
      }
    }
    return are_held;
  }

  const IndexProgram& program_;
  const IndexTile& tile_;
  const int inner_;
  const int64_t state_;
};

}  // namespace

int64_t LiveWords(const ElementwiseProgram& program, int group) {
  return WordsOfGroup(program, program.operands, group);
}

int64_t LiveWords(const RowProgram& program, int group) {
  int64_t scalars = 0;
  int64_t most = 0;
  for (const RowPhase& phase : program.phases) {
    const int64_t accumulators = group * ResultWords(phase.elements);
    most = std::max(most,
                    scalars + accumulators +
                        WordsOfGroup(phase.elements, program.operands, group));
    scalars += ResultWords(phase.elements) + ResultWords(phase.scalars);
  }
  return std::max(
      most, scalars + WordsOfGroup(program.elements, program.operands, group));
}

int64_t LiveWords(const IndexProgram& program, const IndexTile& tile) {
  return TileWords(program, tile).Most();
}

}  // namespace partita
