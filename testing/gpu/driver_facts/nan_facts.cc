// The bits of NaN results: which NaN an instruction makes or keeps.
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/number_run.h"

namespace partita {
namespace {

// How often, and one example.
struct Seen {
  int count = 0;
  std::string example;
};

// NaN results by what their operands were.
struct NaNResults {
  int all = 0;
  int canonical = 0;
  int of_one = 0;       // one operand is NaN
  int of_one_kept = 0;  // and the result is that operand, as the rule says
  std::string of_one_other;
  std::map<uint64_t, Seen> of_none;  // bits that were made
  int of_several = 0;
  std::array<int, 3> kept{};  // the operand that the result is, if only one is
  std::string of_several_other;
};

std::vector<int> NaNOperands(const TestedInstruction& instruction,
                             const uint64_t* in) {
  std::vector<int> found;
  for (int i = 0; i < instruction.operands; ++i) {
    if (IsNaN(instruction.from, in[i])) found.push_back(i);
  }
  return found;
}

uint64_t Kept(const TestedInstruction& instruction, uint64_t operand) {
  return instruction.kept_nan == nullptr ? CanonicalNaN(instruction.to)
                                         : instruction.kept_nan(operand);
}

void CountSeveral(const TestedInstruction& instruction,
                  const std::vector<int>& nans, const uint64_t* in,
                  uint64_t result, NaNResults& seen) {
  ++seen.of_several;
  std::vector<int> equal;
  for (const int i : nans) {
    if (Kept(instruction, in[i]) == result) equal.push_back(i);
  }
  if (equal.size() == 1) {
    ++seen.kept[equal[0]];
  } else if (equal.empty() && seen.of_several_other.size() < 100) {
    absl::StrAppend(&seen.of_several_other, " ",
                    CaseText(instruction, in, result));
  }
}

void Count(const TestedInstruction& instruction, const uint64_t* in,
           uint64_t result, NaNResults& seen) {
  ++seen.all;
  if (result == CanonicalNaN(instruction.to)) ++seen.canonical;
  const std::vector<int> nans = NaNOperands(instruction, in);
  if (nans.empty()) {
    Seen& made = seen.of_none[result];
    if (++made.count == 1) made.example = CaseText(instruction, in, result);
  } else if (nans.size() > 1) {
    CountSeveral(instruction, nans, in, result, seen);
  } else {
    ++seen.of_one;
    if (Kept(instruction, in[nans[0]]) == result) {
      ++seen.of_one_kept;
    } else if (seen.of_one_other.size() < 100) {
      absl::StrAppend(&seen.of_one_other, " ",
                      CaseText(instruction, in, result));
    }
  }
}

void Report(const TestedInstruction& instruction, const NaNResults& seen,
            Steps& steps) {
  if (instruction.kept_nan == nullptr) {
    steps.Is(absl::StrFormat("NaN results that are %x",
                             CanonicalNaN(instruction.to)),
             seen.canonical, seen.all);
    if (seen.canonical == seen.all) return;
  } else {
    steps.Is("of one NaN operand, kept with its payload", seen.of_one_kept,
             seen.of_one);
  }
  if (!seen.of_one_other.empty()) {
    steps.Note(absl::StrCat("otherwise:", seen.of_one_other));
  }
  for (const auto& [bits, made] : seen.of_none) {
    steps.Note(absl::StrFormat("made of none: %x x%d e.g. %s", bits, made.count,
                               made.example));
  }
  if (seen.of_several == 0) return;
  steps.Note(absl::StrFormat(
      "of several: %d, the first %d, second %d, third %d", seen.of_several,
      seen.kept[0], seen.kept[1], seen.kept[2]));
  if (!seen.of_several_other.empty()) {
    steps.Note(absl::StrCat("none of them:", seen.of_several_other));
  }
}

absl::StatusOr<Reading> Classify(Gpu& gpu,
                                 const TestedInstruction& instruction) {
  const NumberInputs inputs = InputsOf(instruction);
  PARTITA_ASSIGN_OR_RETURN(const std::vector<uint64_t> results,
                           RunOnGpu(gpu, instruction, inputs));
  NaNResults seen;
  for (size_t i = 0; i < results.size(); ++i) {
    if (IsNaN(instruction.to, results[i])) {
      Count(instruction, inputs.at(i), results[i], seen);
    }
  }
  Steps steps(gpu.api());
  Report(instruction, seen, steps);
  return steps.End();
}

template <size_t index>
absl::StatusOr<Reading> ClassifyInstruction(Gpu& gpu) {
  return Classify(gpu, TestedInstructions()[index]);
}

using Measure = absl::StatusOr<Reading> (*)(Gpu& gpu);

template <size_t... index>
std::array<Measure, sizeof...(index)> Measures(std::index_sequence<index...>) {
  return {ClassifyInstruction<index>...};
}

bool IsFloat(NumberKind kind) {
  return kind != NumberKind::kInt32 && kind != NumberKind::kInt64;
}

constexpr char kMadeRule[] = "A NaN result is the canonical NaN";
constexpr char kKeptRule[] =
    "A NaN result of one NaN operand is that operand, its payload kept";

// Facts point into them.
std::vector<std::string> MakeIds() {
  std::vector<std::string> ids;
  for (size_t i = 0; i < kInstructionCount; ++i) {
    ids.push_back(absl::StrCat("nan.", TestedInstructions()[i].id));
  }
  return ids;
}

std::vector<Fact> MakeFacts() {
  static const auto* ids = new std::vector<std::string>(MakeIds());
  const auto measures = Measures(std::make_index_sequence<kInstructionCount>());
  std::vector<Fact> facts;
  for (size_t i = 0; i < kInstructionCount; ++i) {
    const TestedInstruction& instruction = TestedInstructions()[i];
    if (!IsFloat(instruction.from) || !IsFloat(instruction.to)) continue;
    const bool kept = instruction.kept_nan != nullptr;
    facts.push_back({(*ids)[i].c_str(), kept ? kKeptRule : kMadeRule,
                     "PTX ISA: unspecified payload; NaN bits as measured",
                     instruction.ptx, measures[i]});
  }
  return facts;
}

}  // namespace

FactGroup NaNFacts() {
  static const auto* facts = new std::vector<Fact>(MakeFacts());
  return {"nan", *facts};
}

}  // namespace partita
