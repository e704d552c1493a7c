// One row for each reason.
// SPDX-License-Identifier: Apache-2.0

#include "partita/reason_sentence.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace partita {
namespace {

// `$` stands for what follows the reason's word.
struct Sentence {
  absl::string_view word;
  absl::string_view text;
};
constexpr Sentence kSentences[] = {
    {"only_device",
     "the only device that runs all nodes, or the one that --device names"},
    {"best_device",
     "the fastest device on which the whole graph fits (strategy single)"},
    {"pinned", "--pin, or `on` in the model's text"},
    {"near_constant", "its weight $ is pinned there"},
    {"follows", "$ is there"},
    {"only_kernel", "no other device has a kernel for it"},
    {"memory_full", "the better device had no room for it"},
    {"cheaper_by", "it ends $ earlier there than on the next best device"},
    {"first_of_equals",
     "it ends no earlier on another device, and this one is the first"},
    {"stage", "its stage of the pipeline is there (strategy pipeline)"},
    {"sharded", "each replica computes its shard of the batch (strategy data)"},
    {"replicated", "every replica computes it whole (strategy data)"},
    {"searched", "no move that the search tried was better (strategy search)"},
};

}  // namespace

std::string ReasonSentence(absl::string_view reason) {
  const size_t end = reason.find(' ');
  const absl::string_view word = reason.substr(0, end);
  const absl::string_view rest =
      end == absl::string_view::npos
          ? ""
          : absl::StripAsciiWhitespace(reason.substr(end));
  for (const Sentence& sentence : kSentences) {
    if (sentence.word != word) continue;
    return absl::StrReplaceAll(sentence.text, {{"$", rest}});
  }
  return std::string(reason);
}

}  // namespace partita
