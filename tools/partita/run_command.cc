// partita run: a plan, or a model compiled on the way, on real or virtual
// devices.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/atomic_file.h"
#include "graph/onnx/tested_model.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "graph/text/names.h"
#include "kernels/cpu/onednn_recipe.h"
#include "partita/compile.h"
#include "partita/session.h"
#include "runtime/tensor_file/npy.h"
#include "tools/partita/compare.h"
#include "tools/partita/input_files.h"
#include "tools/partita/model_input.h"
#include "tools/partita/output.h"
#include "tools/partita/plan_input.h"
#include "tools/partita/remedy_line.h"
#include "tools/partita/run_inputs.h"
#include "tools/partita/run_report.h"
#include "tools/partita/subcommand.h"
#include "tools/partita/tensor_file.h"

namespace partita {
namespace {

constexpr FlagDef kOwnFlags[] = {
    {"virtual", nullptr, "host memory and threads emulate all devices"},
    {"timed", nullptr,
     "devices sleep for the predicted times, computing nothing"},
    {"trust-code", nullptr,
     "run native code from the plan file, which no checker proves"},
    {"entry", "NAME", "which function; required if a plan has several"},
    {"input", "NAME=FILE",
     "an input, .npy or .pb, which decides what an ONNX model leaves open; "
     "repeatable",
     nullptr, FileUse::kReadsBound, true},
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

// A finished plan: flags that would change it are mistakes.
absl::Status RefuseCompileFlags(const Arguments& arguments) {
  for (const FlagDef& flag :
       JoinFlags(kPlacementFlags, kOverlapFlags, kModelFlags)) {
    if (!arguments.has(flag.name)) continue;
    return CalledWrongly(
        absl::StrCat("--", flag.name, ": found it with a plan, which is ",
                     "compiled already; expected it with a model"));
  }
  return absl::OkStatus();
}

// Stores the files of its weights in `inputs`, and the data that it is read for
// in `tested`.
absl::StatusOr<std::shared_ptr<const Plan>> PlanOf(const std::string& path,
                                                   const Arguments& arguments,
                                                   Progress& progress,
                                                   InputFiles& inputs,
                                                   TestInputs& tested) {
  PARTITA_ASSIGN_OR_RETURN(const bool is_plan, IsPlan(path));
  if (is_plan) {
    PARTITA_RETURN_IF_ERROR(RefuseCompileFlags(arguments));
    PARTITA_ASSIGN_OR_RETURN(Plan plan, ReadPlanInput(path));
    inputs.AddWeights(plan.module.literals());
    return std::make_shared<const Plan>(std::move(plan));
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
       .runs_on_host = !arguments.has("virtual") && !arguments.has("timed")}));
  return std::make_shared<const Plan>(std::move(compiled->plan));
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

absl::StatusOr<std::vector<OutputComparison>> CompareTestData(
    const Session& session, const std::string& folder, double rtol,
    double atol) {
  std::vector<OutputComparison> comparisons;
  for (int i = 0; i < session.num_outputs(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(const HostTensor* actual, session.GetOutput(i));
    PARTITA_ASSIGN_OR_RETURN(HostTensor data,
                             ReadTensor(TestDataPath(folder, "output", i)));
    const HostTensor expected = AsDeclared(std::move(data), actual->type());
    comparisons.push_back(
        {session.output_name(i),
         Compare(*actual, expected, rtol, atol * LargestMagnitude(expected))});
  }
  return comparisons;
}

absl::Status CheckTolerances(const RunReport& report) {
  int typed = 0;
  int far = 0;
  for (const OutputComparison& output : report.outputs) {
    typed += !output.difference.problem.empty();
    far += !output.difference.within;
  }
  if (typed > 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("found ", typed, " of ", report.outputs.size(),
                     " outputs of another type than the test data; expected "
                     "none; look for the data of another model"));
  }
  if (far == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("found ", far, " of ", report.outputs.size(),
                   " outputs outside the tolerances; expected ",
                   "none; --rtol and --atol widen them"));
}

absl::Status CheckSameBits(const std::string& what, int64_t step,
                           const HostTensor& actual,
                           const HostTensor& reference) {
  if (Compare(actual, reference, 0, 0).same_bits) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(what, " of step ", step, ": found other bits than the ",
                   "plan's reference has; expected equal"));
}

const std::vector<VariableUpdate>& UpdatesOf(const Session& session) {
  return session.plan().entries[session.entry()].graph->updates();
}

// For the last step, counted from 1.
absl::Status CompareReference(Session& session, int64_t step,
                              const std::vector<HostTensor>& reference) {
  auto expected = reference.begin();
  for (int i = 0; i < session.num_outputs(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(const HostTensor* actual, session.GetOutput(i));
    PARTITA_RETURN_IF_ERROR(
        CheckSameBits(absl::StrCat("output ", session.output_name(i)), step,
                      *actual, *expected++));
  }
  for (const VariableUpdate& update : UpdatesOf(session)) {
    PARTITA_ASSIGN_OR_RETURN(const HostTensor actual,
                             session.ReadVariable(update.variable));
    PARTITA_RETURN_IF_ERROR(
        CheckSameBits(absl::StrCat("variable @", update.variable), step, actual,
                      *expected++));
  }
  return absl::OkStatus();
}

std::string OutputPath(const Session& session, const Arguments& arguments,
                       int output) {
  return absl::StrCat(arguments.Get("output", ""), "/",
                      FileName(session.output_name(output)), ".npy");
}

// Before anything runs or is written.
absl::Status KeepInputs(const Session& session, const InputFiles& inputs,
                        const Arguments& arguments) {
  PARTITA_RETURN_IF_ERROR(inputs.Keep());
  if (!arguments.has("output")) return absl::OkStatus();
  for (int i = 0; i < session.num_outputs(); ++i) {
    PARTITA_RETURN_IF_ERROR(
        inputs.Keep("output", OutputPath(session, arguments, i)));
  }
  return absl::OkStatus();
}

absl::Status MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(folder, ": cannot be made a folder: ", error.message()));
}

// Refuses files that cannot be written before any step runs.
absl::Status CheckOutputs(const Session& session, const Arguments& arguments) {
  const std::string trace = arguments.Get("trace", "-");
  if (trace != "-") PARTITA_RETURN_IF_ERROR(CheckWritable(trace));
  if (!arguments.has("output")) return absl::OkStatus();
  PARTITA_RETURN_IF_ERROR(MakeFolder(arguments.Get("output", "")));
  for (int i = 0; i < session.num_outputs(); ++i) {
    const absl::Status status =
        CheckWritable(OutputPath(session, arguments, i));
    if (status.ok()) continue;
    return absl::Status(
        status.code(),
        absl::StrCat("output ", NameText(session.output_name(i)), ": ",
                     status.message(), "; or give --output another folder"));
  }
  return absl::OkStatus();
}

absl::Status WriteOutputs(const Session& session, const Arguments& arguments) {
  for (int i = 0; i < session.num_outputs(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(const HostTensor* tensor, session.GetOutput(i));
    PARTITA_RETURN_IF_ERROR(
        WriteText(OutputPath(session, arguments, i), NpyText(*tensor)));
  }
  return absl::OkStatus();
}

// The numeric flags, which are read before anything is loaded.
struct FlagNumbers {
  int64_t repeat = 1;
  uint64_t chaos_seed = 0;  // if --chaos is given
  double rtol = 0;
  double atol = 0;
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
  return numbers;
}

// Options of a step; each step has other delays.
RunOptions OptionsOf(const Arguments& arguments, const FlagNumbers& numbers,
                     int64_t step) {
  RunOptions options;
  options.trace = arguments.has("trace");
  if (arguments.has("chaos")) options.chaos_seed = numbers.chaos_seed + step;
  return options;
}

// Runs --repeat steps, and compares each with the reference if requested.
absl::Status RunSteps(Session& session, const Arguments& arguments,
                      const FlagNumbers& numbers, Progress& progress,
                      std::vector<double>& seconds) {
  std::vector<HostTensor> reference;
  for (int64_t step = 0; step < numbers.repeat; ++step) {
    progress.Stage(absl::StrCat("step ", step + 1, " of ", numbers.repeat));
    const RunOptions options = OptionsOf(arguments, numbers, step);
    if (arguments.has("reference")) {  // before the step changes variables
      PARTITA_ASSIGN_OR_RETURN(reference, session.RunReference());
    }
    const auto start = std::chrono::steady_clock::now();
    PARTITA_RETURN_IF_ERROR(session.Run(options));
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count());
    if (arguments.has("reference")) {
      PARTITA_RETURN_IF_ERROR(CompareReference(session, step + 1, reference));
    }
  }
  std::sort(seconds.begin(), seconds.end());
  return absl::OkStatus();
}

// Output besides the report. Written before it, since the report's reader may
// stop reading.
absl::Status WriteFiles(const Session& session, const Arguments& arguments) {
  if (arguments.has("trace")) {
    PARTITA_ASSIGN_OR_RETURN(const std::string trace, session.LastTraceJson());
    PARTITA_RETURN_IF_ERROR(WriteText(arguments.Get("trace", ""), trace));
  }
  if (!arguments.has("output")) return absl::OkStatus();
  return WriteOutputs(session, arguments);
}

// See RunReport::slow_nodes.
std::vector<std::string> SlowNodes(const Graph& graph) {
  std::vector<std::string> slow;
  for (const OpView& op : graph.ops()) {
    const std::optional<KernelBinding>& kernel = op.node().kernel;
    if (!kernel.has_value() || !IsReferenceLoop(kernel->arithmetic)) continue;
    slow.push_back(absl::StrCat(op.ToString(), " by ", kernel->kernel));
  }
  return slow;
}

absl::Status Run(const Arguments& arguments) {
  PARTITA_RETURN_IF_ERROR(CheckFlags(arguments));
  LoadOptions load;
  load.devices = ModeOf(arguments);
  PARTITA_ASSIGN_OR_RETURN(const FlagNumbers numbers, ReadNumbers(arguments));
  load.trust_code = arguments.has("trust-code");
  Progress progress("run");
  InputFiles inputs(arguments, kFlags);
  TestInputs tested;
  PARTITA_ASSIGN_OR_RETURN(
      const std::shared_ptr<const Plan> plan,
      PlanOf(arguments.positional()[0], arguments, progress, inputs, tested));
  progress.Stage("load");
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                           Session::Create(plan, load));
  PARTITA_RETURN_IF_ERROR(UseEntryFlag(arguments, *session));
  PARTITA_RETURN_IF_ERROR(KeepInputs(*session, inputs, arguments));
  PARTITA_RETURN_IF_ERROR(CheckOutputs(*session, arguments));
  PARTITA_RETURN_IF_ERROR(SetInputs(*session, arguments, tested));
  RunReport report;
  report.on_virtual_devices = arguments.has("virtual");
  report.notice = session->notice();
  report.replaced_kernels = session->ReplacedKernels();
  report.slow_nodes = SlowNodes(*plan->entries[session->entry()].graph);
  PARTITA_RETURN_IF_ERROR(
      RunSteps(*session, arguments, numbers, progress, report.seconds));
  report.has_reference = arguments.has("reference");
  report.updates_variables = !UpdatesOf(*session).empty();
  report.memory = session->MemoryUse();
  progress.Stage("write");
  PARTITA_RETURN_IF_ERROR(WriteFiles(*session, arguments));
  if (arguments.has("test-data")) {
    PARTITA_ASSIGN_OR_RETURN(
        report.outputs,
        CompareTestData(*session, arguments.Get("test-data", ""), numbers.rtol,
                        numbers.atol));
  }
  progress.Done();
  PARTITA_RETURN_IF_ERROR(WriteText(
      "-", arguments.has("json") ? RunJson(report) : RunText(report)));
  return CheckTolerances(report);
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
        "the plan. Exits\n"
        "non-zero if an output is outside the tolerance or differs from the "
        "reference.\n"
        "Kernels of several threads wait for one another on their cores, "
        "for a millisecond,\n"
        "or less where other programs want the cores; with "
        "OMP_WAIT_POLICY=passive in the\n"
        "environment they sleep at once.",
    .operand = "model or plan",
    .flags = kFlags,
    .run = Run,
};

}  // namespace partita
