// What oneDNN is known to compute wrongly, and what stands in for it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_ONEDNN_FAULTS_H_
#define PARTITA_KERNELS_CPU_ONEDNN_FAULTS_H_

#include "oneapi/dnnl/dnnl.hpp"

namespace partita {

// A class of shapes for which an implementation writes where it may not, or
// crashes: by the implementation's name, the library's version and what is
// computed.
struct OnednnFault {
  const char* implementation;  // what its name begins with
  dnnl_version_t mended;       // first version without it; 0.0.0: none yet
  bool (*has)(const dnnl::primitive_desc& primitive);
  const char* reason;
};

// The known fault of this implementation for these shapes; null if there is
// none.
const OnednnFault* KnownFault(const dnnl::primitive_desc& primitive);

// oneDNN's next implementation of the same for as long as one has a known
// fault; empty if none is left. Of a gradient, the descriptor of the forward
// primitive that it was made with must still be there.
dnnl::primitive_desc WithoutKnownFault(dnnl::primitive_desc primitive);

// For tests that show what the list is for: none of this thread's questions
// finds a fault while one of these lives.
class IgnoreKnownFaults {
 public:
  IgnoreKnownFaults();
  ~IgnoreKnownFaults();
  IgnoreKnownFaults(const IgnoreKnownFaults&) = delete;
  IgnoreKnownFaults& operator=(const IgnoreKnownFaults&) = delete;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ONEDNN_FAULTS_H_
