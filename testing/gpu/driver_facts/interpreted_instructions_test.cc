// The interpreter of PTX computes what was measured on an H100.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testing/emulated_gpu/ptx/executor.h"
#include "testing/emulated_gpu/ptx/guarded_blocks.h"
#include "testing/emulated_gpu/ptx/parser.h"
#include "testing/gpu/driver_facts/number_instructions.h"
#include "testing/gpu/driver_facts/number_run.h"

namespace partita {
namespace {

// The registers of a kind, and the type of their loads and stores.
struct KindNames {
  const char* registers;
  const char* access;
};
KindNames NamesOf(NumberKind kind) {
  switch (kind) {
    case NumberKind::kF16:
    case NumberKind::kBF16:
      return {"%h", "b16"};
    case NumberKind::kF32:
      return {"%f", "f32"};
    case NumberKind::kF64:
      return {"%d", "f64"};
    case NumberKind::kInt32:
      return {"%r", "u32"};
    case NumberKind::kInt64:
      break;
  }
  return {"%q", "u64"};
}

// Each thread has a case of three words, and a result of one.
std::string KernelText(const TestedInstruction& instruction) {
  const KindNames from = NamesOf(instruction.from);
  const KindNames to = NamesOf(instruction.to);
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry f(.param .u64 in, .param .u64 out)\n{\n"
      ".reg .b16 %h<9>; .reg .f32 %f<9>; .reg .f64 %d<9>;\n"
      ".reg .b32 %r<9>; .reg .b64 %q<9>; .reg .b32 %i<4>; .reg .b64 %a<5>;\n"
      "mov.u32 %i0, %ctaid.x;\nmov.u32 %i1, %ntid.x;\nmov.u32 %i2, %tid.x;\n"
      "mad.lo.s32 %i3, %i0, %i1, %i2;\n"
      "ld.param.u64 %a0, [in];\nmul.wide.u32 %a1, %i3, 24;\n"
      "add.s64 %a0, %a0, %a1;\n"
      "ld.param.u64 %a2, [out];\nmul.wide.u32 %a3, %i3, 8;\n"
      "add.s64 %a2, %a2, %a3;\n";
  std::string operands;
  for (int i = 0; i < instruction.operands; ++i) {
    absl::StrAppend(&text, "ld.global.", from.access, " ", from.registers, i,
                    ", [%a0+", 8 * i, "];\n");
    absl::StrAppend(&operands, ", ", from.registers, i);
  }
  absl::StrAppend(&text, instruction.ptx, " ", to.registers, 5, operands,
                  ";\nst.global.", to.access, " [%a2], ", to.registers,
                  "5;\nret;\n}\n");
  return text;
}

absl::StatusOr<std::vector<uint64_t>> Interpreted(
    const TestedInstruction& instruction, NumberInputs& inputs) {
  const auto module = ptx::ParseModule(KernelText(instruction), instruction.id);
  if (!module.ok()) return module.status();
  std::vector<uint64_t> results(inputs.cases());
  ptx::GuardedBlocks memory;
  const auto bytes = [](std::vector<uint64_t>& words) {
    return absl::MakeSpan(reinterpret_cast<std::byte*>(words.data()),
                          8 * words.size());
  };
  const uint64_t in = memory.Add(bytes(inputs.words), ptx::Permission::kRead);
  const uint64_t out =
      memory.Add(bytes(results), ptx::Permission::kReadAndWrite);
  const absl::Status status = ptx::Launch(
      module->kernels[0], {.x = static_cast<uint32_t>(inputs.cases())},
      {.x = 1}, {in, out}, memory, {.nan = ptx::NanRules::kH100});
  if (!status.ok()) return status;
  return results;
}

// The NaN that an H100 gives, or any if two operands are NaN.
bool IsRightNan(const TestedInstruction& instruction, const uint64_t* in,
                uint64_t result) {
  if (instruction.kept_nan == nullptr) {
    return result == CanonicalNaN(instruction.to);
  }
  std::vector<uint64_t> nans;
  for (int i = 0; i < instruction.operands; ++i) {
    if (IsNaN(instruction.from, in[i])) nans.push_back(in[i]);
  }
  if (nans.empty()) return result == 0xfff8000000000000u;
  return nans.size() > 1 || result == instruction.kept_nan(nans[0]);
}

TEST(InterpretedInstructions, GiveWhatAnH100Gave) {
  int interpreted = 0;
  for (const TestedInstruction& instruction : TestedInstructions()) {
    if (ptx::FindForm(instruction.ptx) == nullptr) continue;
    ++interpreted;
    NumberInputs inputs = InputsOf(instruction);
    const auto results = Interpreted(instruction, inputs);
    ASSERT_TRUE(results.ok()) << results.status();
    for (size_t i = 0; i < inputs.cases(); ++i) {
      const uint64_t* in = inputs.at(i);
      if (instruction.undefined != nullptr &&
          instruction.undefined(in[0], in[1])) {
        continue;
      }
      const uint64_t host = instruction.host(in[0], in[1], in[2]);
      const uint64_t result = (*results)[i];
      // The one fact of NaN bits that was found otherwise.
      const bool is_open = instruction.id == std::string("f16_from_f64");
      const bool is_right = IsNaN(instruction.to, host)
                                ? is_open || IsRightNan(instruction, in, result)
                                : result == host;
      ASSERT_TRUE(is_right)
          << instruction.ptx << " " << CaseText(instruction, in, result)
          << " and not " << std::hex << host;
    }
  }
  EXPECT_GE(interpreted, 48);
}

}  // namespace
}  // namespace partita
