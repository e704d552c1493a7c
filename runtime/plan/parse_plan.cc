// Parses a plan's text.
// SPDX-License-Identifier: Apache-2.0

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/device_limits.h"
#include "graph/status_macros.h"
#include "graph/text/diagnostics.h"
#include "graph/text/parser.h"
#include "runtime/plan/literal_index.h"
#include "runtime/plan/parse_entry.h"
#include "runtime/plan/plan_line.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

constexpr size_t kMaxTextBytes = size_t{1} << 30;
constexpr int64_t kMaxBytes = int64_t{1} << 60;

// The start of the first line that begins with `plan `; npos if there is none.
size_t FindPlan(absl::string_view text) {
  if (absl::StartsWith(text, "plan ")) return 0;
  const size_t at = text.find("\nplan ");
  return at == absl::string_view::npos ? at : at + 1;
}

// Parses the lines of `plan @name { ... }`.
class PlanParser {
 public:
  PlanParser(Plan& plan, Diagnostics& faults)
      : plan_(plan), faults_(faults), literals_(plan.module.literals()) {}

  void Read(absl::string_view text);

 private:
  void ReadLine(PlanLine& line);
  void ReadHead(PlanLine& line);
  void ReadItem(PlanLine& line);
  void ReadDevice(PlanLine& line);
  void ReadArena(PlanLine& line);
  void ReadRates(PlanLine& line);
  void ReadCode(PlanLine& line);
  void ReadCertificate(PlanLine& line);

  Plan& plan_;
  Diagnostics& faults_;
  LiteralIndex literals_;
  DevicesByName devices_;
  std::unique_ptr<EntryParser> entry_;
  bool begun_ = false;
  bool ended_ = false;
};

void PlanParser::Read(absl::string_view text) {
  size_t start = 0;
  while (start < text.size() && !faults_.full()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    PlanLine line(text.substr(start, end - start), faults_);
    if (line.ok() && !line.at_end()) ReadLine(line);
    start = end + 1;
  }
  if (!ended_) {
    faults_.Report(text.substr(text.size()),
                   "found the end of the text; expected a closing brace");
  }
}

void PlanParser::ReadLine(PlanLine& line) {
  if (!begun_) return ReadHead(line);
  if (entry_ == nullptr) return ReadItem(line);
  if (entry_->ReadLine(line)) return;
  plan_.entries.push_back(entry_->Take());
  entry_.reset();
}

void PlanParser::ReadHead(PlanLine& line) {
  begun_ = true;
  line.Expect("plan");
  plan_.name = line.Sigil('@', "the plan's name");
  line.Expect("{");
  line.ExpectEnd();
}

void PlanParser::ReadItem(PlanLine& line) {
  if (ended_) {
    line.FailNext("found more text after the plan; remove it");
  } else if (line.Take("device")) {
    ReadDevice(line);
  } else if (line.Take("arena")) {
    ReadArena(line);
  } else if (line.Take("rates")) {
    ReadRates(line);
  } else if (line.Take("code")) {
    ReadCode(line);
  } else if (line.Take("entry")) {
    entry_ = std::make_unique<EntryParser>(plan_, devices_, literals_, faults_);
    entry_->ReadHead(line);
    return;
  } else if (line.NextIs("certificate") || line.NextIs("proved") ||
             line.NextIs("assumed")) {
    ReadCertificate(line);
  } else if (line.Take("}")) {
    ended_ = true;
  } else {
    line.FailNext(
        "expected device, arena, rates, code, entry, certificate or a closing "
        "brace");
  }
  line.ExpectEnd();
}

void PlanParser::ReadDevice(PlanLine& line) {
  const DeviceId id(static_cast<int32_t>(plan_.devices.size()));
  PlanDevice& device = plan_.devices.emplace_back();
  DeviceTraits& traits = device.traits;
  traits.name = line.Name("a device's name");
  if (line.ok() && !devices_.emplace(traits.name, id).second) {
    line.FailHere("found a second device of this name; expected another name");
  }
  const std::optional<DeviceKind> kind =
      ParseDeviceKind(line.Name("the device's kind"));
  if (!kind.has_value()) {
    line.FailHere(
        absl::StrCat("expected ", absl::StrJoin(DeviceKindNames(), " or ")));
  }
  traits.kind = kind.value_or(DeviceKind::kCpu);
  while (line.ok() && !line.at_end()) {
    if (line.Take("threads")) {
      traits.threads = line.Int("a number of threads", 1, kMaxDeviceThreads);
    } else if (line.Take("isa")) {
      traits.isa = line.String("an instruction set");
    } else if (line.Take("memory")) {
      device.memory = line.Int("bytes", 0, kMaxBytes);
    } else if (line.Take("alignment")) {
      device.alignment = line.Int("bytes", 1, kMaxBytes);
    } else {
      line.FailNext("expected threads, isa, memory or alignment");
    }
  }
}

void PlanParser::ReadArena(PlanLine& line) {
  if (plan_.devices.empty()) {
    return line.FailHere("found no device; expected one above its arena");
  }
  PlanDevice& device = plan_.devices.back();
  if (line.Take("persistent")) {
    device.persistent_bytes = line.Int("bytes", 0, kMaxBytes);
  }
  if (line.Take("step")) device.step_bytes = line.Int("bytes", 0, kMaxBytes);
}

void PlanParser::ReadRates(PlanLine& line) {
  if (plan_.devices.empty()) {
    return line.FailHere("found no device; expected one above its rates");
  }
  DeviceTraits& traits = plan_.devices.back().traits;
  while (line.ok() && !line.at_end()) {
    if (line.Take("bandwidth")) {
      traits.memory_bandwidth = line.Double("bytes per second");
    } else if (line.Take("launch")) {
      traits.launch_seconds = line.Double("seconds");
    } else if (std::optional<DType> dtype =
                   ParseDType(line.Name("bandwidth, launch or a type"))) {
      traits.peak_flops[static_cast<int>(*dtype)] =
          line.Double("operations per second");
    } else {
      line.FailHere("expected bandwidth, launch or an element type");
    }
  }
}

void PlanParser::ReadCode(PlanLine& line) {
  CodeObject code;
  code.target = line.String("the code's target");
  line.Expect("bytes");
  code.declared_size =
      line.Int("bytes", 0, std::numeric_limits<int64_t>::max());
  code.declared_hash = line.Hash();
  if (line.ok()) plan_.code_objects.push_back(std::move(code));
}

void PlanParser::ReadCertificate(PlanLine& line) {
  if (line.Take("certificate")) {
    if (plan_.certificate.has_value()) {
      return line.FailHere("found a second certificate; expected one");
    }
    plan_.certificate.emplace();
    plan_.certificate->checker = line.String("the checker");
    line.Expect("of");
    plan_.certificate->plan_hash = line.String("the plan's hash");
    return;
  }
  if (!plan_.certificate.has_value()) {
    return line.FailNext("found no certificate; expected one above this line");
  }
  if (line.Take("proved")) {
    plan_.certificate->proved.push_back(line.String("what was proved"));
  } else if (line.Take("assumed")) {
    plan_.certificate->assumed.push_back(line.String("what was assumed"));
  }
}

}  // namespace

absl::StatusOr<Plan> ParsePlan(absl::string_view text, absl::string_view source,
                               const OpSet& ops) {
  if (text.size() > kMaxTextBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, ": found ", text.size(),
                     " bytes of text; expected at most ", kMaxTextBytes));
  }
  Diagnostics faults(text, source);
  const size_t start = FindPlan(text);
  if (start == absl::string_view::npos) {
    faults.Report(text.substr(text.size()),
                  "found no plan; expected a line `plan @name {`");
    return faults.ToStatus();
  }
  Plan plan;
  PARTITA_ASSIGN_OR_RETURN(plan.module,
                           ParseModule(text.substr(0, start), source, ops));
  PlanParser(plan, faults).Read(text.substr(start));
  PARTITA_RETURN_IF_ERROR(faults.ToStatus());
  return plan;
}

}  // namespace partita
