// A fake NVML, for the test of detection.
// SPDX-License-Identifier: Apache-2.0

// GPU 0 has three direct links to GPU 1, one that is down, and one to a switch;
// GPU 1 has two to switches, GPU 2 three. GPUs 0 and 2 have no link of
// number 2.

#include <cstdio>
#include <cstring>

extern "C" {

struct StandInGpu {
  unsigned bus;
};

struct StandInPciInfo {
  char legacy_address[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char address[32];
};

namespace {

StandInGpu gpus[] = {{16}, {17}, {18}, {19}};

// By GPU and link: the bus of the other end, 0 for none, 1 for a switch, 2
// where there is no link.
constexpr unsigned kLinks = 6;
constexpr unsigned kNoLink = 2;
constexpr unsigned kEnds[4][kLinks] = {{17, 17, kNoLink, 0, 17, 1},
                                       {16, 1, 0, 16, 16, 1},
                                       {1, 1, kNoLink, 1, 0, 0},
                                       {0, 0, 0, 0, 0, 0}};

unsigned EndOf(const StandInGpu* device, unsigned link) {
  return kEnds[device->bus - 16][link];
}

}  // namespace

int nvmlInit_v2() { return 0; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* address, StandInGpu** device) {
  unsigned domain = 0;
  unsigned bus = 0;
  if (std::sscanf(address, "%x:%x", &domain, &bus) != 2) return 2;
  for (StandInGpu& known : gpus) {
    if (known.bus != bus || domain != 0) continue;
    *device = &known;
    return 0;
  }
  return 6;  // NVML_ERROR_NOT_FOUND
}

int nvmlDeviceGetNvLinkState(StandInGpu* device, unsigned link, int* active) {
  if (link >= kLinks) return 2;                  // NVML_ERROR_INVALID_ARGUMENT
  if (EndOf(device, link) == kNoLink) return 3;  // NVML_ERROR_NOT_SUPPORTED
  *active = EndOf(device, link) == 0 ? 0 : 1;
  return 0;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(StandInGpu* device, unsigned link,
                                        int* type) {
  *type = EndOf(device, link) == 1 ? 2 : 0;
  return 0;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(StandInGpu* device, unsigned link,
                                        StandInPciInfo* info) {
  std::memset(info, 0, sizeof(*info));
  info->bus = EndOf(device, link);
  std::snprintf(info->address, sizeof(info->address), "00000000:%02X:00.0",
                info->bus);
  return 0;
}

}  // extern "C"
