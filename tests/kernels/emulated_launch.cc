// Blocks of memory for operands and results.
// SPDX-License-Identifier: Apache-2.0

#include "tests/kernels/emulated_launch.h"

#include <cstdint>
#include <variant>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "testing/emulated_gpu/ptx/guarded_blocks.h"

namespace partita {
namespace {

using Bytes = std::vector<std::byte>;

// What results hold before a launch: no program computes it.
constexpr std::byte kUnwritten{0xa5};

// Work that is done twice is not seen in the results.
class WrittenOnce : public ptx::GuardedBlocks {
 public:
  absl::Status Write(const ptx::Access& access,
                     const std::byte* from) override {
    for (int i = 0; i < access.bytes; ++i) {
      if (written_.insert(access.address + i).second) continue;
      return absl::FailedPreconditionError(
          "found a byte that is written again; expected one write of each");
    }
    return GuardedBlocks::Write(access, from);
  }

 private:
  absl::flat_hash_set<uint64_t> written_;
};

int ResultOver(const EmulatedLaunch& how, size_t operand) {
  return operand < how.result_in_place.size() ? how.result_in_place[operand]
                                              : -1;
}

absl::StatusOr<std::vector<Bytes>> LaunchKernel(
    const ptx::Module& module, const ProgramSignature& signature,
    std::vector<Bytes> operands, GpuLaunch launch, const EmulatedLaunch& how) {
  const ptx::Kernel* kernel = module.Find(signature.name);
  if (kernel == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("found no kernel ", signature.name, "; expected one"));
  }
  WrittenOnce memory;
  const auto shift = [&](size_t parameter, ScalarType type) {
    return parameter < how.shifts.size()
               ? how.shifts[parameter] * static_cast<int>(BytesOf(type))
               : 0;
  };
  std::vector<Bytes> results;
  std::vector<uint64_t> result_addresses;
  for (const ProgramSignature::Buffer& result : signature.results) {
    results.emplace_back(static_cast<size_t>(result.bytes()), kUnwritten);
    result_addresses.push_back(memory.Add(
        absl::MakeSpan(results.back()), ptx::Permission::kReadAndWrite,
        shift(operands.size() + result_addresses.size(), result.type)));
  }
  std::vector<uint64_t> parameters;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (const int result = ResultOver(how, i); result >= 0) {
      results[result] = operands[i];
      parameters.push_back(result_addresses[result]);
      continue;
    }
    parameters.push_back(memory.Add(absl::MakeSpan(operands[i]),
                                    ptx::Permission::kRead,
                                    shift(i, signature.operands[i].type)));
  }
  parameters.insert(parameters.end(), result_addresses.begin(),
                    result_addresses.end());
  ptx::WarpTrafficMemory counted(memory);
  PARTITA_RETURN_IF_ERROR(ptx::Launch(
      *kernel, {.x = launch.blocks}, {.x = launch.threads}, parameters,
      how.traffic == nullptr ? static_cast<ptx::Memory&>(memory) : counted,
      how.options));
  if (how.traffic != nullptr) *how.traffic = counted.Traffic();
  return results;
}

}  // namespace

absl::StatusOr<std::vector<Bytes>> LaunchEmulated(const ptx::Module& module,
                                                  const SampleProgram& sample,
                                                  const EmulatedLaunch& how) {
  return LaunchKernel(
      module, SignatureOf(sample.program), sample.operands,
      how.launch.value_or(LaunchOf(sample.program, /*multiprocessors=*/1)),
      how);
}

absl::StatusOr<std::vector<Bytes>> LaunchEmulated(const ptx::Module& module,
                                                  const RowSample& sample,
                                                  const EmulatedLaunch& how) {
  return LaunchKernel(
      module, SignatureOf(sample.program), sample.operands,
      how.launch.value_or(LaunchOf(sample.program, /*multiprocessors=*/1)),
      how);
}

absl::StatusOr<std::vector<Bytes>> LaunchEmulated(const ptx::Module& module,
                                                  const AnySample& sample,
                                                  const EmulatedLaunch& how) {
  const GpuLaunch launch = std::visit(
      [](const auto& program) {
        return LaunchOf(program, /*multiprocessors=*/1);
      },
      sample.program);
  return LaunchKernel(module, SignatureOf(sample.program), sample.operands,
                      how.launch.value_or(launch), how);
}

}  // namespace partita
