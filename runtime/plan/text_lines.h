// Lines of plan text with comments in one column.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_TEXT_LINES_H_
#define PARTITA_RUNTIME_PLAN_TEXT_LINES_H_

#include <string>

namespace partita {

class TextLines {
 public:
  // Appends to `out`, which must outlive this. Omits comments unless
  // `comments`.
  TextLines(bool comments, std::string& out) : comments_(comments), out_(out) {}

  void Add(int indent, std::string text, const std::string& comment = "");

 private:
  const bool comments_;
  std::string& out_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_TEXT_LINES_H_
