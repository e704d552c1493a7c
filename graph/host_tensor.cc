// Storage and element access of host tensors.
// SPDX-License-Identifier: Apache-2.0

#include "graph/host_tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace partita {
namespace {

// Tensors that fill a large page are aligned to it. This avoids most TLB misses
// of kernels that stream through weights, and most page faults of the first
// write.
constexpr size_t kHugePage = size_t{2} << 20;

std::byte* NewZeroed(size_t size) {
  const bool is_large = size >= kHugePage;
  void* memory = nullptr;
  if (posix_memalign(&memory, is_large ? kHugePage : 64,
                     std::max<size_t>(size, 1)) != 0) {
    throw std::bad_alloc();
  }
  // Must come before the first write. It is only a hint: errors are harmless.
  if (is_large) madvise(memory, size, MADV_HUGEPAGE);
  return static_cast<std::byte*>(std::memset(memory, 0, size));
}

// In any layout, the offset of an element is a sum of one term per dimension.
// These are the terms of dimension `dim` for each index, in bytes.
std::vector<int64_t> OffsetsAlong(const TensorType& type, int dim) {
  const int64_t size = BitsOf(type.dtype) / 8;
  std::vector<int64_t> offsets(static_cast<size_t>(type.dims[dim]));
  Shape index(type.dims.size(), 0);
  for (int64_t& offset : offsets) {
    offset = size * PhysicalOffset(type.layout, type.dims, index);
    ++index[dim];
  }
  return offsets;
}

// Copies all elements, with one nested loop for each dimension.
template <typename Element>
class LayoutCopy {
 public:
  LayoutCopy(const HostTensor& from, HostTensor& to)
      : source_(from.bytes()), target_(to.bytes()), rank_(to.type().rank()) {
    for (int dim = 0; dim < rank_; ++dim) {
      from_.push_back(OffsetsAlong(from.type(), dim));
      to_.push_back(OffsetsAlong(to.type(), dim));
    }
  }

  void Run() { Copy(0, 0, 0); }

 private:
  void Copy(int dim, int64_t from, int64_t to) {
    if (dim == rank_) return Move(from, to);
    const std::vector<int64_t>& sources = from_[dim];
    const std::vector<int64_t>& targets = to_[dim];
    if (dim + 1 < rank_) {
      for (size_t i = 0; i < sources.size(); ++i) {
        Copy(dim + 1, from + sources[i], to + targets[i]);
      }
      return;
    }
    for (size_t i = 0; i < sources.size(); ++i) {
      Move(from + sources[i], to + targets[i]);
    }
  }

  void Move(int64_t from, int64_t to) {
    std::memcpy(target_ + to, source_ + from, sizeof(Element));
  }

  const std::byte* source_;
  std::byte* target_;
  int rank_;
  std::vector<std::vector<int64_t>> from_;
  std::vector<std::vector<int64_t>> to_;
};

}  // namespace

void HostTensor::AlignedDelete::operator()(std::byte* bytes) const {
  std::free(bytes);
}

HostTensor::HostTensor(TensorType type) : type_(std::move(type)) {
  owned_.reset(NewZeroed(static_cast<size_t>(type_.num_bytes())));
  bytes_ = owned_.get();
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
  return VisitDType(tensor.type().dtype, [&]<typename T>(TypeTag<T>) {
    return static_cast<double>(tensor.data<T>()[index]);
  });
}

void SetFromDouble(HostTensor& tensor, int64_t index, double value) {
  VisitDType(tensor.type().dtype, [&]<typename T>(TypeTag<T>) {
    tensor.data<T>()[index] = static_cast<T>(value);
  });
}

Number GetNumber(const HostTensor& tensor, int64_t index) {
  return VisitDType(tensor.type().dtype, [&]<typename T>(TypeTag<T>) {
    const T element = tensor.data<T>()[index];
    if constexpr (kIsFloat<T>) {
      return Number(static_cast<double>(element));
    } else if constexpr (std::is_same_v<T, bool>) {
      return Number(int{element});
    } else {
      return Number(element);
    }
  });
}

void SetNumber(HostTensor& tensor, int64_t index, const Number& value) {
  VisitDType(tensor.type().dtype, [&]<typename T>(TypeTag<T>) {
    tensor.data<T>()[index] = value.To<T>();
  });
}

bool Holds(DType dtype, const Number& value) {
  if (IsFloat(dtype)) return true;
  HostTensor element(TensorType{dtype, {}, {}});
  SetNumber(element, 0, value);
  return GetNumber(element, 0) == value;
}

std::vector<int64_t> ToInt64s(const HostTensor& tensor) {
  std::vector<int64_t> values;
  VisitDType(tensor.type().dtype, [&]<typename T>(TypeTag<T>) {
    for (T value : tensor.data<T>())
      values.push_back(static_cast<int64_t>(value));
  });
  return values;
}

void NormalizeBools(HostTensor& tensor) {
  if (tensor.type().dtype != DType::kBool) return;
  for (size_t i = 0; i < tensor.byte_span().size(); ++i) {
    std::byte& element = tensor.bytes()[i];
    element = std::byte{element != std::byte{0}};
  }
}

void ConvertLayout(const HostTensor& from, HostTensor& to) {
  const TensorType& type = to.type();
  if (from.type().layout == type.layout) {
    std::memcpy(to.bytes(), from.bytes(),
                static_cast<size_t>(type.num_bytes()));
    return;
  }
  if (type.num_stored_elements() != type.num_elements()) {
    std::memset(to.bytes(), 0, static_cast<size_t>(type.num_bytes()));
  }
  switch (BitsOf(type.dtype)) {
    case 8:
      return LayoutCopy<uint8_t>(from, to).Run();
    case 16:
      return LayoutCopy<uint16_t>(from, to).Run();
    case 32:
      return LayoutCopy<uint32_t>(from, to).Run();
    default:
      return LayoutCopy<uint64_t>(from, to).Run();
  }
}

}  // namespace partita
