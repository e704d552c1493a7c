// Extents of operands and results, and comparisons of elements.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen_loader/testing/program_signature.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "kernels/codegen/gpu_kernel.h"

namespace partita {
namespace {

using S = ScalarType;

// How many elements of memory the loops reach.
int64_t StoredElements(const std::vector<int64_t>& loops,
                       const ProgramOperand& operand) {
  int64_t furthest = 0;
  for (size_t loop = 0; loop < loops.size(); ++loop) {
    if (loops[loop] == 0) return 0;
    furthest += (loops[loop] - 1) * operand.strides[loop];
  }
  return furthest + 1;
}

std::vector<ProgramSignature::Buffer> OperandsOf(
    const std::vector<int64_t>& loops,
    const std::vector<ProgramOperand>& operands) {
  std::vector<ProgramSignature::Buffer> buffers;
  for (const ProgramOperand& operand : operands) {
    buffers.push_back({operand.type, StoredElements(loops, operand)});
  }
  return buffers;
}

uint64_t ElementBits(S type, absl::Span<const std::byte> elements,
                     int64_t index) {
  const size_t bytes = static_cast<size_t>(BytesOf(type));
  uint64_t bits = 0;
  std::memcpy(&bits, elements.data() + static_cast<size_t>(index) * bytes,
              bytes);
  return bits;
}

bool IsNanBits(S type, uint64_t bits) {
  switch (type) {
    case S::kF32:
      return std::isnan(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    case S::kF64:
      return std::isnan(std::bit_cast<double>(bits));
    case S::kF16:
      return (bits & 0x7fff) > 0x7c00;
    case S::kBF16:
      return (bits & 0x7fff) > 0x7f80;
    default:
      return false;
  }
}

// The index of the first element that differs, -1 if there is none.
int64_t FirstDifference(S type, absl::Span<const std::byte> a,
                        absl::Span<const std::byte> b) {
  if (a.size() != b.size()) return 0;
  const int64_t count = static_cast<int64_t>(a.size()) / BytesOf(type);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t x = ElementBits(type, a, i);
    const uint64_t y = ElementBits(type, b, i);
    if (x != y && !(IsNanBits(type, x) && IsNanBits(type, y))) return i;
  }
  return -1;
}

// "0x7fc00000": an element's bits.
std::string ElementText(S type, absl::Span<const std::byte> elements,
                        int64_t index) {
  return absl::StrFormat("%#x", ElementBits(type, elements, index));
}

}  // namespace

ProgramSignature SignatureOf(const ElementwiseProgram& program) {
  ProgramSignature signature{
      .name = program.name,
      .operands = OperandsOf(program.loops, program.operands)};
  for (int32_t result : program.results) {
    signature.results.push_back(
        {program.instructions[result].type, NumElements(program)});
  }
  return signature;
}

ProgramSignature SignatureOf(const RowProgram& program) {
  std::vector<int64_t> loops = program.rows;
  loops.insert(loops.end(), program.columns.begin(), program.columns.end());
  ProgramSignature signature{.name = program.name,
                             .operands = OperandsOf(loops, program.operands)};
  const std::vector<S> types = ResultTypes(program);
  for (size_t i = 0; i < types.size(); ++i) {
    signature.results.push_back({types[i], NumResultElements(program, i)});
  }
  return signature;
}

ProgramSignature SignatureOf(const IndexProgram& program) {
  ProgramSignature signature{.name = program.name};
  for (const IndexedOperand& operand : program.operands) {
    signature.operands.push_back({operand.type, operand.elements});
  }
  for (size_t i = 0; i < program.last.results.size(); ++i) {
    signature.results.push_back({ResultType(program, i), NumPoints(program)});
  }
  return signature;
}

ProgramSignature SignatureOf(const JoinedProgram& program) {
  ProgramSignature signature = SignatureOf(program.parts[0]);
  signature.name = program.name;
  signature.results.clear();
  for (const IndexProgram& part : program.parts) {
    for (const ProgramSignature::Buffer& result : SignatureOf(part).results) {
      signature.results.push_back(result);
    }
  }
  return signature;
}

absl::Status CheckResults(const ProgramSignature& signature,
                          const std::string& what,
                          const std::vector<std::vector<std::byte>>& expected,
                          const std::vector<std::vector<std::byte>>& found) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const S type = signature.results[i].type;
    const int64_t at = FirstDifference(type, expected[i], found[i]);
    if (at < 0) continue;
    return absl::InternalError(absl::StrFormat(
        "%s, %s: element %d of result %d: found %s; expected %s",
        signature.name, what, at, i, ElementText(type, found[i], at),
        ElementText(type, expected[i], at)));
  }
  return absl::OkStatus();
}

}  // namespace partita
