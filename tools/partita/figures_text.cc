// Writes figures, and what they changed to.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/figures_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "placement/machine/byte_size.h"
#include "tools/partita/report_text.h"

namespace partita {
namespace {

using Json = nlohmann::ordered_json;

std::string CountedBytes(int count, absl::string_view one,
                         absl::string_view many, int64_t bytes) {
  return absl::StrCat(count, " ", count == 1 ? one : many, ", ",
                      RoundedByteSize(bytes));
}

Json PathJson(const CriticalPath& path) {
  Json commands = Json::array();
  for (const PathCommand& command : path.commands) {
    commands.push_back({{"command", command.title},
                        {"device", command.device},
                        {"seconds", command.seconds}});
  }
  return {{"kernel_seconds", path.kernels},
          {"transfer_seconds", path.transfers},
          {"port_seconds", path.ports},
          {"commands", commands}};
}

}  // namespace

std::string SecondsChange(double from, double to) {
  if (from == to) return SecondsText(from);
  std::string text = absl::StrCat(SecondsText(from), " -> ", SecondsText(to));
  if (from > 0) {
    absl::StrAppendFormat(&text, " (%+.1f %%)", 100 * (to - from) / from);
  }
  return text;
}

std::string BytesChange(int64_t from, int64_t to) {
  if (from == to) return RoundedByteSize(from);
  return absl::StrCat(RoundedByteSize(from, to), " -> ",
                      RoundedByteSize(to, from), " (", to < from ? "-" : "+",
                      RoundedByteSize(to < from ? from - to : to - from), ")");
}

std::string TransfersText(const TransferCount& transfers) {
  std::vector<std::string> parts;
  if (transfers.copies > 0) {
    parts.push_back(CountedBytes(transfers.copies, "copy", "copies",
                                 transfers.copied_bytes));
  }
  if (transfers.collectives > 0) {
    parts.push_back(CountedBytes(transfers.collectives, "collective",
                                 "collectives", transfers.collective_bytes));
  }
  return parts.empty() ? "none" : absl::StrJoin(parts, "; ");
}

std::string PathText(const CriticalPath& path) {
  return absl::StrCat("kernels ", SecondsText(path.kernels), ", transfers ",
                      SecondsText(path.transfers), ", feeds and fetches ",
                      SecondsText(path.ports));
}

std::string ArenasText(const std::vector<ArenaFigures>& arenas) {
  const auto append = [](std::string* out, const ArenaFigures& arena) {
    absl::StrAppend(out, arena.device, " ", RoundedByteSize(arena.arena));
  };
  return absl::StrJoin(arenas, ", ", append);
}

Json EntryFiguresJson(const EntryFigures& entry) {
  Json busy = Json::object();
  for (const BusyDevice& device : entry.busy) {
    busy[device.device] = device.seconds;
  }
  return {{"step_seconds", entry.step_seconds},
          {"latency_seconds", entry.latency_seconds},
          {"busy_seconds", busy},
          {"copies", entry.transfers.copies},
          {"copied_bytes", entry.transfers.copied_bytes},
          {"collectives", entry.transfers.collectives},
          {"collective_bytes", entry.transfers.collective_bytes},
          {"critical_path", PathJson(entry.path)}};
}

Json ArenaJson(const ArenaFigures& arena) {
  return {{"arena_bytes", arena.arena},
          {"persistent_bytes", arena.persistent},
          {"memory_bytes", arena.memory}};
}

}  // namespace partita
