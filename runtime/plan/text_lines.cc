// Chooses the column where a line's comment begins.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/text_lines.h"

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

constexpr size_t kCommentColumn = 48;

}  // namespace

void TextLines::Add(int indent, std::string text, const std::string& comment) {
  out_.append(indent, ' ');
  if (comments_ && !comment.empty()) {
    const size_t width = indent + text.size() + 2;
    text.append(width < kCommentColumn ? kCommentColumn - width + 2 : 2, ' ');
    absl::StrAppend(&text, "// ", comment);
  }
  absl::StrAppend(&out_, text, "\n");
}

}  // namespace partita
