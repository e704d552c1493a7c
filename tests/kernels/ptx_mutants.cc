// Changes of single lines.
// SPDX-License-Identifier: Apache-2.0

#include "tests/kernels/ptx_mutants.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace partita {
namespace {

struct Replacement {
  const char* from;  // the beginning of an instruction
  const char* to;
};
constexpr Replacement kReplacements[] = {
    {"add.", "sub."},
    {"sub.", "add."},
    {"mul.rn.", "add.rn."},
    {"div.rn.", "mul.rn."},
    {"mul.lo.", "add."},
    {"mul.hi.", "mul.lo."},
    {"and.", "or."},
    {"or.", "and."},
    {"xor.", "and."},
    {"shl.", "shr."},
    {"shr.s", "shr.u"},
    {"shr.u", "shr.s"},
    {"neg.", "abs."},
    {"abs.", "neg."},
    {"sqrt.rn.", "rcp.rn."},
    {"rcp.rn.", "sqrt.rn."},
    {"min.", "max."},
    {"max.", "min."},
    {"setp.lt.", "setp.le."},
    {"setp.le.", "setp.lt."},
    {"setp.gt.", "setp.ge."},
    {"setp.ge.", "setp.gt."},
    {"setp.ltu.", "setp.lt."},
    {"setp.eq.", "setp.ne."},
    {"setp.ne.", "setp.eq."},
    {"setp.neu.", "setp.ne."},
    {"setp.nan.", "setp.num."},
    {"cvt.rni.", "cvt.rmi."},
    {"cvt.rmi.", "cvt.rpi."},
    {"cvt.rpi.", "cvt.rni."},
    {"shfl.sync.down.", "shfl.sync.idx."},
    {"shfl.sync.idx.", "shfl.sync.down."},
};

struct Line {
  std::string guard;  // "@%p1 ", or nothing
  std::string name;
  std::vector<std::string> operands;

  std::string Text() const {
    return absl::StrCat("\t", guard, name, "\t", absl::StrJoin(operands, ", "),
                        ";");
  }
};

// Between commas that are not in braces.
std::vector<std::string> SplitOperands(absl::string_view text) {
  std::vector<std::string> operands;
  int depth = 0;
  std::string operand;
  for (char c : text) {
    depth += (c == '{') - (c == '}');
    if (c == ',' && depth == 0) {
      operands.push_back(std::exchange(operand, ""));
    } else if (c != ' ' || !operand.empty()) {
      operand += c;
    }
  }
  if (!operand.empty()) operands.push_back(operand);
  return operands;
}

// False for labels, declarations, comments and `ret`.
bool ReadLine(absl::string_view text, Line& line) {
  text = absl::StripAsciiWhitespace(text);
  if (!absl::EndsWith(text, ";") || text.front() == '.' ||
      text.front() == '{' || text == "ret;") {
    return false;
  }
  text.remove_suffix(1);
  if (text.front() == '@') {
    const size_t space = text.find(' ');
    line.guard = std::string(text.substr(0, space + 1));
    text = absl::StripAsciiWhitespace(text.substr(space + 1));
  }
  const size_t end = text.find_first_of(" \t");
  if (end == absl::string_view::npos) return false;
  line.name = std::string(text.substr(0, end));
  line.operands = SplitOperands(absl::StripAsciiWhitespace(text.substr(end)));
  return true;
}

std::vector<Line> WithOtherName(const Line& line) {
  std::vector<Line> changed;
  for (const Replacement& replacement : kReplacements) {
    if (!absl::StartsWith(line.name, replacement.from)) continue;
    Line other = line;
    other.name =
        absl::StrCat(replacement.to, absl::string_view(line.name).substr(
                                         std::string(replacement.from).size()));
    changed.push_back(std::move(other));
  }
  return changed;
}

// Where the order of operands matters.
bool IsOrdered(absl::string_view name) {
  for (absl::string_view ordered :
       {"sub.", "div.", "shl.", "shr.", "setp.l", "setp.g", "selp."}) {
    if (absl::StartsWith(name, ordered)) return true;
  }
  return false;
}

std::vector<Line> WithSwappedOperands(const Line& line) {
  std::vector<Line> changed;
  const bool is_sum = absl::StartsWith(line.name, "fma.") ||
                      absl::StartsWith(line.name, "mad.");
  if (IsOrdered(line.name) || is_sum) {
    Line other = line;
    std::swap(other.operands[is_sum ? 3 : 1], other.operands[2]);
    if (other.operands != line.operands) changed.push_back(std::move(other));
  }
  for (size_t i = 0; i < line.operands.size(); ++i) {
    if (line.operands[i].front() != '{') continue;
    std::vector<std::string> elements =
        absl::StrSplit(absl::string_view(line.operands[i])
                           .substr(1, line.operands[i].size() - 2),
                       ", ");
    std::swap(elements.front(), elements.back());
    Line other = line;
    other.operands[i] = absl::StrCat("{", absl::StrJoin(elements, ", "), "}");
    changed.push_back(std::move(other));
  }
  return changed;
}

std::vector<Line> WithOtherNumbers(const Line& line) {
  std::vector<Line> changed;
  for (size_t i = 1; i < line.operands.size(); ++i) {
    const std::string& operand = line.operands[i];
    const std::string digits = absl::StrReplaceAll(operand, {{"0f", "0x"}});
    int64_t number = 0;
    uint32_t bits = 0;
    Line other = line;
    if (absl::SimpleAtoi(operand, &number)) {
      // The largest number of 64 bits has no successor.
      constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
      other.operands[i] =
          absl::StrCat(number < kLargest ? number + 1 : number - 1);
    } else if (absl::StartsWith(operand, "0f") &&
               absl::SimpleHexAtoi(digits, &bits)) {
      // Another sign and exponent: the last place of a coefficient is not seen
      // in every result.
      other.operands[i] =
          absl::StrCat("0f", absl::Hex(bits ^ 0x80800000u, absl::kZeroPad8));
    } else {
      continue;
    }
    changed.push_back(std::move(other));
  }
  return changed;
}

std::vector<Line> WithOppositeGuard(const Line& line) {
  if (line.guard.empty()) return {};
  Line other = line;
  other.guard = absl::StartsWith(line.guard, "@!")
                    ? absl::StrCat("@", line.guard.substr(2))
                    : absl::StrCat("@!", line.guard.substr(1));
  return {other};
}

}  // namespace

std::vector<PtxMutant> MutantsOf(absl::string_view ptx) {
  std::vector<std::string> lines = absl::StrSplit(ptx, '\n');
  std::vector<PtxMutant> mutants;
  for (size_t i = 0; i < lines.size(); ++i) {
    Line line;
    if (!ReadLine(lines[i], line)) continue;
    const std::string before = lines[i];
    const auto add = [&](const std::string& changed) {
      lines[i] = changed;
      mutants.push_back(
          {absl::StrCat("line ", i + 1, ": `",
                        absl::StripAsciiWhitespace(before), "` -> `",
                        absl::StripAsciiWhitespace(changed), "`"),
           absl::StrJoin(lines, "\n")});
      lines[i] = before;
    };
    add("");
    for (const std::vector<Line>& changed :
         {WithOtherName(line), WithSwappedOperands(line),
          WithOtherNumbers(line), WithOppositeGuard(line)}) {
      for (const Line& other : changed) add(other.Text());
    }
  }
  return mutants;
}

}  // namespace partita
