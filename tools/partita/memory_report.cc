// Writes figures and blocks.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/memory_report.h"

#include "absl/strings/str_cat.h"
#include "placement/machine/byte_size.h"
#include "tools/partita/json_text.h"

namespace partita {
namespace {

using Json = nlohmann::ordered_json;

Json FiguresJson(const DeviceMemory& memory) {
  return {{"arena", memory.arena},         {"persistent", memory.persistent},
          {"allocated", memory.allocated}, {"peak", memory.peak},
          {"reserved", memory.reserved},   {"page_locked", memory.staging},
          {"in_place", memory.in_place},   {"limit", memory.limit},
          {"total", memory.total},         {"free", memory.free},
          {"outside", memory.outside}};
}

Json BlockJson(const MemoryBlock& block) {
  Json json = {{"kind", MemoryKindName(block.kind)},
               {"offset", block.offset},
               {"bytes", block.bytes},
               {"copies", block.copies},
               {"entry", block.entry},
               {"owners", block.owners},
               {"in_place", block.in_place}};
  if (block.first_command >= 0) {
    json["commands"] = {block.first_command, block.last_command};
  }
  return json;
}

}  // namespace

std::string MemoryText(const std::vector<DeviceMemory>& memory) {
  std::string text;
  for (const DeviceMemory& use : memory) {
    absl::StrAppend(&text, "  ", use.device, " arena ", use.arena,
                    " bytes, as the plan states; allocated ",
                    RoundedByteSize(use.allocated), ", peak ",
                    RoundedByteSize(use.peak), ", reserved ",
                    RoundedByteSize(use.reserved));
    if (use.staging > 0) {
      absl::StrAppend(&text, ", page-locked ", RoundedByteSize(use.staging));
    }
    if (use.total > 0) {
      absl::StrAppend(&text, "; ", RoundedByteSize(use.free), " of ",
                      RoundedByteSize(use.total), " free");
    }
    text += "\n";
  }
  return text;
}

Json MemoryJson(const std::vector<DeviceMemory>& memory) {
  Json json = Json::object();
  for (const DeviceMemory& use : memory) json[use.device] = FiguresJson(use);
  return json;
}

std::string MemorySnapshotText(const std::vector<MemorySnapshot>& snapshots) {
  Json devices = Json::object();
  for (const MemorySnapshot& snapshot : snapshots) {
    Json& device = devices[snapshot.memory.device];
    device = FiguresJson(snapshot.memory);
    device["blocks"] = Json::array();
    for (const MemoryBlock& block : snapshot.blocks) {
      device["blocks"].push_back(BlockJson(block));
    }
  }
  return JsonText({{"devices", devices}});
}

}  // namespace partita
