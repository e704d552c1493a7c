// A machine: its devices, their memory and speed, and the links between them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_MACHINE_H_
#define PARTITA_PLACEMENT_MACHINE_MACHINE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/device_traits.h"
#include "graph/ids.h"
#include "placement/machine/link_collectives.h"

namespace partita {

// A device of a machine: an index into Machine::devices. (A plan lists only the
// devices that it uses: its DeviceId is another index.)
using MachineDeviceId = Id<struct MachineDeviceTag>;

struct MachineDevice {
  DeviceTraits traits;
  int64_t memory = 0;   // total bytes
  int64_t reserve = 0;  // bytes outside the arenas: contexts, handles
  int64_t usable() const { return memory - reserve; }
};

struct Link {
  std::string from;  // device names
  std::string to;
  double bandwidth = 0;  // bytes per second, one direction
  double latency = 0;    // seconds per transfer
  bool duplex = true;    // both directions at full speed at once
  std::string bus;       // links of one bus share its bandwidth; empty: none
  LinkCollectives collectives;
};

// What all CPU devices of the machine share. Without cores nothing is shared:
// each device has all the cores that its threads need, and waits cost nothing
// (placement/cost/host_cores.h).
struct MachineHost {
  int cores = 0;            // 0: the file names none
  double wake_seconds = 0;  // until a thread that slept goes on
  // Of feeds, fetches and copies within a CPU device: seconds that each takes
  // beside its bytes, and bytes per second; 0: as LocalCopyOf says.
  double copy_latency = 0;
  double copy_bandwidth = 0;
};

// What a copy within a device takes.
struct LocalCopy {
  double SecondsOf(double bytes) const { return fixed + per_byte * bytes; }

  double fixed = 0;
  double per_byte = 0;
};

struct Profile;

// Measurements that a machine file names.
struct MachineProfile {
  std::string file;  // in the folder of the machine file; empty: none
  // ProfileHash (profile.h); empty: any. Plans note it, also of a profile that
  // no file has.
  std::string hash;
  std::shared_ptr<const Profile> measured;  // null: it was not read
};

struct Machine {
  std::string name;
  std::vector<MachineDevice> devices;
  std::vector<Link> links;
  MachineProfile profile;
  MachineHost host;

  const MachineDevice* FindDevice(absl::string_view name) const;
  // Of a CPU device by MachineHost, where it says so; else a launch, and each
  // byte read and written once.
  LocalCopy LocalCopyOf(const DeviceTraits& device) const;
  // "cpu:0, gpu:0", for errors.
  std::string DeviceNames() const;
};

// Parses a machine file strictly: an unknown, missing or repeated key, or a
// value of a wrong type or out of range, is an error that names the location,
// what was found and what was expected. `source` is the file name in errors.
//
//   {"name": "two-gpus",
//    "devices": [
//      {"name": "cpu:0", "kind": "cpu",         "cpu" or "cuda"
//       "memory": "64 GiB",                     bytes: a number, or with a unit
//       "reserve": "4 GiB",                     default 0
//       "threads": 16, "isa": "avx512",         default 1; of a cpu one of
//                                               CpuIsas(), default "avx2", or
//                                               "sm_90", default any
//       "peak_flops": {"f32": 1.5e12},          per second; f32 is required,
//                                               and the default of others
//       "memory_bandwidth": 8e10,               bytes per second
//       "launch_seconds": 1e-6}],               default 0
//    "links": [
//      {"from": "cpu:0", "to": "gpu:0",         devices of this file
//       "bandwidth": 2.5e10,                    bytes per second, one direction
//       "latency": 1e-5, "duplex": true,        default 0 seconds; true
//       "bus": "pcie",                          default: no bus
//       "gather": {"bandwidth": 8e9,            measured collectives; default:
//                  "latency": 5e-5},            priced by the copies of the
//       "reduce": {"bandwidth": 8e9,            link (link_collectives.h)
//                  "latency": 5e-5}}],
//    "host": {"cores": 16,                      default: none that are shared
//             "wake_seconds": 5e-5,             default 0
//             "copy_latency": 2e-7,             default 0
//             "copy_bandwidth": 2e10},          bytes per second; default: each
//                                               device's own figures
//    "profile": "here.profile",                 measurements: a file in the
//                                               folder of this one, or below
//    "profile_hash": "5c5e..."}                 default: any contents
//
// Units: B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (of 1024). Two
// devices without a link between them are legal: nothing can be copied there.
// Opens no other file: it leaves MachineProfile::measured null.
absl::StatusOr<Machine> ParseMachine(absl::string_view json,
                                     absl::string_view source);
// The same for a file. ReadMachine also reads the profile that it names, as
// UseProfile does; an error names that file and says what to do. A machine file
// that states a hash has to name the profile.
absl::StatusOr<Machine> ReadMachine(const std::string& path);
absl::StatusOr<Machine> ReadMachineWithoutProfile(const std::string& path);

// Makes the machine's prices those of `profile`: its links with their
// collectives, and the wake-up and the copies of a host with cores, get the
// measured figures, and
// ProfiledCatalog (placement/cost) reads the nodes. `source` is the profile's
// file, for errors: FailedPrecondition if it is of another machine, or if the
// machine file states another hash.
absl::Status UseProfile(Profile profile, absl::string_view source,
                        Machine& machine);

// The text that ParseMachine reads; the same machine gives the same text.
std::string MachineToJson(const Machine& machine);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_MACHINE_H_
