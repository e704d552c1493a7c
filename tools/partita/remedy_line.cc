// Looks for a request that fits by compiling smaller and smaller ones.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/remedy_line.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "graph/status_macros.h"
#include "partita/micro_batch_counts.h"
#include "partita/options/placing_flags.h"
#include "partita/remedy.h"
#include "placement/lower/refusal.h"
#include "tools/partita/output.h"

namespace partita {
namespace {

// Arguments with which the model fits, and the remedy's own changes.
struct Fitting {
  std::string change;
  Arguments arguments;
  Remedy remedy;
};

// With other arguments, or on another machine.
absl::StatusOr<Remedy> TryFit(const UnfitCommand& unfit,
                              const Arguments& arguments,
                              const Machine& machine) {
  const Arguments quiet = arguments.With("dump", {});
  PARTITA_ASSIGN_OR_RETURN(const CompileOptions options,
                           ReadCompileOptions(quiet));
  PARTITA_ASSIGN_OR_RETURN(const Module module, unfit.read(quiet));
  return FindFit(module, machine, options);
}

// An extent from the arguments, and the arguments with another one.
struct OpenExtent {
  int64_t extent;
  std::function<Arguments(int64_t)> with;
};

std::vector<OpenExtent> DimExtents(const Arguments& arguments) {
  std::vector<OpenExtent> open;
  const std::vector<std::string> texts = arguments.GetAll("dim");
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto binding = SplitBinding("--dim", texts[i]);
    if (!binding.ok()) continue;
    const auto extent = ParseInts("--dim", binding->second);
    if (!extent.ok() || extent->size() != 1) continue;
    const std::string name = binding->first;
    open.push_back({extent->front(), [&arguments, texts, i, name](int64_t n) {
                      std::vector<std::string> changed = texts;
                      changed[i] = absl::StrCat(name, "=", n);
                      return arguments.With("dim", changed);
                    }});
  }
  return open;
}

// The first extent of every --shape, if it is the same: the batch, mostly.
std::vector<OpenExtent> ShapeExtents(const Arguments& arguments) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes;
  for (const std::string& text : arguments.GetAll("shape")) {
    const auto binding = SplitBinding("--shape", text);
    if (!binding.ok()) return {};
    const auto dims = ParseInts("--shape", binding->second);
    if (!dims.ok() || dims->empty()) return {};
    if (!shapes.empty() && shapes[0].second[0] != dims->front()) return {};
    shapes.emplace_back(binding->first, *dims);
  }
  if (shapes.empty()) return {};
  return {{shapes[0].second[0], [&arguments, shapes](int64_t n) {
             std::vector<std::string> texts;
             for (auto [name, dims] : shapes) {
               dims[0] = n;
               texts.push_back(
                   absl::StrCat(name, "=", absl::StrJoin(dims, ",")));
             }
             return arguments.With("shape", texts);
           }}};
}

// Those that can be smaller.
std::vector<OpenExtent> OpenExtents(const UnfitCommand& unfit) {
  if (!unfit.extents_may_shrink) return {};
  std::vector<OpenExtent> open = DimExtents(unfit.arguments);
  for (OpenExtent& shape : ShapeExtents(unfit.arguments)) {
    open.push_back(std::move(shape));
  }
  std::erase_if(open,
                [](const OpenExtent& extent) { return extent.extent < 2; });
  return open;
}

// The largest of half, a quarter, ... of the extent that fits. An extent of one
// is tried first: if it does not fit, no other does.
std::optional<Fitting> Shrink(const UnfitCommand& unfit,
                              const OpenExtent& open) {
  if (!TryFit(unfit, open.with(1), unfit.machine).ok()) return std::nullopt;
  for (int64_t n = open.extent / 2; n >= 1; n /= 2) {
    Arguments arguments = open.with(n);
    const absl::StatusOr<Remedy> remedy =
        TryFit(unfit, arguments, unfit.machine);
    if (remedy.ok()) {
      return Fitting{"smaller extents", std::move(arguments), *remedy};
    }
  }
  return std::nullopt;
}

struct MachineFile {
  int64_t memory = 0;  // of all devices
  std::string path;
  Machine machine;
};

int64_t MemoryOf(const Machine& machine) {
  int64_t memory = 0;
  for (const MachineDevice& device : machine.devices) memory += device.usable();
  return memory;
}

// The files in the folder of --machine for machines with more memory that could
// be used instead, smallest first.
std::vector<MachineFile> LargerMachines(const UnfitCommand& unfit) {
  const std::string path = unfit.arguments.Get("machine", "");
  const int64_t memory = MemoryOf(unfit.machine);
  std::vector<MachineFile> larger;
  const std::filesystem::path folder =
      std::filesystem::path(path).parent_path();
  std::error_code error;
  std::filesystem::directory_iterator file(folder.empty() ? "." : folder,
                                           error),
      end;
  for (; !error && file != end; file.increment(error)) {
    if (file->path().extension() != ".json") continue;
    const std::string name = (folder / file->path().filename()).string();
    absl::StatusOr<Machine> other = ReadMachine(name);
    if (!other.ok() || MemoryOf(*other) <= memory) continue;
    larger.push_back({MemoryOf(*other), name, *std::move(other)});
  }
  absl::c_sort(larger, [](const MachineFile& a, const MachineFile& b) {
    return std::tie(a.memory, a.path) < std::tie(b.memory, b.path);
  });
  return larger;
}

bool MayChangeMachine(const UnfitCommand& unfit) {
  return unfit.arguments.has("machine") && !unfit.runs_on_host;
}

std::optional<Fitting> FindFitting(const UnfitCommand& unfit) {
  for (const OpenExtent& extent : OpenExtents(unfit)) {
    std::optional<Fitting> fitting = Shrink(unfit, extent);
    if (fitting.has_value()) return fitting;
  }
  const Arguments& given = unfit.arguments;
  if (!MayChangeMachine(unfit)) return std::nullopt;
  for (const MachineFile& file : LargerMachines(unfit)) {
    const absl::StatusOr<Remedy> remedy = TryFit(unfit, given, file.machine);
    if (!remedy.ok()) continue;
    return Fitting{"another machine", given.With("machine", {file.path}),
                   *remedy};
  }
  return std::nullopt;
}

std::string CommandLine(absl::string_view command, Arguments arguments,
                        const Remedy& remedy) {
  for (const FlagDef& flag : kStrategyFlags) {
    arguments = arguments.With(flag.name, {});
  }
  for (const char* flag :
       {"strategy", "bucket-size", "depth", "pipeline-schedule"}) {
    arguments = arguments.With(flag, {});
  }
  if (arguments.has("resume")) arguments = arguments.With("another-plan", {""});
  if (remedy.without_pins) arguments = arguments.With("pin", {});
  arguments = arguments.With("strategy", {remedy.strategy});
  if (remedy.least_memory) arguments = arguments.With("objective", {"memory"});
  if (remedy.depth > 1) {
    arguments = arguments.With("depth", {absl::StrCat(remedy.depth)});
  }
  if (remedy.micro_batches > 1) {
    arguments =
        arguments.With("micro-batches", {absl::StrCat(remedy.micro_batches)});
  }
  return absl::StrCat("\n  partita ", command, " ", arguments.ShellText());
}

std::string NothingHelps(const UnfitCommand& unfit) {
  const Arguments& arguments = unfit.arguments;
  const absl::StatusOr<Module> module = unfit.read(arguments);
  const bool trains = module.ok() && Trains(*module);
  std::vector<std::string> tried = {"every strategy"};
  if (arguments.has("depth")) tried.push_back("steps that do not overlap");
  if (trains) {
    tried.push_back(
        absl::StrCat("up to ", kMostTriedMicroBatches, " micro-batches"));
  }
  if (arguments.has("pin")) tried.push_back("no pins");
  if (!OpenExtents(unfit).empty()) tried.push_back("smaller extents");
  if (MayChangeMachine(unfit)) {
    tried.push_back(absl::StrCat("the larger machines beside ",
                                 arguments.Get("machine", "")));
  }
  return absl::StrCat(
      "\n  no command line helps: tried ", absl::StrJoin(tried, ", "),
      trains ? "; only more memory, a smaller batch or a smaller model does"
             : "; only more memory or a smaller model does");
}

}  // namespace

absl::Status WithCommandLine(const absl::Status& status,
                             const UnfitCommand& unfit) {
  if (!ShortageOf(status).has_value()) return status;
  Progress progress(unfit.command);
  progress.Stage("look for what fits");
  std::string text(status.message());
  if (const std::optional<Remedy> remedy = RemedyOf(status)) {
    text += CommandLine(unfit.command, unfit.arguments, *remedy);
  } else if (const auto fitting = FindFitting(unfit)) {
    absl::StrAppendFormat(&text, ", or %s (predicted %.3g ms a step)",
                          fitting->change, fitting->remedy.step_seconds * 1e3);
    text += CommandLine(unfit.command, fitting->arguments, fitting->remedy);
  } else {
    text += NothingHelps(unfit);
  }
  return absl::Status(status.code(), text);
}

}  // namespace partita
