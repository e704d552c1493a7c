// The name of a kernel in a library.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_KERNEL_ID_H_
#define PARTITA_GRAPH_KERNEL_ID_H_

#include <ostream>
#include <string>

#include "absl/strings/string_view.h"

namespace partita {

// "onednn.conv" is the kernel `conv` of the library `onednn`.
struct KernelId {
  KernelId() = default;
  // The library is what stands before the first dot. Without a dot: any kernel
  // of that library. Implicit, so that literals are ids.
  KernelId(absl::string_view text);   // NOLINT
  KernelId(const char* text);         // NOLINT
  KernelId(const std::string& text);  // NOLINT
  std::string ToString() const;
  // True for `other` itself, a variant of it, and any kernel of a library that
  // `other` names alone: "a.b.c" is "a.b.c", "a.b" and "a".
  bool Is(const KernelId& other) const;
  friend bool operator==(const KernelId&, const KernelId&) = default;
  friend std::ostream& operator<<(std::ostream& out, const KernelId& id) {
    return out << id.ToString();
  }

  std::string library;
  std::string name;  // may have dots: "elementwise.interpreted"
};

// The library of kernels that have costs and no code. A plan that binds one can
// be proved, predicted and emulated, but the device itself cannot run it.
inline constexpr char kCostOnlyLibrary[] = "cost_only";

}  // namespace partita

#endif  // PARTITA_GRAPH_KERNEL_ID_H_
