// A tensor in host memory, owned or borrowed.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_HOST_TENSOR_H_
#define PARTITA_GRAPH_HOST_TENSOR_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "graph/number.h"
#include "graph/tensor_type.h"

namespace partita {

// Bytes of a type, in the type's layout. Movable, not copyable: a copy is
// written out as Clone(). Owned bytes start zeroed and 64-byte aligned.
class HostTensor {
 public:
  HostTensor() = default;
  // Owns new, zeroed bytes.
  explicit HostTensor(TensorType type);
  // Borrows `bytes`, which must hold type.num_bytes() and outlive this.
  static HostTensor View(TensorType type, void* bytes);
  // Borrows read-only bytes. The caller must not write to the tensor.
  static HostTensor ConstView(TensorType type, const void* bytes);
  // Owns a row-major tensor holding `values`.
  template <typename T>
  static HostTensor Of(Shape dims, const std::vector<T>& values);

  HostTensor Clone() const;

  const TensorType& type() const { return type_; }
  std::byte* bytes() { return bytes_; }
  const std::byte* bytes() const { return bytes_; }
  absl::Span<const std::byte> byte_span() const {
    return {bytes_, static_cast<size_t>(type_.num_bytes())};
  }
  // The elements in memory order; T must be the type of VisitDType.
  template <typename T>
  absl::Span<T> data() {
    // Parentheses, as braces would make a list of two bools.
    return absl::Span<T>(reinterpret_cast<T*>(bytes_),
                         static_cast<size_t>(type_.num_stored_elements()));
  }
  template <typename T>
  absl::Span<const T> data() const {
    return absl::Span<const T>(
        reinterpret_cast<const T*>(bytes_),
        static_cast<size_t>(type_.num_stored_elements()));
  }

 private:
  struct AlignedDelete {
    void operator()(std::byte* bytes) const;
  };
  TensorType type_;
  std::unique_ptr<std::byte, AlignedDelete> owned_;
  std::byte* bytes_ = nullptr;
};

// Element `index` (in memory order) converted to or from double. Exact, except
// for 64-bit integers beyond 2^53; integer ops use data<T>() instead.
double GetAsDouble(const HostTensor& tensor, int64_t index);
void SetFromDouble(HostTensor& tensor, int64_t index, double value);
// Exact for all types; values outside the type's range are narrowed
// (Number::To).
Number GetNumber(const HostTensor& tensor, int64_t index);
void SetNumber(HostTensor& tensor, int64_t index, const Number& value);
// True if an element of the type can be the number; any float can, rounded.
bool Holds(DType dtype, const Number& value);

// The elements of an integer or bool tensor as int64; row-major only.
std::vector<int64_t> ToInt64s(const HostTensor& tensor);

// Makes every byte of a bool tensor 0 or 1, as C++ requires; files may have
// other bytes. No effect on other dtypes.
void NormalizeBools(HostTensor& tensor);

// Copies `from` into `to`, which has the same dtype and dims and any layout.
// Padding of `to` is zeroed.
void ConvertLayout(const HostTensor& from, HostTensor& to);

template <typename T>
HostTensor HostTensor::Of(Shape dims, const std::vector<T>& values) {
  HostTensor tensor(TensorType{DTypeOf<T>(), std::move(dims), {}});
  for (size_t i = 0; i < values.size() && i < tensor.data<T>().size(); ++i) {
    tensor.data<T>()[i] = values[i];
  }
  return tensor;
}

}  // namespace partita

#endif  // PARTITA_GRAPH_HOST_TENSOR_H_
