// The table of ops that ONNX can express.
// SPDX-License-Identifier: Apache-2.0

#include "absl/container/flat_hash_map.h"
#include "graph/onnx/export/export_list.h"
#include "graph/onnx/export/node_export.h"

namespace partita {

const ExportRow* FindExport(const OpDef& op) {
  static const auto& table = *[] {
    auto* rows = new absl::flat_hash_map<const OpDef*, const ExportRow*>;
    for (int i = 0; i < kExportFamiliesSize; ++i) {
      for (const ExportRow& row : kExportFamilies[i]->rows) {
        rows->emplace(row.op, &row);
      }
    }
    return rows;
  }();
  const auto it = table.find(&op);
  return it == table.end() ? nullptr : it->second;
}

}  // namespace partita
