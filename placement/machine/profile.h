// What was measured on a machine: the seconds of nodes, and its links.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_PROFILE_H_
#define PARTITA_PLACEMENT_MACHINE_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/device_traits.h"
#include "graph/dtype.h"
#include "placement/machine/link_collectives.h"

namespace partita {

struct Machine;

// Versions of the format: this one is written, and only it is read.
inline constexpr int kProfileFormat = 1;
// A profile with more is refused, by readers and writers alike.
inline constexpr size_t kMostMeasuredNodes = 8192;
inline constexpr size_t kMostMeasuredLinks = 4096;
inline constexpr size_t kMostSignatureBytes = 1024;
// The seconds of a node, measured or predicted, that a profile can have.
inline constexpr double kLeastNodeSeconds = 1e-12;
inline constexpr double kMostNodeSeconds = 1e6;

// The host that measured.
struct ProfileHost {
  friend bool operator==(const ProfileHost&, const ProfileHost&) = default;

  std::string cpu;  // the processor's name, as the system reports it
  std::string isa;  // the best that the process may use
  int threads = 1;  // cores that the process may use
};

// Kernels that are scaled together (placement/cost/measured_scale.h).
struct KernelFamily {
  friend bool operator==(const KernelFamily&, const KernelFamily&) = default;

  std::string op;  // "matmul", or "fused matmul" by the body's largest op
  DType dtype = DType::kF32;  // of the first operand
  DeviceKind device = DeviceKind::kCpu;
};

// Seconds of a kernel in steps of plans.
struct SecondsInSteps {
  friend bool operator==(const SecondsInSteps&,
                         const SecondsInSteps&) = default;

  double seconds = 0;  // the median of a run, averaged over runs by steps
  int64_t steps = 0;   // at least 1
};

// One kernel on one kind of device, with its operands' types and layouts.
struct MeasuredNode {
  friend bool operator==(const MeasuredNode&, const MeasuredNode&) = default;

  // The price: that in steps, where it was seen; else between warm and cold
  // caches, their geometric mean, whose largest error is least.
  double seconds() const;

  std::string signature;  // placement/cost/node_signature.h
  KernelFamily family;
  std::string kernel;   // "onednn.conv"
  std::string version;  // of its arithmetic: "onednn 2.6.3"
  // A kernel of plain loops (KernelChoice::fallback).
  bool fallback = false;
  double roofline = 0;  // seconds that the catalog states
  // Of the kernel alone, with its operands in the caches and without. At least
  // one of the three is there.
  std::optional<double> warm;
  std::optional<double> cold;
  std::optional<SecondsInSteps> in_steps;
};

// The figures of a link as measured; Link has the rest.
struct MeasuredLink {
  friend bool operator==(const MeasuredLink&, const MeasuredLink&) = default;

  // The same for both directions: LinkTable::InOrder.
  std::pair<absl::string_view, absl::string_view> ends() const;

  std::string from;
  std::string to;
  double bandwidth = 0;
  double latency = 0;
  LinkCollectives collectives;  // each where it was measured
};

// MachineHost::copy_latency and copy_bandwidth as measured.
struct MeasuredCopies {
  friend bool operator==(const MeasuredCopies&,
                         const MeasuredCopies&) = default;

  double bandwidth = 0;
  double latency = 0;
};

struct Profile {
  friend bool operator==(const Profile&, const Profile&) = default;

  ProfileHost host;
  // MachineHost::wake_seconds, where it was measured.
  std::optional<double> wake_seconds;
  std::optional<MeasuredCopies> copies;
  // Bytes of the host's largest cache, where the system says so
  // (placement/cost/cache_reuse.h).
  std::optional<int64_t> cache_bytes;
  // The devices that were measured, each once. The rates are those of the
  // machine file, which the rooflines were computed with.
  std::vector<DeviceTraits> devices;
  std::vector<MeasuredNode> nodes;  // by signature, sorted
  // Each pair of devices once, sorted by their ends.
  std::vector<MeasuredLink> links;
};

// The library of a MeasuredNode::version: "onednn" of "onednn 2.6.3"; all of a
// text that does not end with a number.
absl::string_view LibraryOf(absl::string_view version);

// Reads a profile strictly, as ParseMachine does. Errors name `source`, and say
// what to do about a newer format and a damaged file (its checksum differs).
absl::StatusOr<Profile> ParseProfile(absl::string_view json,
                                     absl::string_view source);
// NotFound if there is no such file.
absl::StatusOr<Profile> ReadProfile(const std::string& path);
// The text that ParseProfile reads, with a checksum; equal profiles give the
// same text.
std::string ProfileToJson(const Profile& profile);
// Of that text's measurements: 32 hexadecimal digits. An input of plans.
std::string ProfileHash(const Profile& profile);
// Writes ProfileToJson to a temporary file, and renames it. ResourceExhausted
// if the profile has more than ParseProfile reads.
absl::Status WriteProfile(const Profile& profile, const std::string& path);

// FailedPrecondition, naming what differs, if the profile is of other devices
// than the machine's, or measures a link that it lacks. `source` is the
// profile's file.
absl::Status CheckProfileFits(const Profile& profile, const Machine& machine,
                              absl::string_view source);

// FailedPrecondition if the profile was measured on another host than `host`.
absl::Status CheckMeasuredHere(const Profile& profile, const ProfileHost& host,
                               absl::string_view source);

// Adds `fresh` to `profile`, which is of the same host:
//  1. Fresh figures of kernels alone, of links, of their collectives and of
//     the host replace older ones.
//  2. Figures in steps are averaged, by their numbers of steps.
//  3. Measurements of another version of a fresh kernel's library are dropped:
//     no node will have it again.
void MergeProfile(const Profile& fresh, Profile& profile);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_PROFILE_H_
