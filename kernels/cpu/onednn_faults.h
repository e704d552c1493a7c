// oneDNN's known faults and their replacements.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_ONEDNN_FAULTS_H_
#define PARTITA_KERNELS_CPU_ONEDNN_FAULTS_H_

#include "oneapi/dnnl/dnnl.hpp"

namespace partita {

// A class of shapes for which an implementation gives wrong numbers, accesses
// what it must not, or crashes: by the implementation's name, the library's
// version and the computation.
struct OnednnFault {
  const char* implementation;  // prefix of its name
  dnnl_version_t fixed_in;     // first version without it; 0.0.0: none
  bool (*has)(const dnnl::primitive_desc& primitive);
  const char* reason;
};

// The known fault of this implementation for these shapes; null if there is
// none.
const OnednnFault* KnownFault(const dnnl::primitive_desc& primitive);

// oneDNN's next implementation, until one has no known fault; empty if none is
// left. The operation's descriptor must be alive, and for a gradient that of
// its forward primitive.
dnnl::primitive_desc WithoutKnownFault(dnnl::primitive_desc primitive);

// While one of these exists, this thread's queries ignore the list of faults.
// For tests that show that the list is needed.
class IgnoreKnownFaults {
 public:
  IgnoreKnownFaults();
  ~IgnoreKnownFaults();
  IgnoreKnownFaults(const IgnoreKnownFaults&) = delete;
  IgnoreKnownFaults& operator=(const IgnoreKnownFaults&) = delete;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ONEDNN_FAULTS_H_
