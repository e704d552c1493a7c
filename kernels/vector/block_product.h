// Products of f32 matrices in a core's caches, for kernels that compute several
// products.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_VECTOR_BLOCK_PRODUCT_H_
#define PARTITA_KERNELS_VECTOR_BLOCK_PRODUCT_H_

#include <cstdint>

namespace partita {

// result [m, n] = left [m, k] right [k, n], each extent at least 1. Sums are
// f32, along k: 64 products in sequence, then the next 64, which are added to
// the sum so far. If the processor can, a product and its addition are rounded
// once (HasFusedProducts).
struct BlockProduct {
  // Element (i, p) is at at[i * row + p * column].
  struct Left {
    const float* at;
    int64_t row;
    int64_t column;
  };
  // Element (p, j) is at at[p * row + j].
  struct Right {
    const float* at;
    int64_t row;
  };
  struct Result {
    float* at;
    int64_t row;
  };
  // The elements of a square left side that count. Others are not read, nor the
  // elements of the right side that they would multiply.
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
  bool adds = false;  // to the present result
  Part part = Part::kWhole;
};

// Multiples of 16 columns are fast, multiples of 64 fastest.
void Multiply(const BlockProduct& product);

// True if this build on this processor rounds a product and its addition once;
// kernels with such products state it in their arithmetic.
bool HasFusedProducts();

}  // namespace partita

#endif  // PARTITA_KERNELS_VECTOR_BLOCK_PRODUCT_H_
