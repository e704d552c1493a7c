// The figures of plans, for people and for programs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_FIGURES_TEXT_H_
#define PARTITA_TOOLS_PARTITA_FIGURES_TEXT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "partita/plan_figures.h"

namespace partita {

// "142.1 us -> 179.4 us (+26.3 %)"; "142.1 us" if both are equal.
std::string SecondsChange(double from, double to);
// "914.0 KiB -> 120.0 KiB (-794.0 KiB)"; "914.0 KiB" if both are equal.
std::string BytesChange(int64_t from, int64_t to);

// "1 copy, 32.0 KiB; 2 collectives, 80 B"; "none".
std::string TransfersText(const TransferCount& transfers);
// "kernels 61.9 us, transfers 0.0 us, feeds and fetches 80.2 us".
std::string PathText(const CriticalPath& path);
// "cpu:0 914.0 KiB, gpu:0 1.2 KiB".
std::string ArenasText(const std::vector<ArenaFigures>& arenas);

// The same facts, in seconds and bytes.
nlohmann::ordered_json EntryFiguresJson(const EntryFigures& entry);
nlohmann::ordered_json ArenaJson(const ArenaFigures& arena);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_FIGURES_TEXT_H_
