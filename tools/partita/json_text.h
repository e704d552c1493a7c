// Reports as JSON.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_JSON_TEXT_H_
#define PARTITA_TOOLS_PARTITA_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace partita {

// Two spaces a level and a line's end, whatever bytes a name in it has: U+FFFD
// stands for what is no UTF-8, and control characters are escaped as JSON has
// it, those too that it lets pass (U+007F to U+009F): WriteText would escape
// them as JSON does not.
std::string JsonText(const nlohmann::ordered_json& json);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_JSON_TEXT_H_
