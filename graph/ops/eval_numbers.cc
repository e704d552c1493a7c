// Converts whole tensors to and from doubles.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/eval_numbers.h"

namespace partita {

std::vector<double> ToDoubles(const HostTensor& tensor) {
  return VisitDType(tensor.type().dtype, [&]<typename T>(TypeTag<T>) {
    const absl::Span<const T> data = tensor.data<T>();
    std::vector<double> values(data.size());
    for (size_t i = 0; i < data.size(); ++i) {
      values[i] = static_cast<double>(data[i]);
    }
    return values;
  });
}

void FromDoubles(const std::vector<double>& values, HostTensor& tensor) {
  VisitDType(tensor.type().dtype, [&]<typename T>(TypeTag<T>) {
    const absl::Span<T> data = tensor.data<T>();
    for (size_t i = 0; i < data.size(); ++i) data[i] = Narrow<T>(values[i]);
  });
}

}  // namespace partita
