// Element by element.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

void CompareElement(double a, double b, int64_t index, double rtol, double atol,
                    Difference& difference) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return;
  double apart = std::fabs(a - b);
  // NaN against a number, or infinities of different sign.
  if (std::isnan(apart)) apart = std::numeric_limits<double>::infinity();
  if (apart > difference.absolute) {
    difference.absolute = apart;
    difference.worst = index;
  }
  if (b != 0) {
    difference.relative = std::max(difference.relative, apart / std::fabs(b));
  }
  if (!(apart <= atol + rtol * std::fabs(b))) difference.within = false;
}

}  // namespace

Difference Compare(const HostTensor& actual, const HostTensor& expected,
                   double rtol, double atol) {
  Difference difference;
  if (actual.type() != expected.type()) {
    difference.within = false;
    difference.same_bits = false;
    difference.problem =
        absl::StrCat("found ", actual.type().ToString(), "; expected ",
                     expected.type().ToString());
    return difference;
  }
  const size_t size = actual.byte_span().size();
  difference.same_bits =
      size == 0 || std::memcmp(actual.bytes(), expected.bytes(), size) == 0;
  if (difference.same_bits) return difference;
  for (int64_t i = 0; i < expected.type().num_elements(); ++i) {
    CompareElement(GetAsDouble(actual, i), GetAsDouble(expected, i), i, rtol,
                   atol, difference);
  }
  return difference;
}

double LargestMagnitude(const HostTensor& tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    const double magnitude = std::fabs(GetAsDouble(tensor, i));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

}  // namespace partita
