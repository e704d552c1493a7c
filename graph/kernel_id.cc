// Splits names of kernels.
// SPDX-License-Identifier: Apache-2.0

#include "graph/kernel_id.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace partita {

KernelId::KernelId(absl::string_view text) {
  const size_t dot = text.find('.');
  if (dot == text.npos || dot + 1 == text.size()) {
    library = std::string(text);
    return;
  }
  library = std::string(text.substr(0, dot));
  name = std::string(text.substr(dot + 1));
}
KernelId::KernelId(const char* text) : KernelId(absl::string_view(text)) {}
KernelId::KernelId(const std::string& text)
    : KernelId(absl::string_view(text)) {}

std::string KernelId::ToString() const {
  return name.empty() ? library : absl::StrCat(library, ".", name);
}

bool KernelId::Is(const KernelId& other) const {
  if (library != other.library) return false;
  return other.name.empty() || name == other.name ||
         absl::StartsWith(name, absl::StrCat(other.name, "."));
}

}  // namespace partita
