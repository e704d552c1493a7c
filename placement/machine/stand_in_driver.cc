// A fake CUDA driver with two GPUs, for the test of detection.
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

extern "C" {

int cuInit(unsigned flags) { return flags == 0 ? 0 : 1; }

int cuDeviceGetCount(int* count) {
  *count = 2;
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = 40 + ordinal;
  return 0;
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = size_t{80} << 30;
  return device == 40 || device == 41 ? 0 : 1;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
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
      *value = 9;
      return 0;
    case 76:
      *value = 0;
      return 0;
  }
  return 1;
}

}  // extern "C"
