// Runs a fuzz target without libFuzzer: first the seeds, then mutated seeds.
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/fuzz/memory_meter.h"
#include "tests/fuzz/mutate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

// As in libFuzzer: mutates bytes in place, for targets that know their format,
// and returns the new size; 0 if it cannot.
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(
    uint8_t* bytes, size_t size, size_t max_size, unsigned int seed);

namespace {

namespace fs = std::filesystem;

constexpr unsigned kSecondsPerInput = 20;

struct Options {
  int64_t runs = 1000;
  int64_t seconds = 10;
  int64_t seed = 1;
  int64_t max_size = 1 << 16;
  // The memory that an input may take: this much, plus this much for each byte.
  int64_t free_mib = 16;
  int64_t bytes_per_byte = 512;
  std::string suffix;              // of the files to read in folders
  std::vector<std::string> seeds;  // contents
};

// For the signal handler, set before every input.
const char* current_bytes = nullptr;
size_t current_size = 0;
char crash_path[4096] = "crash-input";

// Writes the input that ended the program; only async-signal-safe calls.
void OnFault(int signal_number) {
  const int fd = open(crash_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd >= 0) {
    ssize_t ignored = write(fd, current_bytes, current_size);
    ignored = write(2, "\ninput kept in ", 15);
    ignored = write(2, crash_path, strnlen(crash_path, sizeof(crash_path)));
    ignored = write(2, "\n", 1);
    (void)ignored;
    close(fd);
  }
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void KeepInputs() {
  if (const char* folder = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR")) {
    std::snprintf(crash_path, sizeof(crash_path), "%s/crash-input", folder);
  }
  for (int number : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM}) {
    signal(number, OnFault);
  }
}

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void AddSeeds(const fs::path& path, const std::string& suffix,
              std::vector<std::string>& seeds) {
  if (!fs::is_directory(path)) {
    seeds.push_back(ReadFile(path));
    return;
  }
  std::vector<fs::path> paths;  // sorted, independent of the file system
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (!entry.is_regular_file()) continue;
    if (absl::EndsWith(entry.path().string(), suffix)) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& file : paths) seeds.push_back(ReadFile(file));
}

bool ParseOption(absl::string_view argument, absl::string_view name,
                 int64_t& value) {
  const std::string prefix = absl::StrCat("--", name, "=");
  return absl::StartsWith(argument, prefix) &&
         absl::SimpleAtoi(argument.substr(prefix.size()), &value);
}

bool ParseOptions(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument = argv[i];
    if (ParseOption(argument, "runs", options.runs) ||
        ParseOption(argument, "seconds", options.seconds) ||
        ParseOption(argument, "seed", options.seed) ||
        ParseOption(argument, "max_size", options.max_size) ||
        ParseOption(argument, "free_mib", options.free_mib) ||
        ParseOption(argument, "bytes_per_byte", options.bytes_per_byte)) {
      continue;
    }
    if (absl::StartsWith(argument, "--suffix=")) {
      options.suffix = argv[i] + std::strlen("--suffix=");
      continue;
    }
    if (absl::StartsWith(argument, "--") || !fs::exists(argv[i])) {
      std::fprintf(stderr,
                   "%s: expected --runs=N, --seconds=N, --seed=N, "
                   "--max_size=N, --free_mib=N, --bytes_per_byte=N, "
                   "--suffix=.END, or a file or folder of seeds\n",
                   argv[i]);
      return false;
    }
    AddSeeds(argv[i], options.suffix, options.seeds);
  }
  options.seeds.push_back("");
  return true;
}

// ./test runs every target for this time, and reproduces a run by its seed.
void ReadEnvironment(Options& options) {
  const char* seconds = std::getenv("PARTITA_FUZZ_SECONDS");
  const char* seed = std::getenv("PARTITA_SEED");
  if (seconds != nullptr && absl::SimpleAtoi(seconds, &options.seconds)) {
    options.runs = std::numeric_limits<int64_t>::max();
  }
  if (seed != nullptr && absl::SimpleAtoi(seed, &options.seed)) return;
}

// The most memory of an input besides its own bytes, for the report.
int64_t most_bytes = 0;
double most_bytes_per_byte = 0;

void CheckMemory(const Options& options, const std::string& input) {
  const int64_t size = static_cast<int64_t>(input.size());
  const int64_t peak = partita::PeakBytes();
  most_bytes = std::max(most_bytes, peak);
  most_bytes_per_byte =
      std::max(most_bytes_per_byte, static_cast<double>(peak) / (size + 1024));
  if (peak <= (options.free_mib << 20) + options.bytes_per_byte * size) return;
  std::fprintf(stderr,
               "found %lld bytes at once for an input of %lld; expected at "
               "most %lld MiB, and %lld for each\n",
               static_cast<long long>(peak), static_cast<long long>(size),
               static_cast<long long>(options.free_mib),
               static_cast<long long>(options.bytes_per_byte));
  std::abort();
}

void Run(const Options& options, const std::string& input) {
  current_bytes = input.data();
  current_size = input.size();
  alarm(kSecondsPerInput);
  partita::BeginMeter();
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()),
                         input.size());
  CheckMemory(options, input);
  alarm(0);
}

// A seed as mutated by the target itself; empty if it cannot.
std::string MutateByTarget(const Options& options, std::mt19937_64& random) {
  const std::string& seed = options.seeds[random() % options.seeds.size()];
  const size_t max_size = static_cast<size_t>(options.max_size);
  if (seed.size() > max_size) return "";
  std::string bytes = seed;
  bytes.resize(max_size);
  bytes.resize(LLVMFuzzerCustomMutator(reinterpret_cast<uint8_t*>(bytes.data()),
                                       seed.size(), max_size,
                                       static_cast<unsigned int>(random())));
  return bytes;
}

std::string NextInput(const Options& options, std::mt19937_64& random) {
  if (LLVMFuzzerCustomMutator != nullptr && random() % 4 != 0) {
    std::string bytes = MutateByTarget(options, random);
    if (!bytes.empty()) return bytes;
  }
  return partita::Mutate(options.seeds, static_cast<size_t>(options.max_size),
                         random);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, options)) return 2;
  ReadEnvironment(options);
  KeepInputs();
  for (const std::string& seed : options.seeds) Run(options, seed);
  std::mt19937_64 random(static_cast<uint64_t>(options.seed));
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
  int64_t runs = 0;
  while (runs < options.runs && std::chrono::steady_clock::now() < end) {
    Run(options, NextInput(options, random));
    ++runs;
  }
  std::printf(
      "%zu seeds and %lld changed inputs (seed %lld): no fault, %lld bytes at "
      "the most, %.0f for each of an input of 1024 and more\n",
      options.seeds.size(), static_cast<long long>(runs),
      static_cast<long long>(options.seed), static_cast<long long>(most_bytes),
      most_bytes_per_byte);
  return 0;
}
