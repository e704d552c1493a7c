// Swaps, moves, halves and lengthens.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/sown_faults/operands.h"

#include <utility>

namespace partita {

bool ChangeArgument(Wrong wrong, size_t index, std::vector<uint64_t>& values) {
  if (wrong == Wrong::kMoved) {
    values[index] += kMovedBytes;
    return true;
  }
  if (index + 1 >= values.size() || values[index] == values[index + 1]) {
    return false;
  }
  std::swap(values[index], values[index + 1]);
  return true;
}

bool ChangeGrid(Wrong wrong, unsigned& blocks, unsigned& threads) {
  if (wrong == Wrong::kLong) {
    threads *= 2;
    return true;
  }
  unsigned& halved = blocks > 1 ? blocks : threads;
  if (halved < 2) return false;
  halved /= 2;
  return true;
}

bool Shorten(size_t& bytes) {
  if (bytes < 2) return false;
  bytes /= 2;
  return true;
}

bool ChangeBytes(const CallAccount& account, Wrong wrong, CUdeviceptr& to,
                 CUdeviceptr& from, size_t& bytes) {
  const auto may_access = [&](CUdeviceptr address, size_t count) {
    return account.MayAccess(static_cast<uintptr_t>(address), count);
  };
  switch (wrong) {
    case Wrong::kShort:
      return Shorten(bytes);
    case Wrong::kLong:
      if (!may_access(to, bytes + kMovedBytes) ||
          !may_access(from, bytes + kMovedBytes)) {
        return false;
      }
      bytes += kMovedBytes;
      return true;
    case Wrong::kMoved:
      if (!may_access(to + kMovedBytes, bytes)) return false;
      to += kMovedBytes;
      return true;
    case Wrong::kSwapped:
      if (!may_access(to, bytes) || !may_access(from, bytes)) return false;
      std::swap(to, from);
      return true;
    case Wrong::kNeighbours: {
      const uintptr_t other =
          account.copied_from.OtherThan(static_cast<uintptr_t>(from));
      if (other == 0 || !may_access(other, bytes)) return false;
      from = other;
      return true;
    }
    default:
      return false;
  }
}

bool ChangeAnswer(const CallAccount& account, CUpointer_attribute attribute,
                  void* answer) {
  if (attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE) {
    auto& type = *static_cast<CUmemorytype*>(answer);
    type =
        type == CU_MEMORYTYPE_HOST ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    return true;
  }
  if (attribute != CU_POINTER_ATTRIBUTE_CONTEXT) return false;
  auto& context = *static_cast<CUcontext*>(answer);
  const uintptr_t other = account.contexts.OtherThan(KeyOf(context));
  if (other == 0) return false;
  context = reinterpret_cast<CUcontext>(other);
  return true;
}

}  // namespace partita
