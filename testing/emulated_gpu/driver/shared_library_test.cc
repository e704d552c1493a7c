// The emulated GPUs as libcuda.so.1, found as a real driver is.
// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "gtest/gtest.h"
#include "testing/emulated_gpu/driver_rules/rule.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita::emulated_gpu {
namespace {

constexpr char kFolder[] = "testing/emulated_gpu/driver";
constexpr char kLibrary[] = "testing/emulated_gpu/driver/libcuda.so.1";

class SharedLibrary : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("PARTITA_EMULATED_GPUS", "3", 1);
    setenv("PARTITA_EMULATED_BYTES", "8388608", 1);
    setenv("PARTITA_EMULATED_CAPABILITY", "8.0", 1);
    setenv("PARTITA_EMULATED_PEERS", "0-1", 1);
    const absl::StatusOr<DriverApi> loaded =
        LoadCudaDriver({{std::filesystem::absolute(kFolder)}});
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    api = new DriverApi(*loaded);
  }
  static DriverApi* api;
};
DriverApi* SharedLibrary::api = nullptr;

TEST_F(SharedLibrary, OptionsAreThoseOfTheEnvironment) {
  int count = 0;
  int major = 0;
  int can = 0;
  size_t bytes = 0;
  EXPECT_EQ(api->Init(0), CUDA_SUCCESS);
  EXPECT_EQ(api->DeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(api->DeviceTotalMem(&bytes, 2), CUDA_SUCCESS);
  EXPECT_EQ(bytes, size_t{8388608});
  EXPECT_EQ(api->DeviceGetAttribute(
                &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(major, 8);
  EXPECT_EQ(api->DeviceCanAccessPeer(&can, 1, 0), CUDA_SUCCESS);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(api->DeviceCanAccessPeer(&can, 1, 2), CUDA_SUCCESS);
  EXPECT_EQ(can, 0);
}

// Calls of up to eleven arguments reach the machine as they were made.
TEST_F(SharedLibrary, KernelsRun) {
  driver_rules::Bench bench(*api);
  const CUdeviceptr word = bench.Memory(4);
  bench.Is("launch", bench.Launch(bench.one, "set_word", word, 40u));
  bench.Is("launch", bench.Launch(bench.one, "add_word", word, 2u));
  EXPECT_EQ(bench.Word(word), 42u);
  EXPECT_EQ(bench.faults(), "");
}

TEST_F(SharedLibrary, OnlyTheDriversNamesAreExported) {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_EQ(dlsym(library, "partita_entry_Init"), nullptr);
  auto* get = reinterpret_cast<CUresult (*)(const void**, const CUuuid*)>(
      dlsym(library, "cuGetExportTable"));
  ASSERT_NE(get, nullptr);
  const void* table = &library;
  EXPECT_EQ(get(&table, nullptr), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(table, nullptr);
  dlclose(library);
}

using SharedLibraryDeathTest = SharedLibrary;

TEST_F(SharedLibraryDeathTest, LeaksAreReportedAtTheEnd) {
  const auto leak = [] {
    CUcontext context = nullptr;
    api->Init(0);
    api->DevicePrimaryCtxRetain(&context, 0);
    std::exit(0);
  };
  EXPECT_EXIT(leak(), testing::ExitedWithCode(0),
              "emulated GPU: leak: the primary context of gpu 0 was not given "
              "back");
}

}  // namespace
}  // namespace partita::emulated_gpu
