// Strides, dilations and pads.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/op_programs/window_taps.h"

#include <cstdlib>

namespace partita {
namespace {

constexpr int64_t kMost = int64_t{1} << 28;

// o * stride - before + k * dilation
Register At(const IndexReader& read, const Window& window, int d,
            Register small, Register kernel) {
  return read.Offset({small, kernel}, {window.strides[d], window.dilations[d]},
                     -window.before[d]);
}

// Taps of positions that fit are on elements where there is no pad.
bool HasPads(const Window& window, int d) {
  const int64_t last =
      (window.small[d] - 1) * window.strides[d] + window.Extent(d) - 1;
  return window.before[d] > 0 || last >= window.large[d];
}

}  // namespace

absl::Status CheckWindow(const IndexNode& node, const Window& window) {
  for (int d = 0; d < window.rank(); ++d) {
    for (int64_t value :
         {window.large[d], window.small[d], window.kernel[d], window.strides[d],
          window.dilations[d], window.strides[d] * window.small[d],
          window.dilations[d] * window.kernel[d], std::abs(window.before[d]),
          std::abs(window.after[d])}) {
      if (value > kMost) return node.NotGenerated("a window beyond 28 bits");
    }
  }
  return absl::OkStatus();
}

TapPlace LargeOf(const IndexReader& read, const Window& window,
                 absl::Span<const Register> small,
                 absl::Span<const Register> kernel) {
  TapPlace place;
  for (int d = 0; d < window.rank(); ++d) {
    const Register at = At(read, window, d, small[d], kernel[d]);
    place.at.push_back(at);
    if (!HasPads(window, d)) continue;
    place.exists.Add(read.IsInside(at, window.large[d]));
  }
  return place;
}

TapPlace SmallOf(const IndexReader& read, const Window& window,
                 absl::Span<const Register> large,
                 absl::Span<const Register> kernel) {
  TapPlace place;
  for (int d = 0; d < window.rank(); ++d) {
    const int64_t stride = window.strides[d];
    const Register distance = read.Offset(
        {large[d], kernel[d]}, {1, -window.dilations[d]}, window.before[d]);
    place.exists.Add(read.Index(0) <= distance);
    if (stride > 1) {
      place.exists.Add(Equal(Remainder(distance, stride), read.Index(0)));
    }
    const Register at = Quotient(distance, stride);
    place.exists.Add(at < read.Index(window.small[d]));
    place.at.push_back(at);
  }
  return place;
}

Conditions Counts(const IndexReader& read, const Window& window,
                  absl::Span<const Register> small,
                  absl::Span<const Register> kernel, bool with_pads) {
  Conditions counts;
  for (int d = 0; d < window.rank(); ++d) {
    const Register at = At(read, window, d, small[d], kernel[d]);
    const int64_t before = with_pads ? window.before[d] : 0;
    const int64_t after = with_pads ? window.after[d] : 0;
    counts.Add(read.IsInside(at + read.Index(before),
                             before + window.large[d] + after));
  }
  return counts;
}

}  // namespace partita
