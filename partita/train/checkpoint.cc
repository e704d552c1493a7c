// Writing and reading checkpoints.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/checkpoint.h"

#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/graph.h"
#include "graph/literal_pool.h"
#include "graph/status_macros.h"
#include "runtime/plan/plan.h"
#include "runtime/tensor_file/bad_file.h"
#include "runtime/tensor_file/safetensors_file.h"
#include "runtime/tensor_file/safetensors_writer.h"

namespace partita {
namespace {

using Metadata = std::map<std::string, std::string>;
using Kind = TrainingSetting::Kind;

constexpr char kFormat[] = "partita_checkpoint";
constexpr char kEpoch[] = "next_epoch";
constexpr char kBatch[] = "next_batch";
constexpr char kStep[] = "steps_done";
constexpr char kVariables[] = "variables";  // the hash of their values

const std::vector<Variable>& VariablesOf(const Session& session) {
  return session.plan().module.variables();
}

Metadata MetadataOf(const TrainingPosition& position,
                    absl::Span<const TrainingSetting> settings) {
  Metadata metadata = {{kFormat, absl::StrCat(kCheckpointFormatVersion)},
                       {kEpoch, absl::StrCat(position.epoch)},
                       {kBatch, absl::StrCat(position.batch)},
                       {kStep, absl::StrCat(position.step)}};
  for (const TrainingSetting& setting : settings) {
    metadata[setting.name] = setting.value;
  }
  return metadata;
}

// A hash, as text, of the tensors in the variables' order.
std::string HashOf(const std::vector<absl::Span<const std::byte>>& tensors) {
  std::vector<ContentHash> hashes;
  for (const absl::Span<const std::byte> tensor : tensors) {
    hashes.push_back(HashBytes(tensor));
  }
  return HashBytes({reinterpret_cast<const std::byte*>(hashes.data()),
                    hashes.size() * sizeof(ContentHash)})
      .ToString();
}

// A non-negative number, or -1.
int64_t NumberAt(const Metadata& metadata, const std::string& key) {
  const auto entry = metadata.find(key);
  int64_t value;
  const bool is_number = entry != metadata.end() &&
                         absl::SimpleAtoi(entry->second, &value) && value >= 0;
  return is_number ? value : -1;
}

absl::Status CheckFormat(const std::string& path, const Metadata& metadata) {
  if (metadata.find(kFormat) == metadata.end()) {
    return BadFile(path, "tensors without a training's position",
                   "a file that `partita train --checkpoint` wrote");
  }
  const int64_t version = NumberAt(metadata, kFormat);
  if (version == kCheckpointFormatVersion) return absl::OkStatus();
  return BadFile(path, absl::StrCat("checkpoint format ", metadata.at(kFormat)),
                 absl::StrCat("format ", kCheckpointFormatVersion),
                 "continue with the program that wrote it");
}

// "learning_rate 0.02 and seed 3": the file's values, or the expected ones.
struct Differences {
  std::vector<std::string> found;
  std::vector<std::string> expected;
  std::string fix;  // of the last of them
};

Differences Compare(const Metadata& metadata,
                    absl::Span<const TrainingSetting> settings, Kind kind) {
  Differences differences;
  for (const TrainingSetting& setting : settings) {
    if (setting.kind != kind) continue;
    const auto entry = metadata.find(setting.name);
    if (entry != metadata.end() && entry->second == setting.value) continue;
    differences.found.push_back(
        entry == metadata.end()
            ? absl::StrCat(setting.name, " unset")
            : absl::StrCat(setting.name, " ", entry->second));
    differences.expected.push_back(
        absl::StrCat(setting.name, " ", setting.value));
    differences.fix = setting.fix;
  }
  return differences;
}

absl::Status Refuse(const std::string& path, const Differences& differences,
                    absl::string_view fix) {
  const auto& [found, expected, own_fix] = differences;
  if (found.empty()) return absl::OkStatus();
  const bool has_own = found.size() == 1 && !own_fix.empty();
  return BadFile(path, absl::StrJoin(found, " and "),
                 absl::StrJoin(expected, " and "), has_own ? own_fix : fix);
}

absl::Status CheckSettings(const std::string& path, const Metadata& metadata,
                           absl::Span<const TrainingSetting> settings) {
  PARTITA_RETURN_IF_ERROR(Refuse(path,
                                 Compare(metadata, settings, Kind::kChosen),
                                 "continue a training with its own settings"));
  return Refuse(path, Compare(metadata, settings, Kind::kFollows),
                "continue a training of the same model by the same program");
}

absl::Status CheckPlan(const std::string& path,
                       const Differences& of_the_plan) {
  return Refuse(
      path, of_the_plan,
      "continue a training by the program, on the machine and with "
      "the strategy, micro-batches and pins that it was begun with, or allow "
      "another rounding by --another-plan");
}

absl::StatusOr<TrainingPosition> PositionIn(const std::string& path,
                                            const Metadata& metadata) {
  const TrainingPosition position = {.epoch = NumberAt(metadata, kEpoch),
                                     .batch = NumberAt(metadata, kBatch),
                                     .step = NumberAt(metadata, kStep)};
  if (position.epoch >= 0 && position.batch >= 0 && position.step >= 0) {
    return position;
  }
  return BadFile(path, "a training without a whole position",
                 "numbers as next_epoch, next_batch and steps_done",
                 "the file is damaged");
}

// True for a variable like that of CountSteps; its name is none of a weight's.
bool CountsSteps(const Variable& variable) {
  return variable.type == TensorType{DType::kU64, {}, {}} &&
         absl::StartsWith(variable.name, "step");
}

// Learning rates and dropout depend on the variable, the order of the samples
// on the position.
absl::Status CheckCount(const std::string& path, const SafetensorsFile& file,
                        const std::vector<Variable>& variables, int64_t step) {
  for (const Variable& variable : variables) {
    if (!CountsSteps(variable)) continue;
    const uint64_t count = file.Find(variable.name)->Copy().data<uint64_t>()[0];
    if (count == static_cast<uint64_t>(step)) continue;
    return BadFile(path,
                   absl::StrCat("variable ", variable.name, " ", count,
                                " and steps_done ", step),
                   "the same number", "the file is damaged");
  }
  return absl::OkStatus();
}

absl::Status CheckHash(const std::string& path, const SafetensorsFile& file,
                       const std::vector<Variable>& variables) {
  std::vector<absl::Span<const std::byte>> tensors;
  for (const Variable& variable : variables) {
    tensors.push_back(file.Find(variable.name)
                          ->elements.bytes.first(variable.type.num_bytes()));
  }
  const auto written = file.metadata().find(kVariables);
  if (written != file.metadata().end() && written->second == HashOf(tensors)) {
    return absl::OkStatus();
  }
  return BadFile(path, "variables of another hash than the file says",
                 "what was written",
                 "the file is damaged: continue another checkpoint");
}

}  // namespace

absl::Status WriteCheckpoint(const std::string& path, Session& session,
                             const TrainingPosition& position,
                             absl::Span<const TrainingSetting> settings) {
  std::vector<HostTensor> values;
  std::vector<NamedTensor> tensors;
  for (const Variable& variable : VariablesOf(session)) {
    PARTITA_ASSIGN_OR_RETURN(HostTensor value,
                             session.ReadVariable(variable.name));
    values.push_back(std::move(value));
    tensors.push_back(
        {variable.name, values.back().type(), values.back().byte_span()});
  }
  std::vector<absl::Span<const std::byte>> bytes;
  for (const NamedTensor& tensor : tensors) bytes.push_back(tensor.bytes);
  Metadata metadata = MetadataOf(position, settings);
  metadata[kVariables] = HashOf(bytes);
  return WriteSafetensors(path, tensors, metadata);
}

absl::StatusOr<std::vector<std::string>> VariablesNotFinite(Session& session) {
  std::vector<std::string> names;
  for (const Variable& variable : VariablesOf(session)) {
    PARTITA_ASSIGN_OR_RETURN(const HostTensor value,
                             session.ReadVariable(variable.name));
    for (int64_t i = 0; i < value.type().num_elements(); ++i) {
      if (std::isfinite(GetAsDouble(value, i))) continue;
      names.push_back(variable.name);
      break;
    }
  }
  return names;
}

absl::StatusOr<ResumedTraining> ReadCheckpoint(
    const std::string& path, absl::Span<const TrainingSetting> settings,
    Session& session, ResumeOn resume_on) {
  PARTITA_ASSIGN_OR_RETURN(const SafetensorsFile file,
                           SafetensorsFile::Open(path));
  PARTITA_RETURN_IF_ERROR(CheckFormat(path, file.metadata()));
  PARTITA_RETURN_IF_ERROR(CheckSettings(path, file.metadata(), settings));
  const Differences of_the_plan =
      Compare(file.metadata(), settings, Kind::kRounds);
  if (resume_on == ResumeOn::kSamePlan) {
    PARTITA_RETURN_IF_ERROR(CheckPlan(path, of_the_plan));
  }
  std::vector<std::pair<std::string, TensorType>> expected;
  for (const Variable& variable : VariablesOf(session)) {
    expected.emplace_back(variable.name, variable.type);
  }
  PARTITA_RETURN_IF_ERROR(file.ExpectTensors(expected));
  PARTITA_ASSIGN_OR_RETURN(const TrainingPosition position,
                           PositionIn(path, file.metadata()));
  PARTITA_RETURN_IF_ERROR(
      CheckCount(path, file, VariablesOf(session), position.step));
  PARTITA_RETURN_IF_ERROR(CheckHash(path, file, VariablesOf(session)));
  for (const auto& [name, type] : expected) {
    PARTITA_RETURN_IF_ERROR(
        session.WriteVariable(name, file.Find(name)->Copy()));
  }
  return ResumedTraining{position, !of_the_plan.found.empty()};
}

}  // namespace partita
