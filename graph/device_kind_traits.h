// What is true of every device of a kind: one row a kind.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_DEVICE_KIND_TRAITS_H_
#define PARTITA_GRAPH_DEVICE_KIND_TRAITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/device_traits.h"

namespace partita {

// What the kernels of a device are.
enum class KernelCode : uint8_t {
  kHost,  // functions of this program; generated code is a shared object
  kPtx,   // generated code is PTX, which the driver of the device compiles
};

// Which DeviceTraits::isa machine files may have.
struct IsaRule {
  bool (*accepts)(absl::string_view isa);
  // All accepted ISAs, best first; null if `form` describes them.
  std::vector<std::string> (*names)();
  absl::string_view form;
  absl::string_view usual;  // the ISA of a file that has none; empty: any
};

struct DeviceKindTraits {
  absl::string_view name;  // "cpu"
  // Its memory and its cores are the host's: all devices of such kinds share
  // them, and need no link to feed an input or to fetch an output.
  bool shares_host;
  KernelCode kernel_code;
  // The target of the code objects that a device of this ISA loads; empty if no
  // code is generated for it.
  std::string (*code_target)(absl::string_view isa);
  // Collectives run beside kernels, in a stream of their own. Otherwise they
  // would take the time of the cores that run the kernels.
  bool collectives_beside_kernels;
  // So are inputs fed and outputs fetched.
  bool ports_beside_kernels;
  // The streams of a step run beside those of the steps before it, if the plan
  // lets them (Entry::depth). Otherwise one launcher feeds all streams of such
  // devices (runtime/executor/launcher.h), and begins a step when they have
  // ended the step before.
  bool overlaps_steps;
  IsaRule isa;
};

// `kind` is one of the kNumDeviceKinds.
const DeviceKindTraits& TraitsOf(DeviceKind kind);

// True if the host can run the device's kernels: they are code of the host.
bool RunsHostCode(const DeviceTraits& device);

// CodeObject::target of the code that the device loads; empty if there is none.
// Devices with one target share a code object.
std::string CodeTargetOf(const DeviceTraits& device);

}  // namespace partita

#endif  // PARTITA_GRAPH_DEVICE_KIND_TRAITS_H_
