// Fuzz target: any bytes are safe to parse as PTX, and a kernel of an accepted
// text runs to its end or to a fault, and accesses only the memory it is given.
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "testing/emulated_gpu/ptx/executor.h"
#include "testing/emulated_gpu/ptx/guarded_blocks.h"
#include "testing/emulated_gpu/ptx/parser.h"
#include "tests/fuzz/expect.h"

namespace partita::ptx {
namespace {

// A block of row_mean.ptx ends within it.
constexpr uint64_t kMostInstructions = 20'000;

void ExpectInBounds(const Kernel& kernel) {
  ExpectFuzz(!kernel.instructions.empty(), "a kernel without an end");
  for (const Instruction& instruction : kernel.instructions) {
    ExpectFuzz(instruction.target < kernel.instructions.size(),
               "a branch out of the kernel");
    ExpectFuzz(instruction.guard == Operand::kNoRegister ||
                   instruction.guard < kernel.registers,
               "a guard that is no register");
    for (const Operand& operand : instruction.operands) {
      const bool names_one = operand.kind == Operand::Kind::kRegister ||
                             (operand.kind == Operand::Kind::kAddress &&
                              operand.index != Operand::kNoRegister);
      if (!names_one) continue;
      ExpectFuzz(operand.index < kernel.registers, "an unknown register");
    }
  }
}

void Run(const Kernel& kernel) {
  std::array<std::byte, 256> bytes{};
  GuardedBlocks memory;
  const uint64_t address =
      memory.Add(absl::MakeSpan(bytes), Permission::kReadAndWrite);
  const std::vector<uint64_t> parameters(kernel.parameters.size(), address);
  const uint32_t threads = kernel.needs_most_threads ? kernel.most_threads : 1;
  // The result is a fault more often than not.
  Launch(kernel, {.x = 1}, {.x = threads}, parameters, memory,
         {.most_instructions = kMostInstructions})
      .IgnoreError();
}

}  // namespace
}  // namespace partita::ptx

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita::ptx;
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  const absl::StatusOr<Module> module = ParseModule(text, "input");
  if (!module.ok()) return 0;
  for (const Kernel& kernel : module->kernels) {
    ExpectInBounds(kernel);
    Run(kernel);
  }
  return 0;
}
