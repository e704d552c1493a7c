// Reads placements and kernel bindings.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/placement_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/tensor_type.h"

namespace partita {
namespace {

using Kind = Token::Kind;

constexpr int64_t kMostIndices = 1 << 20;  // of operands and results

bool ReadSmallInt(TokenReader& reader, int64_t limit, int& value) {
  const Token where = reader.peek();
  const std::optional<int64_t> read = reader.ReadInt();
  if (!read.has_value()) return false;
  if (*read < 0 || *read >= limit) {
    return reader.Report(
        where, absl::StrCat("found ", *read, "; expected 0..", limit - 1));
  }
  value = static_cast<int>(*read);
  return true;
}

std::optional<Reduction> ReductionNamed(const Token& token) {
  for (Reduction reduction : {Reduction::kSum, Reduction::kMax, Reduction::kMin,
                              Reduction::kAnd, Reduction::kOr}) {
    if (token.is(ReductionName(reduction))) return reduction;
  }
  return std::nullopt;
}

// The unit of a split; 1 is not written.
bool ReadUnit(TokenReader& reader, int64_t& unit) {
  const Token where = reader.peek();
  const std::optional<int64_t> read = reader.ReadInt();
  if (!read.has_value()) return false;
  if (*read < 2 || *read > kMaxTensorBytes) {
    return reader.Report(
        where, absl::StrCat("found a unit of ", *read, "; expected 2..",
                            kMaxTensorBytes));
  }
  unit = *read;
  return true;
}

bool ReadSharding(TokenReader& reader, Sharding& sharding) {
  if (reader.TryTake("replicated")) return true;
  if (reader.TryTake("split")) {
    sharding.kind = Sharding::Kind::kSplit;
    return ReadSmallInt(reader, kMaxRank, sharding.dim) &&
           (!reader.TryTake("by") || ReadUnit(reader, sharding.unit));
  }
  if (!reader.TryTake("partial")) {
    return reader.Fail("replicated, split or partial");
  }
  const std::optional<Reduction> reduction = ReductionNamed(reader.peek());
  if (!reduction.has_value()) return reader.Fail("sum, max, min, and or or");
  reader.Take();
  sharding.kind = Sharding::Kind::kPartial;
  sharding.reduction = *reduction;
  return true;
}

bool ReadShardings(TokenReader& reader, std::vector<Sharding>& shardings) {
  return reader.ReadList(
      '(', ')', [&] { return ReadSharding(reader, shardings.emplace_back()); });
}

bool ReadDevice(TokenReader& reader, Placement& placement) {
  const Token where = reader.peek();
  std::optional<std::string> device =
      reader.ReadWordOrString("a device such as gpu:0");
  if (!device.has_value()) return false;
  if (std::find(placement.devices.begin(), placement.devices.end(), *device) !=
      placement.devices.end()) {
    return reader.Report(where, absl::StrCat("found device ", *device,
                                             " twice; expected it once"));
  }
  placement.devices.push_back(*std::move(device));
  return true;
}

bool ReadInPlace(TokenReader& reader, KernelBinding& kernel) {
  return reader.ReadList('[', ']', [&] {
    InPlacePair& pair = kernel.in_place.emplace_back();
    return ReadSmallInt(reader, kMostIndices, pair.operand) &&
           reader.Expect(Kind::kArrow, "->") &&
           ReadSmallInt(reader, kMostIndices, pair.result);
  });
}

bool ReadWorkspace(TokenReader& reader, KernelBinding& kernel) {
  const Token where = reader.peek();
  const std::optional<int64_t> bytes = reader.ReadInt();
  if (!bytes.has_value()) return false;
  if (*bytes < 0 || *bytes > kMaxTensorBytes) {
    return reader.Report(where,
                         absl::StrCat("found ", *bytes, " bytes; expected 0..",
                                      kMaxTensorBytes));
  }
  kernel.workspace = *bytes;
  return true;
}

bool ReadKernelField(TokenReader& reader, KernelBinding& kernel) {
  if (reader.TryTake("workspace")) {
    return reader.Expect('=') && ReadWorkspace(reader, kernel);
  }
  if (reader.TryTake("in_place")) {
    return reader.Expect('=') && ReadInPlace(reader, kernel);
  }
  if (!reader.TryTake("arithmetic")) {
    return reader.Fail("workspace, in_place or arithmetic");
  }
  if (!reader.Expect('=')) return false;
  const std::optional<std::string> arithmetic = reader.ReadString();
  if (!arithmetic.has_value()) return false;
  kernel.arithmetics = ParseArithmetics(*arithmetic);
  return true;
}

}  // namespace

bool ReadPlacement(TokenReader& reader, Placement& placement) {
  const bool read =
      reader.peek().is('{')
          ? reader.ReadList('{', '}',
                            [&] { return ReadDevice(reader, placement); })
          : ReadDevice(reader, placement);
  if (!read) return false;
  if (!placement.placed()) return reader.Fail("a device in the braces before");
  if (reader.peek().is('(') && !ReadShardings(reader, placement.operands)) {
    return false;
  }
  return !reader.TryTake(Kind::kArrow) ||
         ReadShardings(reader, placement.results);
}

bool ReadKernel(TokenReader& reader, KernelBinding& kernel) {
  const std::optional<std::string> name =
      reader.ReadWordOrString("a kernel's name");
  if (!name.has_value()) return false;
  kernel.kernel = *name;
  return !reader.peek().is('{') || reader.ReadList('{', '}', [&] {
    return ReadKernelField(reader, kernel);
  });
}

}  // namespace partita
