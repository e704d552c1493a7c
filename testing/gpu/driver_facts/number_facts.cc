// Arithmetic of single PTX instructions, bit by bit against the host's.
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/number_run.h"

namespace partita {
namespace {

absl::StatusOr<Reading> Compare(Gpu& gpu,
                                const TestedInstruction& instruction) {
  const NumberInputs inputs = InputsOf(instruction);
  PARTITA_ASSIGN_OR_RETURN(const std::vector<uint64_t> results,
                           RunOnGpu(gpu, instruction, inputs));
  size_t equal = 0;
  size_t compared = 0;
  std::string differing;
  std::string undefined;
  for (size_t i = 0; i < results.size(); ++i) {
    const uint64_t* in = inputs.at(i);
    if (instruction.undefined != nullptr &&
        instruction.undefined(in[0], in[1])) {
      // Divisions by 0 are alike; the others are few.
      if (in[1] != 0 || undefined.size() < 100) {
        absl::StrAppend(&undefined, " ", CaseText(instruction, in, results[i]));
      }
      continue;
    }
    ++compared;
    const uint64_t host = instruction.host(in[0], in[1], in[2]);
    if (IsNaN(instruction.to, results[i]) ? IsNaN(instruction.to, host)
                                          : results[i] == host) {
      ++equal;
    } else if (differing.size() < 300) {
      absl::StrAppendFormat(&differing, " %s host %x",
                            CaseText(instruction, in, results[i]), host);
    }
  }
  Steps steps(gpu.api());
  steps.Is("cases equal to the host's (NaN equals NaN)", equal, compared);
  if (!differing.empty()) steps.Note(absl::StrCat("differing:", differing));
  if (!undefined.empty()) steps.Note(absl::StrCat("unspecified:", undefined));
  return steps.End();
}

template <size_t index>
absl::StatusOr<Reading> MeasureInstruction(Gpu& gpu) {
  return Compare(gpu, TestedInstructions()[index]);
}

// The ids, which facts point to.
const std::array<std::string, kInstructionCount>& Ids() {
  static const auto* ids = [] {
    auto* made = new std::array<std::string, kInstructionCount>;
    for (size_t i = 0; i < kInstructionCount; ++i) {
      (*made)[i] = absl::StrCat("number.", TestedInstructions()[i].id);
    }
    return made;
  }();
  return *ids;
}

template <size_t... index>
std::array<Fact, kInstructionCount> MakeFacts(std::index_sequence<index...>) {
  return {Fact{Ids()[index].c_str(), TestedInstructions()[index].rule,
               "PTX ISA, instruction set", TestedInstructions()[index].ptx,
               MeasureInstruction<index>}...};
}

}  // namespace

FactGroup NumberFacts() {
  static const auto* facts = new std::array<Fact, kInstructionCount>(
      MakeFacts(std::make_index_sequence<kInstructionCount>()));
  return {"number", *facts};
}

}  // namespace partita
