// One function of each kind of program.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen_loader/testing/any_sample.h"

#include <variant>

#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen/interpret.h"

namespace partita {
namespace {

int64_t Items(const ElementwiseProgram& program) {
  return NumElements(program);
}
int64_t Items(const RowProgram& program) { return NumRows(program); }
int64_t Items(const IndexProgram& program) { return NumPoints(program); }
int64_t Items(const JoinedProgram& program) { return NumPoints(program); }

void Run(const ElementwiseProgram& program, void* const* operands,
         void* const* results) {
  std::vector<uint64_t> registers;
  Interpret(program, operands, results, 0, Items(program), registers);
}
void Run(const RowProgram& program, void* const* operands,
         void* const* results) {
  InterpretRows(program, operands, results, 0, Items(program));
}
void Run(const IndexProgram& program, void* const* operands,
         void* const* results) {
  InterpretIndices(program, operands, results, 0, Items(program));
}
void Run(const JoinedProgram& program, void* const* operands,
         void* const* results) {
  InterpretIndices(program, operands, results, 0, Items(program));
}

}  // namespace

ProgramSignature SignatureOf(const AnyProgram& program) {
  return std::visit([](const auto& one) { return SignatureOf(one); }, program);
}

int64_t NumItems(const AnyProgram& program) {
  return std::visit([](const auto& one) { return Items(one); }, program);
}

std::vector<std::vector<std::byte>> InterpretedResults(
    const AnySample& sample) {
  std::vector<void*> operands;
  for (const std::vector<std::byte>& operand : sample.operands) {
    operands.push_back(const_cast<std::byte*>(operand.data()));
  }
  std::vector<std::vector<std::byte>> results;
  std::vector<void*> to;
  for (const ProgramSignature::Buffer& result :
       SignatureOf(sample.program).results) {
    results.emplace_back(static_cast<size_t>(result.bytes()));
    to.push_back(results.back().data());
  }
  std::visit([&](const auto& one) { Run(one, operands.data(), to.data()); },
             sample.program);
  return results;
}

absl::Status CheckResults(const AnySample& sample,
                          const std::vector<std::vector<std::byte>>& expected,
                          const std::vector<std::vector<std::byte>>& found) {
  return CheckResults(SignatureOf(sample.program), sample.what, expected,
                      found);
}

}  // namespace partita
