// Reads lists of numbers and identities.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/visible_gpus.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace partita::emulated_gpu {
namespace {

// Numbers of GPUs; or none, which ends the list.
using Named = std::vector<int>;

// As strtoul reads it: "1gpu" is 1.
Named ByNumber(absl::string_view word, int gpus) {
  const auto end =
      std::find_if_not(word.begin(), word.end(), absl::ascii_isdigit);
  int number = 0;
  const bool is_number = absl::SimpleAtoi(
      word.substr(0, static_cast<size_t>(end - word.begin())), &number);
  return is_number && number < gpus ? Named{number} : Named{};
}

Named ByIdentity(absl::string_view word, int gpus) {
  Named named;
  for (int i = 0; i < gpus; ++i) {
    if (absl::StartsWith(UuidText(UuidOfGpu(i)), word)) named.push_back(i);
  }
  return named;
}

}  // namespace

std::vector<int> AllGpus(int gpus) {
  std::vector<int> all(static_cast<size_t>(std::max(gpus, 0)));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

bool AreDifferentGpus(const std::vector<int>& numbers, int gpus) {
  std::vector<int> sorted = numbers;
  absl::c_sort(sorted);
  const bool exist =
      sorted.empty() || (sorted.front() >= 0 && sorted.back() < gpus);
  return exist && absl::c_adjacent_find(sorted) == sorted.end();
}

CUuuid UuidOfGpu(int number) {
  CUuuid uuid;
  std::memset(uuid.bytes, 0xE0, sizeof(uuid.bytes));
  uuid.bytes[15] = static_cast<char>(number);
  return uuid;
}

std::string UuidText(const CUuuid& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    const bool begins_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    absl::StrAppend(
        &text, begins_group ? "-" : "",
        absl::Hex(static_cast<unsigned char>(uuid.bytes[i]), absl::kZeroPad2));
  }
  return text;
}

std::vector<int> VisibleGpus(absl::string_view text, int gpus) {
  std::vector<int> visible;
  const bool identities = absl::StartsWith(text, "GPU-");
  for (absl::string_view word : absl::StrSplit(text, ',')) {
    word = absl::StripAsciiWhitespace(word);
    const Named named =
        identities ? ByIdentity(word, gpus) : ByNumber(word, gpus);
    if (named.empty() || (identities && !absl::StartsWith(word, "GPU-"))) break;
    if (named.size() > 1 || absl::c_linear_search(visible, named[0])) return {};
    visible.push_back(named[0]);
  }
  return visible;
}

}  // namespace partita::emulated_gpu
