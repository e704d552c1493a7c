// partita run: a plan, or a model compiled on the way, on real or virtual
// devices.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/gpu_split.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "kernels/cpu/onednn_recipe.h"
#include "partita/compile.h"
#include "partita/options/input_files.h"
#include "partita/options/placing_flags.h"
#include "partita/reference_check.h"
#include "partita/session.h"
#include "tools/partita/compile_flags.h"
#include "tools/partita/cuda_libs_flag.h"
#include "tools/partita/emulated_gpus.h"
#include "tools/partita/expected_outputs.h"
#include "tools/partita/memory_report.h"
#include "tools/partita/model_input.h"
#include "tools/partita/output.h"
#include "tools/partita/plan_input.h"
#include "tools/partita/remedy_line.h"
#include "tools/partita/report_text.h"
#include "tools/partita/run_files.h"
#include "tools/partita/run_inputs.h"
#include "tools/partita/run_learning.h"
#include "tools/partita/run_report.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

constexpr FlagDef kOwnFlags[] = {
    {"virtual", nullptr, "host memory and threads emulate all devices"},
    {"emulated-gpus", nullptr,
     "software runs the GPUs' real code, slowly, and checks every access"},
    {kSplitGpuFlag, "N",
     "each GPU stands for N devices of the plan, in their order (default 1)"},
    kCudaLibsFlag,
    {"timed", nullptr,
     "devices sleep for the predicted times, computing nothing"},
    {"trust-code", nullptr,
     "run native code from the plan file, which no checker proves"},
    {"entry", "NAME", "which function; required if a plan has several"},
    {"input", "NAME=FILE",
     "an input, .npy or .pb, which decides what an ONNX model leaves open; "
     "repeatable",
     nullptr, FileUse::kReadsBound, true, nullptr, kTensorFiles},
    {"seed", "N", "inputs that are not given are random numbers of this seed"},
    {"output", "FOLDER", "write the outputs there as NAME.npy"},
    {"test-data", "FOLDER",
     "inputs from input_0.pb ..., compare output_0.pb ...", nullptr,
     FileUse::kReadsFolder},
    {"rtol", "X", "relative tolerance of --test-data (default 1e-3)"},
    {"atol", "X",
     "absolute tolerance, as a share of the output's largest magnitude "
     "(default 1e-3)"},
    {"reference", nullptr,
     "also compute by reference and compare every step bit for bit"},
    {"chaos", "SEED",
     "random delays, which must not change the result; others in each step"},
    {"repeat", "N", "run N times and report the median time"},
    {"trace", "FILE", "write the measured timeline in Chrome's format", nullptr,
     FileUse::kWrites},
    kMemorySnapshotFlag,
    {"learn", "FILE",
     "trace the steps, and add each kernel's median to this profile; expects "
     "the plan's own devices",
     nullptr, FileUse::kWrites, false, nullptr, kProfileFiles},
    {"json", nullptr, "report as JSON"},
};
constexpr auto kFlags =
    JoinFlags(kPlacementFlags, kOverlapFlags, kModelFlags, kOwnFlags);

// Flags that one flag makes meaningless.
absl::Status RefuseBeside(const char* flag, absl::Span<const char* const> void_,
                          const char* why, const Arguments& arguments) {
  if (!arguments.has(flag)) return absl::OkStatus();
  for (const char* other : void_) {
    if (!arguments.has(other)) continue;
    return CalledWrongly(absl::StrCat("--", flag, ": found --", other,
                                      " beside it; expected it alone, as ",
                                      why));
  }
  return absl::OkStatus();
}

absl::Status CheckFlags(const Arguments& arguments) {
  PARTITA_RETURN_IF_ERROR(RefuseBeside(
      "timed", {"virtual", "reference", "test-data", "output", "input", "seed"},
      "timed devices compute nothing", arguments));
  PARTITA_RETURN_IF_ERROR(RefuseBeside(
      "emulated-gpus", {"virtual", "timed"},
      "the host then emulates all devices, by its own kernels", arguments));
  PARTITA_RETURN_IF_ERROR(RefuseBeside(
      kSplitGpuFlag, {"virtual", "timed"},
      "the host then emulates all devices, each with memory of its own",
      arguments));
  PARTITA_RETURN_IF_ERROR(RefuseBeside(
      "learn", {"virtual", "timed", "emulated-gpus", kSplitGpuFlag, "chaos"},
      "emulators, shares of GPUs and delayed steps do not take as long as the "
      "plan's devices",
      arguments));
  if (arguments.Get("learn", "") == "-") {
    return CalledWrongly(
        "--learn: found -, and a profile is a file that is added to; expected "
        "the name of a file");
  }
  PARTITA_RETURN_IF_ERROR(RefuseBeside("test-data", {"input", "seed"},
                                       "the folder holds every input",
                                       arguments));
  for (const char* flag : {"rtol", "atol"}) {
    if (!arguments.has(flag) || arguments.has("test-data")) continue;
    return CalledWrongly(absl::StrCat(
        "--", flag, ": found nothing to compare; expected --test-data FOLDER"));
  }
  return absl::OkStatus();
}

DeviceMode ModeOf(const Arguments& arguments) {
  if (arguments.has("timed")) return DeviceMode::kTimed;
  return arguments.has("virtual") ? DeviceMode::kVirtual : DeviceMode::kReal;
}

// A plan, and how it was made, if it was made on the way.
struct PlanToRun {
  std::shared_ptr<const Plan> plan;
  std::optional<CompileReport> report;
};

// Stores the files of its weights in `inputs`, and the data that it is read for
// in `tested`.
absl::StatusOr<PlanToRun> PlanOf(const std::string& path,
                                 const Arguments& arguments, Progress& progress,
                                 InputFiles& inputs, TestInputs& tested) {
  PARTITA_RETURN_IF_ERROR(CheckPrefix(path, BuiltInModels()));
  PARTITA_ASSIGN_OR_RETURN(const bool is_plan, IsPlan(path));
  if (is_plan) {
    PARTITA_RETURN_IF_ERROR(RefuseWithPlan(
        arguments, JoinFlags(kPlacementFlags, kOverlapFlags, kModelFlags)));
    progress.Stage("read");
    PARTITA_ASSIGN_OR_RETURN(Plan plan, ReadPlanInput(path));
    inputs.AddWeights(plan.module.literals());
    return PlanToRun{std::make_shared<const Plan>(std::move(plan)), {}};
  }
  PARTITA_ASSIGN_OR_RETURN(CompileOptions options,
                           ReadCompileOptions(arguments));
  options.progress = [&](absl::string_view name) { progress.Stage(name); };
  PARTITA_ASSIGN_OR_RETURN(const Machine machine, ReadMachineFlag(arguments));
  PARTITA_ASSIGN_OR_RETURN(Module module, ReadModel(arguments, tested));
  inputs.AddWeights(module.literals());
  absl::StatusOr<Compiled> compiled =
      Compile(std::move(module), machine, options);
  PARTITA_RETURN_IF_ERROR(WithCommandLine(
      compiled.status(),
      {.command = "run",
       .arguments = arguments,
       .machine = machine,
       .read = ReadModelAgain,
       .runs_on_host = !arguments.has("virtual") && !arguments.has("timed") &&
                       !arguments.has("emulated-gpus")}));
  return PlanToRun{std::make_shared<const Plan>(std::move(compiled->plan)),
                   std::move(compiled->report)};
}

// The entry of --entry, or the only one.
absl::Status UseEntryFlag(const Arguments& arguments, Session& session) {
  if (arguments.has("entry")) {
    return session.UseEntry(arguments.Get("entry", ""));
  }
  const std::vector<Entry>& entries = session.plan().entries;
  if (entries.size() == 1) return absl::OkStatus();
  return CalledWrongly(absl::StrCat(
      "run: found ", entries.size(), " entries; expected --entry NAME, one of ",
      absl::StrJoin(entries, ", ", [](std::string* out, const Entry& entry) {
        absl::StrAppend(out, entry.name);
      })));
}

// The numeric flags, which are read before anything is loaded.
struct FlagNumbers {
  int64_t repeat = 1;
  uint64_t chaos_seed = 0;  // if --chaos is given
  double rtol = 0;
  double atol = 0;
  GpuSplit split;
};

absl::StatusOr<FlagNumbers> ReadNumbers(const Arguments& arguments) {
  FlagNumbers numbers;
  PARTITA_ASSIGN_OR_RETURN(numbers.repeat,
                           arguments.GetInt("repeat", 1, 1, 1'000'000));
  PARTITA_ASSIGN_OR_RETURN(
      numbers.chaos_seed,
      arguments.GetInt("chaos", 0, 0, std::numeric_limits<int64_t>::max()));
  PARTITA_ASSIGN_OR_RETURN(numbers.rtol, arguments.GetDouble("rtol", 1e-3));
  PARTITA_ASSIGN_OR_RETURN(numbers.atol, arguments.GetDouble("atol", 1e-3));
  PARTITA_ASSIGN_OR_RETURN(numbers.split, ReadSplitGpuFlag(arguments));
  return numbers;
}

// Options of a step; each step has other delays.
RunOptions OptionsOf(const Arguments& arguments, const FlagNumbers& numbers,
                     int64_t step) {
  RunOptions options;
  options.trace = arguments.has("trace") || arguments.has("learn");
  if (arguments.has("chaos")) options.chaos_seed = numbers.chaos_seed + step;
  return options;
}

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

// Runs --repeat steps, and compares each with the reference if requested.
absl::Status RunSteps(Session& session, const Arguments& arguments,
                      const FlagNumbers& numbers, Progress& progress,
                      std::vector<double>& seconds) {
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<RunLearning> learning,
                           RunLearning::For(session, arguments));
  for (int64_t step = 0; step < numbers.repeat; ++step) {
    progress.Stage(absl::StrCat("step ", step + 1, " of ", numbers.repeat));
    std::optional<ReferenceCheck> check;
    if (arguments.has("reference")) {
      PARTITA_ASSIGN_OR_RETURN(check, ReferenceCheck::Of(session));
    }
    const auto start = std::chrono::steady_clock::now();
    PARTITA_RETURN_IF_ERROR(session.Run(OptionsOf(arguments, numbers, step)));
    seconds.push_back(SecondsSince(start));
    // The first of several steps fills caches and commits memory.
    const bool is_typical = step > 0 || numbers.repeat == 1;
    if (learning != nullptr && is_typical) learning->AddStep();
    if (check.has_value()) {
      PARTITA_RETURN_IF_ERROR(check->Compare(step + 1));
    }
  }
  std::sort(seconds.begin(), seconds.end());
  return learning == nullptr ? absl::OkStatus() : learning->Write();
}

bool HasReferenceLoop(const KernelBinding& kernel) {
  return absl::c_any_of(kernel.arithmetics, [](const Arithmetic& arithmetic) {
    return IsReferenceLoop(arithmetic);
  });
}

// See RunReport::slow_nodes.
std::vector<std::string> SlowNodes(const Graph& graph) {
  std::vector<std::string> slow;
  for (const OpView& op : graph.ops()) {
    const std::optional<KernelBinding>& kernel = op.node().kernel;
    if (!kernel.has_value() || !HasReferenceLoop(*kernel)) continue;
    slow.push_back(
        absl::StrCat(op.ToString(), " by ", kernel->kernel.ToString()));
  }
  return slow;
}

// What is known before the first step.
RunReport ReportHead(const Session& session, const std::string& notice,
                     const Arguments& arguments) {
  const Graph& graph = *session.plan().entries[session.entry()].graph;
  return {.notice = notice,
          .replaced_kernels = session.ReplacedKernels(),
          .slow_nodes = SlowNodes(graph),
          .on_virtual_devices = arguments.has("virtual"),
          .has_reference = arguments.has("reference"),
          .updates_variables = !graph.updates().empty()};
}

// One line before the steps, for people.
absl::Status ReportBegin(const Session& session,
                         const std::optional<CompileReport>& report,
                         const Arguments& arguments, const FlagNumbers& numbers,
                         Progress& progress) {
  if (!report.has_value() || arguments.has("json")) return absl::OkStatus();
  const size_t entry = session.entry();
  progress.Done();
  return WriteText(
      "-", RunBeginText({.entry = session.plan().entries[entry].name,
                         .strategy = report->strategy,
                         .chosen_step = report->chosen_step,
                         .has_pins = report->has_pins,
                         .devices = UsedDevices(*report, entry),
                         .step_seconds = report->entries[entry].step_seconds,
                         .steps = numbers.repeat,
                         .has_reference = arguments.has("reference")}));
}

// Files are written before the report, as its reader may stop reading.
absl::Status RunAndReport(Session& session, RunReport report,
                          const Arguments& arguments,
                          const FlagNumbers& numbers, Progress& progress) {
  PARTITA_RETURN_IF_ERROR(
      RunSteps(session, arguments, numbers, progress, report.seconds));
  PARTITA_ASSIGN_OR_RETURN(report.memory, session.MemoryUse());
  const std::string& entry = session.plan().entries[session.entry()].name;
  for (StepLaunches& launches : session.Launches()) {
    if (launches.entry == entry) report.launches.push_back(launches);
  }
  progress.Stage("write");
  PARTITA_RETURN_IF_ERROR(WriteRunFiles(session, arguments));
  if (arguments.has("test-data")) {
    PARTITA_ASSIGN_OR_RETURN(
        report.outputs, CompareTestData(session, arguments.Get("test-data", ""),
                                        numbers.rtol, numbers.atol));
  }
  progress.Done();
  PARTITA_RETURN_IF_ERROR(WriteText(
      "-", arguments.has("json") ? RunJson(report) : RunText(report)));
  return CheckTolerances(report.outputs);
}

absl::Status Run(const Arguments& arguments) {
  PARTITA_RETURN_IF_ERROR(CheckFlags(arguments));
  PARTITA_ASSIGN_OR_RETURN(const FlagNumbers numbers, ReadNumbers(arguments));
  Progress progress("run");
  InputFiles inputs(arguments, kFlags);
  TestInputs tested;
  PARTITA_ASSIGN_OR_RETURN(
      const PlanToRun to_run,
      PlanOf(arguments.positional()[0], arguments, progress, inputs, tested));
  const auto load_and_run = [&](const std::string& notice) -> absl::Status {
    progress.Stage("load");
    PARTITA_ASSIGN_OR_RETURN(
        const std::unique_ptr<Session> session,
        Session::Create(to_run.plan, {.devices = ModeOf(arguments),
                                      .trust_code = arguments.has("trust-code"),
                                      .split_gpu = numbers.split.shares}));
    PARTITA_RETURN_IF_ERROR(UseEntryFlag(arguments, *session));
    PARTITA_RETURN_IF_ERROR(CheckRunFiles(*session, inputs, arguments));
    PARTITA_RETURN_IF_ERROR(SetInputs(*session, arguments, tested));
    PARTITA_RETURN_IF_ERROR(
        ReportBegin(*session, to_run.report, arguments, numbers, progress));
    return RunAndReport(
        *session,
        ReportHead(*session, JoinNotices(session->notice(), notice), arguments),
        arguments, numbers, progress);
  };
  return OnEmulatedGpusIf(arguments.has("emulated-gpus"), *to_run.plan,
                          numbers.split, load_and_run);
}

}  // namespace

const Subcommand kRunCommand = {
    .name = "run",
    .usage = "run PLAN|MODEL [--virtual] [--test-data FOLDER]",
    .doc =
        "Runs a plan, as a file or as text, or a model that is compiled on "
        "the way.\n"
        "Inputs come from files, from ONNX test data, or are random numbers "
        "of a seed.\n"
        "With --virtual, host threads and memory emulate every device of "
        "the plan. With\n"
        "--emulated-gpus a software GPU runs the plan's own GPU code, and "
        "checks each access.\n"
        "Exits non-zero if an output is outside the tolerance or differs from "
        "the reference.\n"
        "Kernels of several threads wait for one another on their cores, "
        "for a millisecond,\n"
        "or less where other programs want the cores; with "
        "OMP_WAIT_POLICY=passive in the\n"
        "environment they sleep at once.",
    .operand = "model or plan",
    .reads = kModelAndPlanFiles,
    .flags = kFlags,
    .offers = BuiltInModels,
    .run = Run,
};

}  // namespace partita
