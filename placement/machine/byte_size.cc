// Reading and writing of sizes in bytes.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/byte_size.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace partita {
namespace {

struct Unit {
  absl::string_view name;
  double bytes;
};

constexpr Unit kUnits[] = {
    {"TiB", 0x1p40}, {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10},
    {"TB", 1e12},    {"GB", 1e9},     {"MB", 1e6},     {"kB", 1e3},
    {"B", 1},        {"", 1},
};
constexpr int kNumBinaryUnits = 4;

}  // namespace

std::optional<int64_t> ParseByteSize(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  const size_t digits = text.find_first_not_of("0123456789.");
  const absl::string_view number = text.substr(0, digits);
  const absl::string_view unit_name =
      digits == absl::string_view::npos
          ? absl::string_view()
          : absl::StripLeadingAsciiWhitespace(text.substr(digits));
  double value = 0;
  if (!absl::SimpleAtod(number, &value)) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (unit.name != unit_name) continue;
    const double bytes = value * unit.bytes;
    if (!(bytes <= kMaxByteSize) || bytes != std::floor(bytes)) break;
    return static_cast<int64_t>(bytes);
  }
  return std::nullopt;
}

std::string ExactByteSize(int64_t bytes) {
  for (int i = 0; i < kNumBinaryUnits; ++i) {
    const int64_t unit = static_cast<int64_t>(kUnits[i].bytes);
    if (bytes >= unit && bytes % unit == 0) {
      return absl::StrCat(bytes / unit, " ", kUnits[i].name);
    }
  }
  return absl::StrCat(bytes, " B");
}

std::string RoundedByteSize(int64_t bytes) {
  return RoundedByteSize(bytes, bytes);
}

std::string RoundedByteSize(int64_t bytes, int64_t other) {
  const auto text_in = [](const Unit& unit, int64_t size) {
    return absl::StrFormat("%.1f %s", size / unit.bytes, unit.name);
  };
  for (int i = 0; i < kNumBinaryUnits; ++i) {
    const Unit& unit = kUnits[i];
    if (bytes < unit.bytes) continue;
    std::string text = text_in(unit, bytes);
    if (bytes == other || text != text_in(unit, other)) return text;
  }
  return absl::StrCat(bytes, " B");
}

}  // namespace partita
