// Formats the declarations of flags.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/flags_help.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace partita {

std::string FlagDoc(const FlagDef& flag) {
  return flag.full_doc == nullptr ? flag.doc : flag.full_doc(flag);
}

std::string FlagsHelp(absl::Span<const FlagDef> flags) {
  std::string text;
  for (const FlagDef& flag : flags) {
    const std::string left =
        absl::StrCat("--", flag.name, flag.value == nullptr ? "" : " ",
                     flag.value == nullptr ? "" : flag.value);
    absl::StrAppendFormat(&text, "  %-26s %s\n", left, FlagDoc(flag));
  }
  return text;
}

}  // namespace partita
