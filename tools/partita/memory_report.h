// A session's memory, for people and for programs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_MEMORY_REPORT_H_
#define PARTITA_TOOLS_PARTITA_MEMORY_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "partita/options/arguments.h"
#include "runtime/executor/session_report.h"

namespace partita {

// Of the commands that load a plan.
inline constexpr FlagDef kMemorySnapshotFlag = {
    "memory-snapshot", "FILE",
    "write what the bytes of each device are used for at the end, as JSON: "
    "weights, variables, activations, workspaces, each with its owners",
    nullptr, FileUse::kWrites};

// One line a device: "  gpu:0 arena 4096 bytes, as the plan states; ...".
std::string MemoryText(const std::vector<DeviceMemory>& memory);
// An object by device.
nlohmann::ordered_json MemoryJson(const std::vector<DeviceMemory>& memory);

// The file of --memory-snapshot.
std::string MemorySnapshotText(const std::vector<MemorySnapshot>& snapshots);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_MEMORY_REPORT_H_
