// IDX, the format of MNIST and Fashion-MNIST.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DATASET_IDX_H_
#define PARTITA_RUNTIME_DATASET_IDX_H_

#include "absl/status/statusor.h"
#include "runtime/tensor_file/file_bytes.h"

namespace partita {

// The array of an IDX file (http://yann.lecun.com/exdb/mnist), plain or in
// gzip: two zeros, the element type, the rank, the extents and the elements,
// all big-endian. One-byte elements of a plain file stay in the file; others
// are copied to the host's byte order. Allocates no more than the file's size
// can fill. Any bytes are safe.
absl::StatusOr<FileTensor> OpenIdx(const FileBytes& file);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_IDX_H_
