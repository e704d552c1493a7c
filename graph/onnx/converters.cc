// The table of supported ONNX ops.
// SPDX-License-Identifier: Apache-2.0

#include "absl/container/flat_hash_map.h"
#include "graph/onnx/converter_list.h"
#include "graph/onnx/node_import.h"

namespace partita {

std::vector<const ConverterRow*> AllConverters() {
  std::vector<const ConverterRow*> rows;
  for (int i = 0; i < kConverterFamiliesSize; ++i) {
    for (const ConverterRow& row : kConverterFamilies[i]->rows) {
      rows.push_back(&row);
    }
  }
  return rows;
}

const ConverterRow* FindConverter(absl::string_view op_type) {
  static const auto& table = *[] {
    auto* rows =
        new absl::flat_hash_map<absl::string_view, const ConverterRow*>;
    for (const ConverterRow* row : AllConverters()) {
      rows->emplace(row->op_type, row);
    }
    return rows;
  }();
  auto it = table.find(op_type);
  return it == table.end() ? nullptr : it->second;
}

}  // namespace partita
