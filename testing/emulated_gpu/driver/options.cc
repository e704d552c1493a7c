// Reads options from the environment.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/options.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/status_macros.h"
#include "testing/emulated_gpu/driver/visible_gpus.h"

namespace partita::emulated_gpu {
namespace {

struct OrderName {
  const char* name;
  Order order;
};
constexpr OrderName kOrders[] = {
    {"random", Order::kRandom},
    {"oldest", Order::kOldestStreamFirst},
    {"youngest", Order::kYoungestStreamFirst},
    {"starve", Order::kStarveOneStream},
    {"waits", Order::kLateWaits},
    {"at_once", Order::kAtOnce},
};

absl::Status Wrong(const char* name, absl::string_view text,
                   absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": found \"", text, "\"; expected ", expected));
}

// Leaves `value` if the variable is not set.
template <typename Number>
absl::Status ReadNumber(const char* name, Number& value) {
  const char* text = std::getenv(name);
  if (text == nullptr || absl::SimpleAtoi(text, &value)) {
    return absl::OkStatus();
  }
  return Wrong(name, text, "a number");
}

absl::Status ReadCapability(EmulatedGpuOptions& options) {
  constexpr char kName[] = "PARTITA_EMULATED_CAPABILITY";
  const char* text = std::getenv(kName);
  if (text == nullptr) return absl::OkStatus();
  const std::vector<std::string> words = absl::StrSplit(text, '.');
  if (words.size() == 2 &&
      absl::SimpleAtoi(words[0], &options.compute_capability_major) &&
      absl::SimpleAtoi(words[1], &options.compute_capability_minor)) {
    return absl::OkStatus();
  }
  return Wrong(kName, text, "a capability as 9.0");
}

using Pairs = std::vector<std::pair<int, int>>;

bool Contains(const Pairs& pairs, int one, int two) {
  return absl::c_linear_search(pairs, std::pair(one, two)) ||
         absl::c_linear_search(pairs, std::pair(two, one));
}

// `pairs` is among `all`. `what` says what these are.
absl::Status ReadPairs(const char* name, const Pairs& all,
                       absl::string_view what, Pairs& pairs) {
  const char* text = std::getenv(name);
  if (text == nullptr) return absl::OkStatus();
  pairs.clear();
  if (absl::string_view(text) == "none") return absl::OkStatus();
  if (absl::string_view(text) == "all") {
    pairs = all;
    return absl::OkStatus();
  }
  for (absl::string_view pair : absl::StrSplit(text, ',')) {
    const std::vector<absl::string_view> ends = absl::StrSplit(pair, '-');
    int one = 0;
    int two = 0;
    if (ends.size() != 2 || !absl::SimpleAtoi(ends[0], &one) ||
        !absl::SimpleAtoi(ends[1], &two) || !Contains(all, one, two)) {
      return Wrong(name, text,
                   absl::StrCat("all, none, or pairs as 0-1,2-3 of ", what));
    }
    pairs.emplace_back(one, two);
  }
  return absl::OkStatus();
}

absl::Status ReadTopology(EmulatedGpuOptions& options) {
  const Pairs all = AllPeers(options.gpus);
  options.peers = all;
  PARTITA_RETURN_IF_ERROR(ReadPairs("PARTITA_EMULATED_PEERS", all,
                                    absl::StrCat("the ", options.gpus, " GPUs"),
                                    options.peers));
  return ReadPairs("PARTITA_EMULATED_NVLINKS", options.peers, "the peers",
                   options.nvlinks);
}

absl::Status ReadOrder(EmulatedGpuOptions& options) {
  constexpr char kName[] = "PARTITA_EMULATED_ORDER";
  const char* text = std::getenv(kName);
  if (text == nullptr) return absl::OkStatus();
  for (const OrderName& row : kOrders) {
    if (absl::string_view(text) != row.name) continue;
    options.order = row.order;
    return absl::OkStatus();
  }
  return Wrong(kName, text,
               "random, oldest, youngest, starve, waits or at_once");
}

absl::Status ReadFailure(EmulatedGpuOptions& options) {
  constexpr char kName[] = "PARTITA_EMULATED_FAIL_CALL";
  const char* text = std::getenv(kName);
  if (text == nullptr) return absl::OkStatus();
  const std::vector<absl::string_view> words = absl::StrSplit(text, ':');
  int code = options.fail_with;
  if (words.size() > 2 || !absl::SimpleAtoi(words[0], &options.fail_call) ||
      (words.size() == 2 && !absl::SimpleAtoi(words[1], &code))) {
    return Wrong(kName, text, "a number, or a number and a code as 12:700");
  }
  options.fail_with = static_cast<CUresult>(code);
  return absl::OkStatus();
}

absl::Status ReadDoubts(Readings& readings) {
  for (const Doubt& doubt : Doubts()) {
    const std::string name =
        absl::AsciiStrToUpper(absl::StrCat("partita_emulated_", doubt.name));
    const char* text = std::getenv(name.c_str());
    if (text == nullptr) continue;
    const absl::string_view reading = text;
    if (reading != "0" && reading != "1") {
      return Wrong(name.c_str(), text, "0 or 1");
    }
    readings.*doubt.reading = reading == "1";
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::pair<int, int>> AllPeers(int gpus) {
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < gpus; ++i) {
    for (int j = i + 1; j < gpus; ++j) pairs.emplace_back(i, j);
  }
  return pairs;
}

absl::StatusOr<EmulatedGpuOptions> OptionsFromEnvironment(
    EmulatedGpuOptions options) {
  PARTITA_RETURN_IF_ERROR(ReadNumber("PARTITA_EMULATED_GPUS", options.gpus));
  PARTITA_RETURN_IF_ERROR(
      ReadNumber("PARTITA_EMULATED_BYTES", options.bytes_per_gpu));
  PARTITA_RETURN_IF_ERROR(
      ReadNumber("PARTITA_EMULATED_CONTEXT_BYTES", options.bytes_per_context));
  PARTITA_RETURN_IF_ERROR(
      ReadNumber("PARTITA_EMULATED_KERNEL_BYTES", options.bytes_per_kernel));
  PARTITA_RETURN_IF_ERROR(ReadNumber("PARTITA_EMULATED_SEED", options.seed));
  PARTITA_RETURN_IF_ERROR(ReadCapability(options));
  PARTITA_RETURN_IF_ERROR(ReadTopology(options));
  if (const char* name = std::getenv("PARTITA_EMULATED_NAME")) {
    options.name = name;
  }
  PARTITA_RETURN_IF_ERROR(ReadOrder(options));
  PARTITA_RETURN_IF_ERROR(ReadFailure(options));
  PARTITA_RETURN_IF_ERROR(ReadDoubts(options.readings));
  if (const char* shown = std::getenv("CUDA_VISIBLE_DEVICES")) {
    options.visible = VisibleGpus(shown, options.gpus);
  }
  return options;
}

}  // namespace partita::emulated_gpu
