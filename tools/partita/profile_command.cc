// partita profile: measures kernels and links of this host.
// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/atomic_file.h"
#include "graph/builder/examples/models.h"
#include "graph/status_macros.h"
#include "nlohmann/json.hpp"
#include "partita/options/input_files.h"
#include "partita/profile/busy_host.h"
#include "partita/profile/measure_machine.h"
#include "partita/profile/profile_file.h"
#include "partita/profile/this_host.h"
#include "placement/machine/detect_host.h"
#include "placement/machine/machine.h"
#include "placement/machine/profile.h"
#include "tools/partita/cuda_libs_flag.h"
#include "tools/partita/json_text.h"
#include "tools/partita/model_input.h"
#include "tools/partita/output.h"
#include "tools/partita/report_text.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kUsualBudget = 60;  // seconds

constexpr FlagDef kOwnFlags[] = {
    {"machine", "FILE",
     "the machine, as JSON; a profile that it names is not read; this host if "
     "left out",
     nullptr, FileUse::kReads, false, nullptr, kMachineFiles},
    {"output", "FILE",
     "where to write the profile; one that is there is added to", nullptr,
     FileUse::kWrites, false, nullptr, kProfileFiles},
    {"time-budget", "SECONDS",
     "measure no longer than this (default 60); what is left is measured first "
     "the next time"},
    kCudaLibsFlag,
    {"json", nullptr, "report as JSON"},
};
constexpr auto kFlags = JoinFlags(kOwnFlags, kModelFlags);

absl::StatusOr<Machine> MachineOf(const Arguments& arguments) {
  if (!arguments.has("machine")) return DetectHost();
  return ReadMachineWithoutProfile(arguments.Get("machine", ""));
}

// Inference and training, convolutions, matmuls, attention and recurrence.
absl::StatusOr<std::vector<Module>> UsualModels() {
  std::vector<Module> models;
  PARTITA_ASSIGN_OR_RETURN(models.emplace_back(), TwoLayerPerceptron());
  PARTITA_ASSIGN_OR_RETURN(models.emplace_back(), SmallConvNet());
  PARTITA_ASSIGN_OR_RETURN(models.emplace_back(), MnistTraining());
  PARTITA_ASSIGN_OR_RETURN(models.emplace_back(),
                           GptTraining({.batch = 8, .layers = 2}));
  PARTITA_ASSIGN_OR_RETURN(models.emplace_back(), LstmTraining({.batch = 8}));
  PARTITA_ASSIGN_OR_RETURN(models.emplace_back(), ResNet50());
  return models;
}

absl::StatusOr<std::vector<Module>> ModelsOf(const Arguments& arguments,
                                             InputFiles& inputs) {
  if (arguments.positional().empty()) return UsualModels();
  std::vector<Module> models;
  for (const std::string& path : arguments.positional()) {
    PARTITA_ASSIGN_OR_RETURN(Module model,
                             ReadModel(arguments.WithOperand(path)));
    inputs.AddWeights(model.literals());
    models.push_back(std::move(model));
  }
  return models;
}

// The same command compiles the same models first, so more time is needed for
// those that it did not compile.
std::string LeftText(const MachineMeasurements& measured) {
  const bool has_models_left = measured.models_left > 0;
  if (!has_models_left && measured.kernels_left + measured.links_left == 0) {
    return "";
  }
  return absl::StrCat(
      "left, as the time was over: ",
      CountText(measured.kernels_left, "kernel"), " and ",
      CountText(measured.links_left, "link"),
      has_models_left ? absl::StrCat(", and the kernels of ",
                                     CountText(measured.models_left, "model"),
                                     ", not compiled yet; a longer "
                                     "--time-budget measures them\n")
                      : "; the same command measures them\n");
}

std::string BusyText(const BusyHost& host) {
  if (!host.is_busy()) return "";
  return absl::StrCat(
      "warning: other programs ran meanwhile: ", host.disturbed, " of ",
      CountText(host.kernels, "kernel"),
      " took much longer with warm caches than with cold ones",
      host.wake_seconds > 0
          ? absl::StrCat(", and a thread ", SecondsText(host.wake_seconds),
                         " to wake")
          : "",
      "; measure again on an idle host\n");
}

// As a machine file names it: from the file's own folder.
std::string NameFrom(const std::string& machine, const std::string& path) {
  const auto normal = [](const std::string& file) {
    return std::filesystem::absolute(file).lexically_normal();
  };
  return normal(path).lexically_relative(normal(machine).parent_path());
}

// How to use the profile; "" if the machine file names it already.
std::string NextText(const Arguments& arguments, const std::string& path,
                     const MachineProfile& named) {
  const bool has_file = arguments.has("machine");
  const std::string machine = arguments.Get("machine", "FILE");
  std::string name = NameFrom(machine, path);
  if (has_file && name == named.file) return "";
  std::string text = "next: ";
  if (!has_file) {
    absl::StrAppend(&text, "write a machine file, partita devices --output ",
                    machine, ", and ");
  }
  if (name.starts_with("..")) {  // which a machine file cannot name
    absl::StrAppend(&text, "copy the profile into the folder of ", machine,
                    ", and ");
    name = std::filesystem::path(path).filename();
  }
  return absl::StrCat(
      text, "name it in ", machine, ", \"profile\": \"", name,
      "\"; compile, simulate, leaderboard and run with --machine ", machine,
      " then predict by it\n");
}

std::string ReportText(const MachineMeasurements& measured,
                       const std::string& path) {
  std::string text = absl::StrCat(
      path, ": measured ", CountText(measured.profile.nodes.size(), "kernel"),
      " and ", CountText(measured.profile.links.size(), "link"), "\n");
  absl::StrAppend(&text, LeftText(measured));
  for (const std::string& reason : measured.skipped) {
    absl::StrAppend(&text, "not measured: ", reason, "\n");
  }
  return text + BusyText(FindBusyHost(measured.profile));
}

std::string ReportJson(const MachineMeasurements& measured) {
  const BusyHost host = FindBusyHost(measured.profile);
  const Json json = {{"kernels", measured.profile.nodes.size()},
                     {"links", measured.profile.links.size()},
                     {"kernels_left", measured.kernels_left},
                     {"links_left", measured.links_left},
                     {"models_left", measured.models_left},
                     {"skipped", measured.skipped},
                     {"busy_host", host.is_busy()},
                     {"disturbed_kernels", host.disturbed}};
  return JsonText(json);
}

absl::Status Run(const Arguments& arguments) {
  if (!arguments.has("output")) {
    return CalledWrongly("profile: found no --output; expected --output FILE");
  }
  const std::string path = arguments.Get("output", "");
  if (path == "-") {
    return CalledWrongly(
        "--output: found -, and a profile is a file that is added to; expected "
        "the name of a file");
  }
  MeasureOptions options;
  PARTITA_ASSIGN_OR_RETURN(options.seconds,
                           arguments.GetDouble("time-budget", kUsualBudget));
  PARTITA_ASSIGN_OR_RETURN(Machine machine, MachineOf(arguments));
  const MachineProfile named = std::exchange(machine.profile, {});
  PARTITA_ASSIGN_OR_RETURN(const Profile known,
                           KnownProfile(machine, ThisProfileHost(), path));
  PARTITA_RETURN_IF_ERROR(CheckWritable(path));
  Progress progress("profile");
  progress.Stage("import");
  InputFiles inputs(arguments, kFlags);
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Module> models,
                           ModelsOf(arguments, inputs));
  PARTITA_RETURN_IF_ERROR(inputs.Keep());
  options.progress = [&](absl::string_view what) { progress.Stage(what); };
  PARTITA_ASSIGN_OR_RETURN(const MachineMeasurements measured,
                           MeasureMachine(machine, models, known, options));
  PARTITA_RETURN_IF_ERROR(AddToProfileFile(measured.profile, machine, path));
  progress.Done();
  return WriteText(
      "-", arguments.has("json")
               ? ReportJson(measured)
               : ReportText(measured, path) + NextText(arguments, path, named));
}

}  // namespace

const Subcommand kProfileCommand = {
    .name = "profile",
    .usage = "profile [MODEL ...] --machine FILE --output PROFILE",
    .doc =
        "Measures kernels and links of this host, for better predictions.\n"
        "Times each kernel that plans of the models bind on the machine's "
        "devices, with warm\n"
        "and with cold caches, copies over its links, and collectives of its "
        "CPUs. Without\n"
        "models, those of some examples. A machine file that names the "
        "profile,\n"
        "\"profile\": \"FILE\", is priced by it: compile, simulate, "
        "leaderboard and run read it.\n"
        "Measure on a quiet machine; the report warns if other programs ran "
        "meanwhile.",
    .operand = "model",
    .reads = kModelFiles,
    .repeats_operand = true,
    .flags = kFlags,
    .offers = BuiltInModels,
    .run = Run,
};

}  // namespace partita
