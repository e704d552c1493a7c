// Runs the rules of testing/emulated_gpu/driver_rules on the CUDA driver that
// is found: driver_rules [FOLDER OF libcuda.so.1]
//
// A line a rule: PASS, FAIL with what was seen, or SKIP with the reason. Ends
// with 1 if one failed.
// SPDX-License-Identifier: Apache-2.0

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/driver_rules/rule.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita {
namespace {

using driver_rules::Rule;

constexpr unsigned kSecondsOfRule = 60;

enum Outcome { kPass, kFail, kSkip };

Outcome Print(const char* word, const Rule& rule, const std::string& text) {
  std::printf("%s %-28s %-32s %s\n", word, rule.name, rule.source,
              text.c_str());
  std::fflush(stdout);
  return word[0] == 'P' ? kPass : word[0] == 'F' ? kFail : kSkip;
}

Outcome Check(const DriverApi& api, const Rule& rule) {
  int devices = 0;
  if (const CUresult result = api.Init(0); result != CUDA_SUCCESS) {
    return Print("FAIL", rule, CudaCodeName(api, result));
  }
  api.DeviceGetCount(&devices);
  if (devices < rule.devices) {
    return Print(
        "SKIP", rule,
        absl::StrCat("found ", devices, " devices; expected ", rule.devices));
  }
  driver_rules::Bench bench(api);
  rule.check(bench);
  return bench.faults().empty() ? Print("PASS", rule, "")
                                : Print("FAIL", rule, bench.faults());
}

// In a process of its own: an error may end the device's contexts. The driver
// is opened there, as it does not outlive a fork.
Outcome CheckInChild(const CudaSearchPath& path, const Rule& rule) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSecondsOfRule);
    const absl::StatusOr<DriverApi> api = LoadCudaDriver(path);
    if (!api.ok()) {
      Print("FAIL", rule, std::string(api.status().message()));
      _exit(kFail);
    }
    _exit(Check(*api, rule));
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) return static_cast<Outcome>(WEXITSTATUS(status));
  return Print("FAIL", rule,
               absl::StrCat("the process died: signal ", WTERMSIG(status)));
}

int Main(int argc, char** argv) {
  CudaSearchPath path;
  if (argc > 1) path.folders.push_back(std::filesystem::absolute(argv[1]));
  int counts[3] = {};
  for (const Rule& rule : driver_rules::AllRules()) {
    ++counts[CheckInChild(path, rule)];
  }
  std::printf("%d passed, %d failed, %d skipped\n", counts[kPass],
              counts[kFail], counts[kSkip]);
  return counts[kFail] == 0 ? 0 : 1;
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) { return partita::Main(argc, argv); }
