// The kinds of mutation.
// SPDX-License-Identifier: Apache-2.0

#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace partita {
namespace {

using Random = std::mt19937_64;

size_t Below(size_t bound, Random& random) {
  return bound == 0 ? 0 : static_cast<size_t>(random() % bound);
}

void FlipBit(std::string& bytes, Random& random) {
  if (bytes.empty()) return;
  bytes[Below(bytes.size(), random)] ^= static_cast<char>(1 << random() % 8);
}

void SetByte(std::string& bytes, Random& random) {
  if (bytes.empty()) return;
  bytes[Below(bytes.size(), random)] = static_cast<char>(random());
}

// A binary number of 1, 2, 4 or 8 bytes at the edge of some range.
void SetNumber(std::string& bytes, Random& random) {
  static constexpr int64_t kEdges[] = {
      0,          1,         -1,        127,
      128,        255,       256,       INT16_MAX,
      UINT16_MAX, INT32_MAX, INT32_MIN, UINT32_MAX,
      INT64_MAX,  INT64_MIN, 1 << 20,   int64_t{1} << 40};
  const size_t size = size_t{1} << random() % 4;
  if (bytes.size() < size) return;
  const int64_t value = kEdges[Below(std::size(kEdges), random)];
  std::memcpy(&bytes[Below(bytes.size() - size + 1, random)], &value, size);
}

// The same in decimal, replacing a run of digits if there is one.
void SetDecimal(std::string& bytes, Random& random) {
  static constexpr const char* kEdges[] = {"0",
                                           "1",
                                           "-1",
                                           "2147483648",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "18446744073709551616",
                                           "1e400",
                                           "nan"};
  size_t at = Below(bytes.size() + 1, random);
  const size_t digit = bytes.find_first_of("0123456789", at);
  if (digit != std::string::npos) at = digit;
  size_t end = at;
  while (end < bytes.size() && bytes[end] >= '0' && bytes[end] <= '9') ++end;
  bytes.replace(at, end - at, kEdges[Below(std::size(kEdges), random)]);
}

void Cut(std::string& bytes, Random& random) {
  const size_t at = Below(bytes.size(), random);
  if (!bytes.empty()) bytes.erase(at, 1 + Below(16, random));
}

void CutEnd(std::string& bytes, Random& random) {
  bytes.resize(Below(bytes.size() + 1, random));
}

// Copies a part of `from` to some position of `bytes`.
void Insert(const std::string& from, std::string& bytes, Random& random) {
  if (from.empty()) return;
  const size_t start = Below(from.size(), random);
  const size_t longest = random() % 8 == 0 ? from.size() : 40;
  const std::string slice = from.substr(start, 1 + Below(longest, random));
  const size_t at = Below(bytes.size() + 1, random);
  if (random() % 2 == 0) {
    bytes.insert(at, slice);
  } else {
    bytes.replace(at, std::min(slice.size(), bytes.size() - at), slice);
  }
}

void MutateOnce(const std::vector<std::string>& seeds, std::string& bytes,
                Random& random) {
  switch (random() % 8) {
    case 0:
      return FlipBit(bytes, random);
    case 1:
      return SetByte(bytes, random);
    case 2:
      return SetNumber(bytes, random);
    case 3:
      return SetDecimal(bytes, random);
    case 4:
      return Cut(bytes, random);
    case 5:
      if (random() % 8 == 0) return CutEnd(bytes, random);
      [[fallthrough]];
    case 6: {
      const std::string own = bytes;
      return Insert(own, bytes, random);
    }
    default:
      return Insert(seeds[Below(seeds.size(), random)], bytes, random);
  }
}

}  // namespace

std::string Mutate(const std::vector<std::string>& seeds, size_t max_size,
                   std::mt19937_64& random) {
  std::string bytes = seeds[Below(seeds.size(), random)];
  for (uint64_t i = 0, count = 1 + random() % 8; i < count; ++i) {
    MutateOnce(seeds, bytes, random);
  }
  if (bytes.size() > max_size) bytes.resize(max_size);
  return bytes;
}

}  // namespace partita
