// Times copies by the stamps of a stream.
// SPDX-License-Identifier: Apache-2.0

#include "partita/profile/measure_copies.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "graph/status_macros.h"
#include "partita/profile/measure_links.h"

namespace partita {
namespace {

constexpr int64_t kSizes[] = {int64_t{4} << 10, int64_t{256} << 10,
                              int64_t{16} << 20};
constexpr int64_t kLargest = int64_t{16} << 20;
constexpr int64_t kAlignment = 256;
constexpr int kCopies = 9;  // the first warms up

// Memory of a device whose bytes are defined, and committed.
absl::StatusOr<std::unique_ptr<Arena>> NewZeros(Device& device) {
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<Arena> arena,
                           device.NewArena(kLargest, kAlignment));
  const std::vector<std::byte> zeros(kLargest);
  PARTITA_RETURN_IF_ERROR(device.Upload(arena->base(), zeros.data(), kLargest));
  return arena;
}

absl::StatusOr<double> TimeOneCopy(DeviceStream& stream, const Blocks& to,
                                   const Blocks& from) {
  SteadyTime start;
  SteadyTime end;
  stream.Stamp(start);
  PARTITA_RETURN_IF_ERROR(stream.Copy(to, from));
  stream.Stamp(end);
  PARTITA_RETURN_IF_ERROR(stream.Finish());
  return std::chrono::duration<double>(end - start).count();
}

absl::StatusOr<double> MedianSeconds(DeviceStream& stream, const Blocks& to,
                                     const Blocks& from) {
  std::vector<double> seconds;
  for (int copy = 0; copy < kCopies; ++copy) {
    PARTITA_ASSIGN_OR_RETURN(const double taken, TimeOneCopy(stream, to, from));
    if (copy > 0) seconds.push_back(taken);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

struct End {
  Device& device;
  Arena& arena;
};

// By size, in one direction.
absl::StatusOr<std::vector<double>> MeasureDirection(const End& from,
                                                     const End& to) {
  Device& copier =
      from.device.properties().host_accesses_arenas ? to.device : from.device;
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<DeviceStream> stream,
                           copier.NewStream());
  const int attached = stream->Attach();
  std::vector<double> all;
  absl::Status status;
  for (const int64_t bytes : kSizes) {
    const absl::StatusOr<double> seconds =
        MedianSeconds(*stream, {.base = to.arena.base(), .block = bytes},
                      {.base = from.arena.base(), .block = bytes});
    status.Update(seconds.status());
    if (!status.ok()) break;
    all.push_back(*seconds);
  }
  stream->Detach(attached);
  PARTITA_RETURN_IF_ERROR(status);
  return all;
}

}  // namespace

absl::StatusOr<MeasuredLink> MeasureCopies(Device& from, Device& to,
                                           const Link& link) {
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Arena> here, NewZeros(from));
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Arena> there, NewZeros(to));
  const End one = {from, *here};
  const End two = {to, *there};
  PARTITA_ASSIGN_OR_RETURN(const std::vector<double> forth,
                           MeasureDirection(one, two));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<double> back,
                           MeasureDirection(two, one));
  std::vector<CopySeconds> copies;
  for (size_t i = 0; i < forth.size(); ++i) {
    copies.push_back({kSizes[i], std::max(forth[i], back[i])});
  }
  return FitLink(link, copies);
}

}  // namespace partita
