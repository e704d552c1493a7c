// The points and steps of an index program that a thread computes at once:
// plain data.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_INDEX_TILE_H_
#define PARTITA_KERNELS_CODEGEN_INDEX_TILE_H_

namespace partita {

// `rows` neighbours in one loop times a group of neighbours in the innermost
// one. What does not depend on a loop is read and computed once for all its
// neighbours, so that a matmul's thread reads each element of an operand for
// several products. Each step needs the one before, but the reads of several
// steps do not wait for one another.
struct IndexTile {
  int rows_loop = 0;
  int rows = 1;   // divides the loop's extent
  int group = 1;  // divides the innermost extent; accesses have up to 16 bytes
  int steps = 1;  // of the innermost step loop, one after the other
  int terms = 1;  // of each sum, likewise
  int points() const { return rows * group; }
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_INDEX_TILE_H_
