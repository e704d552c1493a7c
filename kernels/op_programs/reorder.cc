// A copy between layouts: the elements of the result's memory in order, padding
// included.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/status_macros.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {
namespace {

// How memory's dimensions make a tensor's (graph/layout.h): each memory
// dimension counts steps of a dimension, `unit` elements each.
struct MemoryDim {
  int dim;
  int64_t extent;
  int64_t unit;
};

std::vector<MemoryDim> MemoryDims(const TensorType& type) {
  std::vector<MemoryDim> all;
  const Layout& layout = type.layout;
  if (layout.is_row_major()) {
    for (int d = 0; d < type.rank(); ++d) all.push_back({d, type.dims[d], 1});
    return all;
  }
  const Shape extents = PhysicalDims(layout, type.dims);
  for (uint8_t dim : layout.order) all.push_back({dim, 0, 1});
  for (const Layout::Block& block : layout.blocks) {
    all.push_back({block.dim, 0, 1});
  }
  std::vector<int64_t> units(type.dims.size(), 1);
  for (size_t i = all.size(); i-- > 0;) {
    all[i].extent = extents[i];
    all[i].unit = units[all[i].dim];
    units[all[i].dim] *= extents[i];
  }
  return all;
}

// The coordinates of a tensor from those of its memory.
std::vector<Register> TensorCoordinates(
    const std::vector<MemoryDim>& memory,
    const std::vector<Register>& coordinates, int rank,
    const IndexReader& read) {
  std::vector<Register> index(rank, read.Index(0));
  for (size_t i = 0; i < memory.size(); ++i) {
    const Register elements = coordinates[i] * read.Index(memory[i].unit);
    index[memory[i].dim] = index[memory[i].dim] + elements;
  }
  return index;
}

// The offset of an element in memory.
Register MemoryOffset(const std::vector<MemoryDim>& memory,
                      const std::vector<Register>& index,
                      const IndexReader& read) {
  std::vector<Register> coordinates;
  Shape extents;
  for (const MemoryDim& m : memory) {
    coordinates.push_back(Remainder(Quotient(index[m.dim], m.unit), m.extent));
    extents.push_back(m.extent);
  }
  return read.Offset(coordinates, RowMajorStrides(extents));
}

}  // namespace

absl::Status BuildReorder(IndexNode& node) {
  const TensorType& x = node.op().operand_type(0);
  const TensorType& y = node.op().result_type(0);
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kBits}));
  const std::vector<MemoryDim> from = MemoryDims(x);
  const std::vector<MemoryDim> to = MemoryDims(y);
  Shape dims;
  for (const MemoryDim& m : to) dims.push_back(m.extent);
  node.SetPoints(dims);
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> index =
        TensorCoordinates(to, node.Point(read), x.rank(), read);
    Conditions exists;
    if (y.num_stored_elements() != y.num_elements()) {
      for (int d = 0; d < x.rank(); ++d) {
        exists.Add(index[d] < read.Index(x.dims[d]));
      }
    }
    return {read.Element(0, MemoryOffset(from, index, read), exists.all())};
  });
  return absl::OkStatus();
}

}  // namespace partita
