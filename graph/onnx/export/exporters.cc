// The table of ops that ONNX can express.
// SPDX-License-Identifier: Apache-2.0

#include "absl/container/flat_hash_map.h"
#include "graph/onnx/export/node_export.h"

namespace partita {

const ExportRow* FindExport(const OpDef& op) {
  static const auto& table = *[] {
    auto* rows = new absl::flat_hash_map<const OpDef*, const ExportRow*>;
    for (absl::Span<const ExportRow> family :
         {AttentionExports(), ElementwiseExports(), LinearExports(),
          PoolExports(), NormExports(), ReduceExports(), MoveExports(),
          ShapeExports(), IndexExports(), SampleExports(), SourceExports()}) {
      for (const ExportRow& row : family) rows->emplace(row.op, &row);
    }
    return rows;
  }();
  const auto it = table.find(&op);
  return it == table.end() ? nullptr : it->second;
}

}  // namespace partita
