// Reports as JSON.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_JSON_TEXT_H_
#define PARTITA_TOOLS_PARTITA_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace partita {

// Two spaces a level and a line end. Bytes in names that are not UTF-8 become
// U+FFFD. Control characters are escaped as JSON does, including U+007F to
// U+009F, which JSON allows: WriteText would escape them differently.
std::string JsonText(const nlohmann::ordered_json& json);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_JSON_TEXT_H_
