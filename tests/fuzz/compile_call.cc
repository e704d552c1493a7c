// Fuzz target: partita_compile returns a plan or an error with a message, for
// any options and any bytes of a model.
// SPDX-License-Identifier: Apache-2.0
//
// An input is options, one KEY=VALUE a line, an empty line, and a model: ONNX
// or text. The machine is always the same: machine_json reads others. Plans do
// not run: c_api runs plans.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "partita/c_api.h"
#include "tests/fuzz/expect.h"

namespace partita {
namespace {

// A compilation takes time in proportion to these.
constexpr size_t kMostModel = 4096;
constexpr size_t kMostOptions = 8;
constexpr absl::string_view kFewEvaluations = "evaluations=8";

constexpr absl::string_view kMachine =
    R"({"name": "two", "devices": [
  {"name": "cpu:0", "kind": "cpu", "memory": "1 MiB", "threads": 1,
   "isa": "avx2", "peak_flops": {"f32": 1e11}, "memory_bandwidth": 1e10},
  {"name": "cpu:1", "kind": "cpu", "memory": "1 MiB", "threads": 1,
   "isa": "avx2", "peak_flops": {"f32": 1e11}, "memory_bandwidth": 1e10}],
 "links": [{"from": "cpu:0", "to": "cpu:1", "bandwidth": 1e10}]})";

// Options that access files, or that bound the time.
constexpr absl::string_view kOfTarget[] = {"machine", "profile", "dump",
                                           "evaluations", "time-budget"};

// For the mutator: lines that mostly are options.
constexpr const char* kLines[] = {
    "strategy=auto",
    "strategy=data",
    "strategy=list",
    "strategy=pinned",
    "strategy=pipeline",
    "strategy=search",
    "strategy=single",
    "pin=*=cpu:1",
    "pin=y=cpu:0,cpu:1/split0",
    "together=h,y",
    "apart=h,y",
    "device=cpu:1",
    "replicas=2",
    "sharded-updates=0",
    "stages=2",
    "objective=memory:0.001",
    "most-devices=1",
    "bucket-size=0",
    "output-device=cpu:1",
    "micro-batches=2",
    "batch-input=x",
    "pipeline-schedule=gpipe",
    "ieee=true",
    "depth=2",
    "dim=batch=2",
    "dim=N=0",
    "shape=x=4,4",
    "shape=x=scalar",
    "bind=x=1,-1",
    "strict-types=true",
    "skip=fold_constants",
    "weights=reference",
    "passes=3",
};

// A file in memory, under a name that can be opened.
class MemoryFile {
 public:
  explicit MemoryFile(absl::string_view bytes)
      : fd_(memfd_create("input", MFD_CLOEXEC)) {
    ExpectFuzz(fd_ >= 0, "memfd_create failed");
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    ExpectFuzz(written == static_cast<ssize_t>(bytes.size()), "write failed");
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return absl::StrCat("/proc/self/fd/", fd_); }

 private:
  const int fd_;
};

struct Input {
  std::vector<std::string> options;
  absl::string_view model;
};

Input Split(absl::string_view bytes) {
  Input input;
  while (!absl::ConsumePrefix(&bytes, "\n") && !bytes.empty()) {
    const absl::string_view line = bytes.substr(0, bytes.find('\n'));
    input.options.emplace_back(line);
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
  }
  input.model = bytes;
  return input;
}

std::string Join(const Input& input) {
  std::string bytes;
  for (const std::string& option : input.options) {
    absl::StrAppend(&bytes, option, "\n");
  }
  return absl::StrCat(bytes, "\n", input.model);
}

bool IsOfTarget(absl::string_view option) {
  const absl::string_view key = option.substr(0, option.find('='));
  return absl::c_linear_search(kOfTarget, key);
}

// Searches end soon, and no input searches unless it says so.
void BoundTime(std::vector<std::string>& options) {
  const bool has_strategy = absl::c_any_of(options, [](const auto& option) {
    return absl::StartsWith(option, "strategy=");
  });
  const bool searches = absl::c_linear_search(options, "strategy=search") ||
                        absl::c_linear_search(options, "strategy=auto");
  if (!has_strategy) options.emplace_back("strategy=single");
  if (searches) options.emplace_back(kFewEvaluations);
}

void CheckCode(partita_code code, const partita_status* status) {
  const std::string name = partita_code_name(code);
  const std::string message = partita_status_message(status);
  ExpectFuzz(name != "UNKNOWN" && code != PARTITA_INTERNAL,
             "a code that no call returns", absl::StrCat(name, ": ", message));
  ExpectFuzz(message.empty() == (code == PARTITA_OK), "no message", name);
}

void CheckPlan(partita_plan* plan, partita_status* status) {
  size_t entries = 0;
  const char* text = nullptr;
  ExpectFuzz(partita_plan_num_entries(plan, &entries, status) == PARTITA_OK &&
                 entries > 0,
             "a plan without entries");
  ExpectFuzz(
      partita_plan_summary(plan, &text, status) == PARTITA_OK && *text != '\0',
      "a plan without a summary");
  ExpectFuzz(partita_plan_warnings(plan, &text, status) == PARTITA_OK,
             "a plan without warnings");
}

void CompileInput(Input input, const std::string& machine) {
  std::erase_if(input.options, IsOfTarget);
  if (input.options.size() > kMostOptions) input.options.resize(kMostOptions);
  BoundTime(input.options);
  input.options.push_back(absl::StrCat("machine=", machine));
  std::vector<const char*> options;
  for (const std::string& option : input.options) {
    options.push_back(option.c_str());
  }
  const MemoryFile model(input.model.substr(0, kMostModel));
  partita_status* const status = partita_status_new();
  partita_plan* plan = nullptr;
  const partita_code code = partita_compile(
      model.path().c_str(), options.data(), options.size(), &plan, status);
  CheckCode(code, status);
  ExpectFuzz((plan != nullptr) == (code == PARTITA_OK), "a code without plan");
  if (plan != nullptr) CheckPlan(plan, status);
  partita_plan_free(plan);
  partita_status_free(status);
}

}  // namespace
}  // namespace partita

// Mutates the options: few changed models are accepted.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size,
                                          size_t max_size, unsigned int seed) {
  using namespace partita;
  std::minstd_rand random(seed);
  const std::string old(reinterpret_cast<const char*>(bytes), size);
  Input input = Split(old);
  std::vector<std::string>& options = input.options;
  const size_t changes = 1 + random() % 3;
  for (size_t i = 0; i < changes; ++i) {
    const char* const line = kLines[random() % std::size(kLines)];
    if (options.empty() || random() % 2 == 0) {
      options.emplace_back(line);
      continue;
    }
    std::string& changed = options[random() % options.size()];
    if (random() % 2 == 0) {
      changed = line;
    } else if (!changed.empty()) {
      changed[random() % changed.size()] =
          static_cast<char>(' ' + random() % ('~' - ' '));
    }
  }
  const std::string joined = Join(input);
  if (joined.size() > max_size) return 0;
  std::copy(joined.begin(), joined.end(), bytes);
  return joined.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  static const MemoryFile& machine = *new MemoryFile(kMachine);
  CompileInput(Split({reinterpret_cast<const char*>(bytes), size}),
               machine.path());
  return 0;
}
