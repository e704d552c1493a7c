// Shortest decimal text of floats, and exact reading of all numbers.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/number_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace partita {
namespace {

// The bits of a float type, and the NaN that is written as "nan".
template <typename T>
struct Format;
template <>
struct Format<double> {
  using Bits = uint64_t;
  static constexpr Bits kNan = 0x7ff8000000000000;
  static constexpr Bits kSign = Bits{1} << 63;
};
template <>
struct Format<float> {
  using Bits = uint32_t;
  static constexpr Bits kNan = 0x7fc00000;
  static constexpr Bits kSign = Bits{1} << 31;
};
template <>
struct Format<Half> {
  using Bits = uint16_t;
  static constexpr Bits kNan = 0x7e00;
  static constexpr Bits kSign = Bits{1} << 15;
};
template <>
struct Format<BFloat16> {
  using Bits = uint16_t;
  static constexpr Bits kNan = 0x7fc0;
  static constexpr Bits kSign = Bits{1} << 15;
};

template <typename T>
typename Format<T>::Bits BitsOfFloat(T value) {
  return std::bit_cast<typename Format<T>::Bits>(value);
}

template <typename T>
constexpr bool kIsNarrow =
    std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// from_chars, for the whole of `text`.
template <typename T, typename... Options>
bool ReadAll(absl::string_view text, T& value, Options... options) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value, options...);
  return !text.empty() && stop == end && error == std::errc();
}

template <typename T>
std::string NanText(T value) {
  const auto bits = BitsOfFloat(value);
  if (bits == Format<T>::kNan) return "nan";
  if (bits == (Format<T>::kNan | Format<T>::kSign)) return "-nan";
  return absl::StrCat("nan:", absl::Hex(bits));
}

template <typename T>
std::string Shortest(T value) {
  char buffer[64];
  auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

// The fewest digits that round to the same 16 bits, or the exact value if that
// is shorter (65504, not 6.55e+04).
template <typename T>
std::string ShortestNarrow(T value) {
  const std::string exact = Shortest(static_cast<double>(value));
  for (int digits = 1; digits < 17; ++digits) {
    char buffer[64];
    auto result = std::to_chars(buffer, buffer + sizeof(buffer),
                                static_cast<double>(value),
                                std::chars_format::general, digits);
    double read = 0;
    if (ReadAll(absl::string_view(buffer, result.ptr - buffer), read) &&
        T(read).bits == value.bits) {
      const std::string rounded(buffer, result.ptr);
      return rounded.size() < exact.size() ? rounded : exact;
    }
  }
  return exact;
}

template <typename T>
std::string FloatText(T value) {
  const double wide = static_cast<double>(value);
  if (std::isnan(wide)) return NanText(value);
  if (std::isinf(wide)) return wide < 0 ? "-inf" : "inf";
  if constexpr (kIsNarrow<T>) {
    return ShortestNarrow(value);
  } else {
    return Shortest(value);
  }
}

template <typename T>
bool ParseNan(absl::string_view text, T& value) {
  typename Format<T>::Bits bits = Format<T>::kNan;
  if (text == "-nan") {
    bits |= Format<T>::kSign;
  } else if (absl::ConsumePrefix(&text, "nan:")) {
    if (!ReadAll(text, bits, 16)) return false;
  } else if (text != "nan") {
    return false;
  }
  value = std::bit_cast<T>(bits);
  return std::isnan(static_cast<double>(value));
}

template <typename T>
bool ParseFloat(absl::string_view text, T& value) {
  if (absl::StrContains(text, "nan")) return ParseNan(text, value);
  if (text == "inf" || text == "-inf") {
    const double infinity = std::numeric_limits<double>::infinity();
    value = static_cast<T>(text[0] == '-' ? -infinity : infinity);
    return true;
  }
  if (absl::StrContains(text, "inf")) return false;
  if constexpr (kIsNarrow<T>) {
    double wide = 0;
    if (!ReadAll(text, wide)) return false;
    value = T(wide);
    return std::isfinite(static_cast<double>(value));
  } else {
    return ReadAll(text, value);
  }
}

std::string BoolText(uint8_t byte) {
  if (byte == 0) return "false";
  if (byte == 1) return "true";
  return absl::StrCat(byte);  // not a bool, but the byte is kept
}

bool ParseBoolByte(absl::string_view text, uint8_t& byte) {
  if (text == "false" || text == "true") {
    byte = text == "true";
    return true;
  }
  return ReadAll(text, byte);
}

}  // namespace

std::string DoubleText(double value) { return FloatText(value); }

bool ParseDouble(absl::string_view text, double& value) {
  return ParseFloat(text, value);
}

bool ParseInt64(absl::string_view text, int64_t& value) {
  return ReadAll(text, value);
}

std::string NumberText(const Number& number) {
  if (!number.is_integer()) return DoubleText(number.ToDouble());
  const auto* value = std::get_if<int64_t>(&number.held());
  return value != nullptr ? absl::StrCat(*value)
                          : absl::StrCat(number.ToWrapped());
}

bool ParseNumber(absl::string_view text, Number& number) {
  int64_t with_sign = 0;
  uint64_t without = 0;
  double value = 0;
  // "-0" is the double that NumberText wrote.
  if (text != "-0" && ReadAll(text, with_sign)) {
    number = Number(with_sign);
  } else if (ReadAll(text, without)) {
    number = Number(without);
  } else if (ParseDouble(text, value)) {
    number = Number(value);
  } else {
    return false;
  }
  return true;
}

std::string ElementText(const HostTensor& tensor, int64_t index) {
  return VisitDType(tensor.type().dtype, [&]<typename T>(TypeTag<T>) {
    if constexpr (std::is_same_v<T, bool>) {
      return BoolText(std::to_integer<uint8_t>(tensor.bytes()[index]));
    } else if constexpr (kIsFloat<T>) {
      return FloatText(tensor.data<T>()[index]);
    } else {
      return absl::StrCat(tensor.data<T>()[index]);
    }
  });
}

bool ParseElement(absl::string_view text, HostTensor& tensor, int64_t index) {
  return VisitDType(tensor.type().dtype, [&]<typename T>(TypeTag<T>) {
    if constexpr (std::is_same_v<T, bool>) {
      uint8_t byte = 0;
      if (!ParseBoolByte(text, byte)) return false;
      tensor.bytes()[index] = std::byte{byte};
      return true;
    } else if constexpr (kIsFloat<T>) {
      return ParseFloat(text, tensor.data<T>()[index]);
    } else {
      return ReadAll(text, tensor.data<T>()[index]);
    }
  });
}

}  // namespace partita
