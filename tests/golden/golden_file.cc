// Splits golden files at their marks.
// SPDX-License-Identifier: Apache-2.0

#include "tests/golden/golden_file.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace partita {
namespace {

using Ending = GoldenExample::Ending;

constexpr absl::string_view kTitle = "=== ";
constexpr absl::string_view kEnding = "--- ";
constexpr absl::string_view kRun = "// run:";

bool ReadEnding(absl::string_view words, GoldenExample& example) {
  if (words == "becomes") {
    example.ending = Ending::kBecomes;
  } else if (words == "unchanged") {
    example.ending = Ending::kUnchanged;
  } else if (words == "fails") {
    example.ending = Ending::kFails;
  } else if (absl::ConsumePrefix(&words, "same as ")) {
    example.ending = Ending::kSameAs;
    example.expected = std::string(words);
  } else {
    return false;
  }
  return true;
}

// Without blank lines at either end, and with one line end.
std::string Trimmed(absl::string_view text) {
  while (absl::ConsumePrefix(&text, "\n")) {
  }
  return absl::StrCat(absl::StripTrailingAsciiWhitespace(text), "\n");
}

std::string EndingText(const GoldenExample& example) {
  switch (example.ending) {
    case Ending::kBecomes:
      return absl::StrCat("--- becomes\n", example.expected);
    case Ending::kUnchanged:
      return "--- unchanged\n";
    case Ending::kFails:
      return absl::StrCat("--- fails\n", example.expected);
    case Ending::kSameAs:
      break;
  }
  return absl::StrCat("--- same as ", example.expected, "\n");
}

}  // namespace

absl::StatusOr<GoldenFile> ParseGolden(absl::string_view text) {
  GoldenFile file;
  std::string* part = &file.head;
  bool ended = true;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (absl::ConsumePrefix(&line, kTitle)) {
      if (!ended) break;
      ended = false;
      file.examples.push_back({.title = std::string(line)});
      part = &file.examples.back().input;
    } else if (absl::ConsumePrefix(&line, kEnding)) {
      if (ended || !ReadEnding(line, file.examples.back())) {
        return absl::InvalidArgumentError(
            absl::StrCat("line ", number, ": found --- ", line,
                         "; expected, once an example: becomes, unchanged, "
                         "fails or same as <title>"));
      }
      ended = true;
      part = &file.examples.back().expected;
      // Text after these endings is ignored.
      static std::string& ignored = *new std::string;
      const Ending ending = file.examples.back().ending;
      if (ending == Ending::kUnchanged || ending == Ending::kSameAs) {
        part = &ignored;
        ignored.clear();
      }
    } else {
      absl::StrAppend(part, line, "\n");
      if (part == &file.head && absl::ConsumePrefix(&line, kRun)) {
        for (absl::string_view pass : absl::StrSplit(line, ',')) {
          file.passes.emplace_back(absl::StripAsciiWhitespace(pass));
        }
      }
    }
  }
  if (!ended || file.examples.empty()) {
    return absl::InvalidArgumentError(
        "found an example without an ending, or no example; expected === "
        "<title>, a graph, and --- becomes, unchanged, fails or same as");
  }
  file.head = Trimmed(file.head);
  for (GoldenExample& example : file.examples) {
    example.input = Trimmed(example.input);
    if (example.ending == Ending::kBecomes ||
        example.ending == Ending::kFails) {
      example.expected = Trimmed(example.expected);
    }
  }
  return file;
}

std::string PrintGolden(const GoldenFile& file) {
  std::string text = file.head;
  for (const GoldenExample& example : file.examples) {
    absl::StrAppend(&text, "\n=== ", example.title, "\n", example.input,
                    EndingText(example));
  }
  return text;
}

}  // namespace partita
