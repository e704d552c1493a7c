// Products of f32 matrices that lie in a core's caches: what kernels of several
// products in a row are made of.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_VECTOR_BLOCK_PRODUCT_H_
#define PARTITA_KERNELS_VECTOR_BLOCK_PRODUCT_H_

#include <cstdint>

namespace partita {

// result [m, n] = left [m, k] right [k, n], each extent at least 1. Sums are in
// f32, along k: 64 products one behind the other, then the next 64, which are
// added to what there is. Where the processor can, a product and its addition
// are rounded once (HasFusedProducts).
struct BlockProduct {
  // Element (i, p) lies at at[i * row + p * column].
  struct Left {
    const float* at;
    int64_t row;
    int64_t column;
  };
  // Element (p, j) lies at at[p * row + j].
  struct Right {
    const float* at;
    int64_t row;
  };
  struct Result {
    float* at;
    int64_t row;
  };
  // The elements of a square left side that count; others are not read, nor
  // what they would meet.
  enum class Part : uint8_t {
    kWhole,
    kLower,  // p <= i
    kUpper,  // p >= i
  };

  Left left;
  Right right;
  Result result;
  int64_t m;
  int64_t n;
  int64_t k;
  bool adds = false;  // to what the result holds
  Part part = Part::kWhole;
};

// Columns in multiples of 16 are fast, and of 64 best.
void Multiply(const BlockProduct& product);

// A product and its addition are rounded once, by this build on this processor:
// what the arithmetic of a kernel with such products says.
bool HasFusedProducts();

}  // namespace partita

#endif  // PARTITA_KERNELS_VECTOR_BLOCK_PRODUCT_H_
