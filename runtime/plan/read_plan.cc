// Opens plan files: the header, the metadata, and the bytes between the parts.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "graph/literal_pool.h"
#include "graph/status_macros.h"
#include "graph/text/parser.h"
#include "runtime/plan/metadata_reader.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/plan_format.h"
#include "runtime/plan/plan_generated.h"
#include "runtime/plan/plan_ids.h"
#include "runtime/plan/predicted_times.h"
#include "runtime/plan/unpack_entry.h"
#include "runtime/plan/unpack_literals.h"

namespace partita {
namespace {

// --- the bytes between the parts of a file ---

// First byte, and one past the last.
using Part = std::pair<int64_t, int64_t>;

// A constant without a literal is not read, so it is not a part.
void AddConstants(const fb::Plan& plan, std::vector<Part>& parts) {
  if (plan.literals() == nullptr) return;
  for (const fb::Literal* literal : *plan.literals()) {
    const fb::Constant& constant =
        *plan.constants()->Get(static_cast<uint32_t>(literal->constant()));
    if (constant.file() >= 0) continue;
    parts.emplace_back(constant.offset(), constant.offset() + constant.size());
  }
}

void AddCode(const fb::Plan& plan, std::vector<Part>& parts) {
  if (plan.code_objects() == nullptr) return;
  for (const fb::CodeObject* code : *plan.code_objects()) {
    if (code->declared()) continue;
    parts.emplace_back(code->offset(), code->offset() + code->size());
  }
}

absl::Status CheckZero(absl::Span<const std::byte> file, int64_t begin,
                       int64_t end) {
  const auto gap = file.subspan(static_cast<size_t>(begin),
                                static_cast<size_t>(end - begin));
  const auto found =
      absl::c_find_if(gap, [](std::byte b) { return b != std::byte{0}; });
  if (found == gap.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("found byte ", begin + (found - gap.begin()),
                   ", which is between the parts of the file, not zero; "
                   "expected zeros there; the file is damaged: copy or compile "
                   "it again"));
}

// InvalidArgument, with the offset, if a byte outside all parts is not zero.
// The parts are the header, the metadata, the constants of literals, and native
// code. So every byte of the file is compared with a hash, checked, or zero.
// Needs: checked ranges of `plan`, whose metadata is a part of `file`.
absl::Status CheckGaps(const fb::Plan& plan,
                       absl::Span<const std::byte> metadata,
                       absl::Span<const std::byte> file) {
  const int64_t size = static_cast<int64_t>(file.size());
  const int64_t start = metadata.data() - file.data();
  std::vector<Part> parts = {
      {0, kPlanHeaderBytes},
      {start, start + static_cast<int64_t>(metadata.size())},
      {size, size}};
  AddConstants(plan, parts);
  AddCode(plan, parts);
  absl::c_sort(parts);
  int64_t end = 0;
  for (const Part& part : parts) {
    if (part.first > end) {
      PARTITA_RETURN_IF_ERROR(CheckZero(file, end, part.first));
    }
    end = std::max(end, part.second);
  }
  return absl::OkStatus();
}

// --- metadata ---

constexpr int kMaxDepth = 16;  // of nested tables; the schema has 5

void ReadModule(const flatbuffers::String* text, const OpSet& ops,
                MetadataReader& reader, Module& module) {
  if (text == nullptr || !reader.Spend(text->size())) return;
  reader.Update(ParseIntoModule(absl::string_view(text->c_str(), text->size()),
                                "bound graph", ops, module));
}

DeviceTraits UnpackTraits(const fb::Device& from, MetadataReader& reader) {
  DeviceTraits traits;
  traits.name = reader.Text(from.name());
  if (from.kind() >= kNumDeviceKinds) {
    reader.Fail("metadata",
                absl::StrCat("found device kind ", from.kind(),
                             "; expected 0..", kNumDeviceKinds - 1));
  }
  traits.kind = static_cast<DeviceKind>(from.kind());
  traits.threads = from.threads();
  traits.isa = reader.Text(from.isa());
  if (from.peak_flops() != nullptr && reader.Aligned(*from.peak_flops())) {
    const size_t rates = from.peak_flops()->size();
    for (size_t i = 0; i < std::min(rates, traits.peak_flops.size()); ++i) {
      traits.peak_flops[i] = from.peak_flops()->Get(i);
    }
  }
  traits.memory_bandwidth = from.memory_bandwidth();
  traits.launch_seconds = from.launch_seconds();
  return traits;
}

PlanDevice UnpackDevice(const fb::Device& from, MetadataReader& reader) {
  PlanDevice device;
  device.traits = UnpackTraits(from, reader);
  device.memory = from.memory();
  device.alignment = from.alignment();
  device.persistent_bytes = from.persistent_bytes();
  device.step_bytes = from.step_bytes();
  return device;
}

// Copies native code. Its size is taken from `bytes_left`, so that all native
// code together is no larger than the file.
CodeObject UnpackCode(const fb::CodeObject& from,
                      absl::Span<const std::byte> file, int64_t& bytes_left,
                      MetadataReader& reader) {
  CodeObject code;
  code.target = reader.Text(from.target());
  if (from.declared()) {
    code.declared_size = from.size();
    code.declared_hash = HashOf(from.hash());
    return code;
  }
  const absl::Status fits = CheckFileRange(from.offset(), from.size(),
                                           static_cast<int64_t>(file.size()));
  if (!fits.ok()) reader.Fail("code object", fits.message());
  if (reader.ok() && from.size() > bytes_left) {
    reader.Fail(
        "code object",
        "found bytes that several code objects share; expected separate bytes");
  }
  if (!reader.ok()) return code;
  bytes_left -= from.size();
  const absl::Span<const std::byte> bytes =
      file.subspan(from.offset(), from.size());
  if (HashBytes(bytes) != HashOf(from.hash())) {
    reader.Fail("code object",
                "found other bytes than were written; the file is damaged: "
                "copy or compile it again");
    return code;
  }
  code.bytes.assign(bytes.begin(), bytes.end());
  return code;
}

// `graph` is the entry's.
EntryNotes UnpackEntryNotes(const fb::EntryNotes& from, const Graph* graph,
                            MetadataReader& reader) {
  EntryNotes notes;
  std::vector<NodeId> order;
  if (graph != nullptr) order = graph->order();
  reader.ForEach(from.nodes(), [&](const fb::NodeNote& note) {
    notes.nodes.push_back({reader.Node(note.node(), order),
                           reader.Text(note.reason()), note.seconds()});
  });
  if (from.predicted() != nullptr && reader.Aligned(*from.predicted()) &&
      reader.Spend(int64_t{16} * from.predicted()->size())) {
    for (const fb::CommandNote* note : *from.predicted()) {
      notes.predicted.push_back({note->start_seconds(), note->end_seconds()});
    }
  }
  notes.step_seconds = from.step_seconds();
  notes.bound_seconds = from.bound_seconds();
  notes.bound_by = reader.Text(from.bound_by());
  return notes;
}

PlanNotes UnpackNotes(const fb::Notes& from, const std::vector<Entry>& entries,
                      MetadataReader& reader) {
  PlanNotes notes;
  notes.machine_json = reader.Text(from.machine_json());
  notes.summary = reader.Text(from.summary());
  reader.ForEach(from.entries(), [&](const fb::EntryNotes& entry) {
    const size_t index = notes.entries.size();
    const Graph* graph =
        index < entries.size() ? entries[index].graph : nullptr;
    notes.entries.push_back(UnpackEntryNotes(entry, graph, reader));
  });
  return notes;
}

Certificate UnpackCertificate(const fb::Certificate& from,
                              MetadataReader& reader) {
  Certificate certificate;
  certificate.checker = reader.Text(from.checker());
  certificate.plan_hash = reader.Text(from.plan_hash());
  certificate.proved = reader.Texts(from.proved());
  certificate.assumed = reader.Texts(from.assumed());
  return certificate;
}

// Reads everything except the module.
void UnpackParts(const fb::Plan& from, absl::Span<const std::byte> file,
                 MetadataReader& reader, Plan& plan) {
  reader.ForEach(from.devices(), [&](const fb::Device& device) {
    plan.devices.push_back(UnpackDevice(device, reader));
  });
  reader.ForEach(from.entries(), [&](const fb::Entry& entry) {
    plan.entries.push_back(UnpackEntry(entry, plan.module, reader));
  });
  int64_t code_bytes_left = static_cast<int64_t>(file.size());
  reader.ForEach(from.code_objects(), [&](const fb::CodeObject& code) {
    plan.code_objects.push_back(
        UnpackCode(code, file, code_bytes_left, reader));
  });
  if (from.notes() != nullptr) {
    plan.notes = UnpackNotes(*from.notes(), plan.entries, reader);
  }
  if (from.certificate() != nullptr) {
    plan.certificate = UnpackCertificate(*from.certificate(), reader);
  }
}

bool FitsTogether(absl::Span<const std::byte> metadata) {
  flatbuffers::Verifier verifier(
      reinterpret_cast<const uint8_t*>(metadata.data()), metadata.size(),
      kMaxDepth, static_cast<flatbuffers::uoffset_t>(metadata.size() / 8 + 1));
  return fb::VerifyPlanBuffer(verifier);
}

// The plan whose metadata is at `metadata`, a part of `file`. Trusts none of
// its bytes. Messages do not name the file.
absl::StatusOr<Plan> UnpackPlan(absl::Span<const std::byte> metadata,
                                std::shared_ptr<const MappedFile> file,
                                const ReadPlanOptions& options) {
  if (!FitsTogether(metadata)) {
    return absl::InvalidArgumentError(
        "metadata: found tables that do not fit together; the file is damaged: "
        "copy or compile it again");
  }
  const fb::Plan& from = *fb::GetPlan(metadata.data());
  MetadataReader reader(static_cast<int64_t>(metadata.size()));
  Plan plan;
  plan.name = reader.Text(from.name());
  UnpackLiterals(from, file, options, reader, plan.module.literals());
  const OpSet& ops = options.ops ? *options.ops : OpSet::BuiltIn();
  if (reader.ok()) ReadModule(from.module_(), ops, reader, plan.module);
  UnpackParts(from, file->bytes(), reader, plan);
  PARTITA_RETURN_IF_ERROR(reader.status());
  PARTITA_RETURN_IF_ERROR(CheckGaps(from, metadata, file->bytes()));
  PARTITA_RETURN_IF_ERROR(CheckIds(plan));
  if (plan.notes.has_value()) {
    PARTITA_RETURN_IF_ERROR(CheckPredictedTimes(*plan.notes));
  }
  return plan;
}

absl::StatusOr<Plan> ReadMapped(std::shared_ptr<const MappedFile> file,
                                const ReadPlanOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(const PlanHeader header,
                           DecodeHeader(file->bytes()));
  const absl::Span<const std::byte> metadata =
      file->bytes().subspan(static_cast<size_t>(header.metadata_offset),
                            static_cast<size_t>(header.metadata_size));
  if (HashBytes(metadata) != header.metadata_hash) {
    return absl::InvalidArgumentError(
        "metadata: found other bytes than were written; the file is damaged: "
        "copy or compile it again");
  }
  return UnpackPlan(metadata, std::move(file), options);
}

}  // namespace

absl::StatusOr<Plan> ReadPlan(const std::string& path,
                              const ReadPlanOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  absl::StatusOr<Plan> plan = ReadMapped(std::move(file), options);
  if (plan.ok()) return plan;
  return absl::Status(plan.status().code(),
                      absl::StrCat(path, ": ", plan.status().message()));
}

}  // namespace partita
