// Storage and element access of host tensors.
// SPDX-License-Identifier: Apache-2.0

#include "graph/host_tensor.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace partita {
namespace {

constexpr std::align_val_t kAlignment{64};

// Advances a row-major index; false once every position has been visited.
bool NextIndex(absl::Span<const int64_t> dims, Shape& index) {
  for (size_t axis = dims.size(); axis-- > 0;) {
    if (++index[axis] < dims[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

}  // namespace

void HostTensor::AlignedDelete::operator()(std::byte* bytes) const {
  ::operator delete(bytes, kAlignment);
}

HostTensor::HostTensor(TensorType type) : type_(std::move(type)) {
  const size_t size = static_cast<size_t>(type_.num_bytes());
  owned_.reset(static_cast<std::byte*>(::operator new(size, kAlignment)));
  bytes_ = owned_.get();
  std::memset(bytes_, 0, size);
}

HostTensor HostTensor::View(TensorType type, void* bytes) {
  HostTensor tensor;
  tensor.type_ = std::move(type);
  tensor.bytes_ = static_cast<std::byte*>(bytes);
  return tensor;
}

HostTensor HostTensor::ConstView(TensorType type, const void* bytes) {
  return View(std::move(type), const_cast<void*>(bytes));
}

HostTensor HostTensor::Clone() const {
  HostTensor copy(type_);
  std::memcpy(copy.bytes_, bytes_, static_cast<size_t>(type_.num_bytes()));
  return copy;
}

double GetAsDouble(const HostTensor& tensor, int64_t index) {
  return VisitDType(tensor.type().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return static_cast<double>(tensor.data<T>()[index]);
  });
}

void SetFromDouble(HostTensor& tensor, int64_t index, double value) {
  VisitDType(tensor.type().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    tensor.data<T>()[index] = static_cast<T>(value);
  });
}

std::vector<int64_t> ToInt64s(const HostTensor& tensor) {
  std::vector<int64_t> values;
  VisitDType(tensor.type().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T value : tensor.data<T>())
      values.push_back(static_cast<int64_t>(value));
  });
  return values;
}

void ConvertLayout(const HostTensor& from, HostTensor& to) {
  const TensorType& type = to.type();
  if (from.type().layout == type.layout) {
    std::memcpy(to.bytes(), from.bytes(),
                static_cast<size_t>(type.num_bytes()));
    return;
  }
  std::memset(to.bytes(), 0, static_cast<size_t>(type.num_bytes()));
  if (type.num_elements() == 0) return;
  const int64_t size = BitsOf(type.dtype) / 8;
  Shape index(type.dims.size(), 0);
  do {
    std::memcpy(
        to.bytes() + size * PhysicalOffset(type.layout, type.dims, index),
        from.bytes() +
            size * PhysicalOffset(from.type().layout, type.dims, index),
        static_cast<size_t>(size));
  } while (NextIndex(type.dims, index));
}

}  // namespace partita
