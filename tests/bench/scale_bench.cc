// How compilation, simulation and proof grow with nodes and devices.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "graph/status_macros.h"
#include "partita/backends/built_in_catalog.h"
#include "partita/compile.h"
#include "placement/machine/sample_machines.h"
#include "placement/simulate/command_cost.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/checker/prove_plan.h"
#include "tests/bench/isolated_run.h"
#include "tests/bench/scale_models.h"
#include "tools/partita/arguments.h"

namespace partita {
namespace {

constexpr FlagDef kFlags[] = {
    {"only", "TEXT", "only the lines whose name contains TEXT"},
    {"ops", "N", "nodes of the inference (default 10656)"},
    {"large-ops", "N", "nodes of the large inference (default 106656)"},
    {"step-ops", "N", "nodes of the data-parallel step (default 1056)"},
    {"training-ops", "N", "nodes of the pipelined step (default 7208)"},
    {"devices", "N", "devices of most lines (default 8)"},
    {"data-devices", "N", "devices of the data-parallel step (default 64)"},
    {"micro-batches", "N", "of the pipelined step (default 16)"},
    {"commands", "N", "commands of the simulated plan (default 1000000)"},
    {"limit", "S", "seconds after which a line is given up (default 600)"},
    {"stages", nullptr, "also print the seconds of each stage"},
};

enum class Model : uint8_t { kInference, kTraining };

// One compilation.
struct Case {
  std::string name;
  Model model = Model::kInference;
  int nodes = 0;
  int devices = 0;
  std::string strategy;
  int micro_batches = 1;
  bool simulates = false;  // and proves, each timed on its own
};

struct Seconds {
  double compile = 0;
  double simulate = 0;
  double prove = 0;
};

struct Measured {
  int nodes = 0;
  int64_t commands = 0;
  Seconds seconds;
};

// A line of the table.
struct Line {
  Case work;
  Measured measured;
  double mebibytes = 0;
  std::string error;  // empty: it was measured
};

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

// Several rows for each of the micro-batches and devices.
int64_t BatchOf(const Case& work) {
  return int64_t{2} * work.devices * work.micro_batches;
}

absl::StatusOr<Module> ModelOf(const Case& work) {
  return work.model == Model::kInference
             ? LayeredModel(work.nodes, BatchOf(work))
             : TrainingModel(work.nodes, BatchOf(work));
}

absl::StatusOr<int64_t> CommandsOf(const Plan& plan) {
  int64_t commands = 0;
  for (const Entry& entry : plan.entries) {
    PARTITA_ASSIGN_OR_RETURN(const CommandList expanded, Expand(entry));
    commands += static_cast<int64_t>(expanded.size());
  }
  return commands;
}

absl::Status SimulateEntries(const Plan& plan, const Machine& machine) {
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    PARTITA_ASSIGN_OR_RETURN(
        const std::vector<double> seconds,
        PlacedNodeSeconds(*plan.entries[e].graph, machine, BuiltInCatalog()));
    PARTITA_RETURN_IF_ERROR(
        Simulate(plan, static_cast<int>(e), machine, seconds).status());
  }
  return absl::OkStatus();
}

void PrintStages(const Case& work, const CompileReport& report) {
  for (const StageTime& stage : report.stages) {
    std::printf("  %-24s %-24s %8.3f s\n", work.name.c_str(),
                stage.stage.c_str(), stage.seconds);
  }
}

absl::StatusOr<Measured> Measure(const Case& work, bool prints_stages) {
  PARTITA_ASSIGN_OR_RETURN(Module module, ModelOf(work));
  Measured measured{.nodes = NodesOf(module)};
  const Machine machine = EqualCpus(work.devices, int64_t{64} << 30);
  CompileOptions options;
  options.strategy = work.strategy;
  options.micro_batches = work.micro_batches;
  auto begin = std::chrono::steady_clock::now();
  PARTITA_ASSIGN_OR_RETURN(const Compiled compiled,
                           Compile(std::move(module), machine, options));
  measured.seconds.compile = SecondsSince(begin);
  if (prints_stages) PrintStages(work, compiled.report);
  PARTITA_ASSIGN_OR_RETURN(measured.commands, CommandsOf(compiled.plan));
  if (!work.simulates) return measured;
  begin = std::chrono::steady_clock::now();
  PARTITA_RETURN_IF_ERROR(SimulateEntries(compiled.plan, machine));
  measured.seconds.simulate = SecondsSince(begin);
  begin = std::chrono::steady_clock::now();
  PARTITA_RETURN_IF_ERROR(ProvePlan(compiled.plan).status());
  measured.seconds.prove = SecondsSince(begin);
  return measured;
}

// What a child sends: the numbers, or a word and the error.
std::string Encode(const absl::StatusOr<Measured>& measured) {
  if (!measured.ok()) {
    return absl::StrCat("error ", measured.status().message());
  }
  return absl::StrFormat("%d %d %.6f %.6f %.6f", measured->nodes,
                         measured->commands, measured->seconds.compile,
                         measured->seconds.simulate, measured->seconds.prove);
}

bool Decode(const std::string& text, Measured& measured) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  return words.size() == 5 && absl::SimpleAtoi(words[0], &measured.nodes) &&
         absl::SimpleAtoi(words[1], &measured.commands) &&
         absl::SimpleAtod(words[2], &measured.seconds.compile) &&
         absl::SimpleAtod(words[3], &measured.seconds.simulate) &&
         absl::SimpleAtod(words[4], &measured.seconds.prove);
}

Line LineOf(const Case& work, int limit_seconds, bool prints_stages) {
  const IsolatedRun run = RunIsolated(
      [&] { return Encode(Measure(work, prints_stages)); }, limit_seconds);
  Line line{.work = work, .mebibytes = run.peak_mebibytes};
  if (!run.ended) {
    line.error = "killed, by the limit or for want of memory";
  } else if (!Decode(run.text, line.measured)) {
    line.error = run.text;
  }
  return line;
}

void PrintLine(const Line& line) {
  const Case& work = line.work;
  std::printf("%-24s %-9s %7d %7d", work.name.c_str(), work.strategy.c_str(),
              line.measured.nodes, work.devices);
  if (!line.error.empty()) {
    std::printf("  %s\n", line.error.c_str());
    return;
  }
  const Measured& m = line.measured;
  std::printf(" %9lld %9.2f %7.0f", static_cast<long long>(m.commands),
              m.seconds.compile, line.mebibytes);
  if (work.simulates) {
    std::printf(" %9.2f %7.2f", m.seconds.simulate, m.seconds.prove);
  }
  std::printf("\n");
}

void PrintTable(absl::Span<const Line> lines) {
  std::printf("%-24s %-9s %7s %7s %9s %9s %7s %9s %7s\n", "", "strategy",
              "nodes", "devices", "commands", "compile_s", "MiB", "simulate_s",
              "prove_s");
  for (const Line& line : lines) PrintLine(line);
}

// The e of seconds ~ size^e from one line to the next.
void PrintExponent(const char* of, const Line& small, const Line& large,
                   double small_size, double large_size) {
  if (!small.error.empty() || !large.error.empty()) return;
  std::printf("exponent in %-8s %5.2f  (%s, %s)\n", of,
              std::log(large.measured.seconds.compile /
                       small.measured.seconds.compile) /
                  std::log(large_size / small_size),
              small.work.name.c_str(), large.work.name.c_str());
}

// The two exponents that the table shows, of those lines that were measured.
void PrintExponents(absl::Span<const Line> lines) {
  for (const Line& small : lines) {
    for (const Line& large : lines) {
      const Case& a = small.work;
      const Case& b = large.work;
      if (a.strategy != b.strategy || a.model != b.model || a.simulates ||
          b.simulates) {
        continue;
      }
      if (a.devices == b.devices && a.nodes < b.nodes) {
        PrintExponent("nodes", small, large, small.measured.nodes,
                      large.measured.nodes);
      } else if (a.nodes == b.nodes && a.devices < b.devices) {
        PrintExponent("devices", small, large, a.devices, b.devices);
      }
    }
  }
}

absl::StatusOr<int> Positive(const Arguments& arguments, const char* flag,
                             int otherwise) {
  PARTITA_ASSIGN_OR_RETURN(
      const int64_t value,
      arguments.GetInt(flag, otherwise, 1, int64_t{1} << 30));
  return static_cast<int>(value);
}

absl::StatusOr<std::vector<Case>> Cases(const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(const int ops, Positive(arguments, "ops", 10'656));
  PARTITA_ASSIGN_OR_RETURN(const int large,
                           Positive(arguments, "large-ops", 106'656));
  PARTITA_ASSIGN_OR_RETURN(const int step,
                           Positive(arguments, "step-ops", 1'056));
  PARTITA_ASSIGN_OR_RETURN(const int training,
                           Positive(arguments, "training-ops", 7'208));
  PARTITA_ASSIGN_OR_RETURN(const int devices,
                           Positive(arguments, "devices", 8));
  PARTITA_ASSIGN_OR_RETURN(const int wide,
                           Positive(arguments, "data-devices", 64));
  PARTITA_ASSIGN_OR_RETURN(const int micro_batches,
                           Positive(arguments, "micro-batches", 16));
  PARTITA_ASSIGN_OR_RETURN(const int commands,
                           Positive(arguments, "commands", 1'000'000));
  // A micro-batch of the inference has about one command for two nodes.
  const int many = std::max(1, static_cast<int>(2.0 * commands / ops));
  return std::vector<Case>{
      {"inference", Model::kInference, ops, devices, "list"},
      {"inference", Model::kInference, ops, devices, "pipeline"},
      {"inference", Model::kInference, ops, devices, "auto"},
      {"large inference", Model::kInference, large, devices, "list"},
      {"step", Model::kTraining, step, devices, "list"},
      {"step", Model::kTraining, step, devices, "data"},
      {"step", Model::kTraining, step, devices, "auto"},
      {"step on many devices", Model::kTraining, step, wide, "data"},
      {"pipelined step", Model::kTraining, training, devices, "pipeline",
       micro_batches},
      {"many commands", Model::kInference, ops, devices, "pipeline", many,
       true},
  };
}

absl::Status Main(absl::Span<const char* const> words) {
  PARTITA_ASSIGN_OR_RETURN(const Arguments arguments,
                           Arguments::Parse(words, kFlags));
  if (!arguments.positional().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("usage: scale_bench\n\n", FlagsHelp(kFlags)));
  }
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Case> cases, Cases(arguments));
  PARTITA_ASSIGN_OR_RETURN(const int limit, Positive(arguments, "limit", 600));
  std::vector<Line> lines;
  for (const Case& work : cases) {
    if (!absl::StrContains(absl::StrCat(work.name, " ", work.strategy),
                           arguments.Get("only", ""))) {
      continue;
    }
    lines.push_back(LineOf(work, limit, arguments.has("stages")));
    std::fprintf(stderr, "%s by %s: done\n", work.name.c_str(),
                 work.strategy.c_str());
  }
  PrintTable(lines);
  PrintExponents(lines);
  return absl::OkStatus();
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  const absl::Status status = partita::Main(
      absl::MakeConstSpan(argv + 1, static_cast<size_t>(argc - 1)));
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}
