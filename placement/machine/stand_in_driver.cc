// A fake CUDA driver with four GPUs, for the test of detection.
// SPDX-License-Identifier: Apache-2.0

// GPUs 0 and 1, and 1 and 2, access each other's memory; 0 and 1 with atomics.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {

// The call that PARTITA_STAND_IN_FAILS names finds no device.
static bool Fails(const char* call) {
  const char* const failing = std::getenv("PARTITA_STAND_IN_FAILS");
  return failing != nullptr && std::strcmp(failing, call) == 0;
}

int cuInit(unsigned flags) {
  if (Fails("cuInit")) return 100;
  return flags == 0 ? 0 : 1;
}

// 12.8, or that of PARTITA_STAND_IN_VERSION.
int cuDriverGetVersion(int* version) {
  const char* const text = std::getenv("PARTITA_STAND_IN_VERSION");
  *version = text == nullptr ? 12080 : std::atoi(text);
  return *version == 0 ? 100 : 0;
}

int cuGetErrorName(int result, const char** name) {
  if (result != 100) return 1;
  *name = "CUDA_ERROR_NO_DEVICE";
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = 4;
  return Fails("cuDeviceGetCount") ? 100 : 0;
}

int cuDeviceGetName(char* name, int length, int device) {
  std::snprintf(name, static_cast<size_t>(length), "Stand-in %d", device - 40);
  return 0;
}

int cuDeviceGetPCIBusId(char* address, int length, int device) {
  std::snprintf(address, static_cast<size_t>(length), "0000:%02x:00.0",
                16 + device - 40);
  return 0;
}

int cuDeviceGetP2PAttribute(int* value, int attribute, int from, int to) {
  if (from == to) return 101;
  const int sum = from + to - 80;
  const bool are_neighbours = from - to == 1 || to - from == 1;
  switch (attribute) {
    case 1:  // performance rank
      *value = sum == 1 ? 0 : 1;
      return 0;
    case 2:  // access
      *value = are_neighbours && sum <= 3 ? 1 : 0;
      return 0;
    case 3:  // atomics
      *value = sum == 1 ? 1 : 0;
      return 0;
  }
  return 1;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = 40 + ordinal;
  return 0;
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = size_t{80} << 30;
  // Of GPU 2.
  if (device == 42 && Fails("cuDeviceTotalMem")) return 100;
  return device >= 40 && device < 44 ? 0 : 1;
}

// With PARTITA_STAND_IN_OLD_GPU, GPU 0 is of sm_75.
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  const bool is_old =
      device == 40 && std::getenv("PARTITA_STAND_IN_OLD_GPU") != nullptr;
  switch (attribute) {
    case 13:  // clock, kHz
      *value = 1000000;
      return 0;
    case 16:  // multiprocessors
      *value = 100;
      return 0;
    case 36:  // memory clock, kHz
      *value = 2000000;
      return 0;
    case 37:  // memory bus, bits
      *value = 5120;
      return 0;
    case 75:  // compute capability
      *value = is_old ? 7 : 9;
      return 0;
    case 76:
      *value = is_old ? 5 : 0;
      return 0;
  }
  return 1;
}

}  // extern "C"
