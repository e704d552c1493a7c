// The table is filled from a library in a folder, or a sentence says why not.
// SPDX-License-Identifier: Apache-2.0

#include "third_party/cuda_loader/driver_api.h"

#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string FolderOf(const std::string& driver) {
  return std::filesystem::absolute("third_party/cuda_loader/testing/" + driver);
}

absl::StatusOr<DriverApi> Load(const std::string& driver) {
  return LoadCudaDriver({{FolderOf(driver)}});
}

TEST(DriverApi, EveryCallOfTheTableIsFilled) {
  const absl::StatusOr<DriverApi> api = Load("accepting");
  ASSERT_TRUE(api.ok()) << api.status();
#define PARTITA_DRIVER_CALL(member, function) \
  EXPECT_NE(api->member, nullptr) << #function;
#include "third_party/cuda_loader/driver_calls.inc"
#undef PARTITA_DRIVER_CALL
  int version = 0;
  EXPECT_EQ(api->DriverGetVersion(&version), CUDA_SUCCESS);
  EXPECT_EQ(version, 13000);
}

// Found by the name before cuda.h's macro, it would be another function.
TEST(DriverApi, FunctionsHaveTheTypesOfTheHeader) {
  const absl::StatusOr<DriverApi> api = Load("accepting");
  ASSERT_TRUE(api.ok()) << api.status();
  EXPECT_EQ(api->GraphInstantiate(nullptr, nullptr, 0), CUDA_SUCCESS);
}

TEST(DriverApi, TheFirstFolderWithALibraryIsTaken) {
  const absl::StatusOr<DriverApi> api = LoadCudaDriver(
      {{"/no/such/folder", FolderOf("accepting"), FolderOf("old")}});
  EXPECT_TRUE(api.ok()) << api.status();
}

// Whether the host has a driver decides what follows the folders.
TEST(DriverApi, ADriverThatIsMissingIsOneSentence) {
  const absl::Status status =
      LoadCudaDriver({{"/no/such/folder", "relative"}}).status();
  if (status.ok()) GTEST_SKIP() << "found a driver on this host";
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              AllOf(StartsWith("found no CUDA driver: tried "
                               "/no/such/folder/libcuda.so.1 (no such file), "
                               "relative/libcuda.so.1 (a relative folder) and "
                               "libcuda.so.1 by the system's loader ("),
                    EndsWith("; install NVIDIA's driver, or name its folder "
                             "with --cuda-libs")));
}

TEST(DriverApi, AnOldDriverIsRefused) {
  const absl::Status status = Load("old").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "libcuda.so.1: found a driver for CUDA 11.8; expected 12.8 or "
            "later; update NVIDIA's driver");
}

TEST(DriverApi, AMissingFunctionIsNamed) {
  const absl::Status status = Load("incomplete").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(),
            "libcuda.so.1: found no cuGraphUpload; expected a driver for CUDA "
            "12.8 or later");
}

TEST(DriverApi, CodesBecomeStatuses) {
  const absl::StatusOr<DriverApi> api = Load("accepting");
  ASSERT_TRUE(api.ok()) << api.status();
  EXPECT_TRUE(CudaStatus(*api, CUDA_SUCCESS, "cuMemAlloc").ok());
  const absl::Status memory =
      CudaStatus(*api, CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc");
  EXPECT_EQ(memory.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(memory.message(),
            "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2), out of memory");
  EXPECT_EQ(CudaStatus(*api, CUDA_ERROR_ILLEGAL_ADDRESS, "").code(),
            absl::StatusCode::kUnavailable);
}

// Others leave open whether the next load of the same bytes fails.
TEST(DriverApi, ErrorsOfLoadedCodeHaveACodeOfTheirOwn) {
  const absl::StatusOr<DriverApi> api = Load("accepting");
  ASSERT_TRUE(api.ok()) << api.status();
  for (const CUresult of_code :
       {CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU,
        CUDA_ERROR_INVALID_PTX, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, CUDA_ERROR_INVALID_SOURCE}) {
    EXPECT_EQ(CudaStatus(*api, of_code, "").code(),
              absl::StatusCode::kInvalidArgument)
        << of_code;
  }
  for (const CUresult other :
       {CUDA_ERROR_UNKNOWN, CUDA_ERROR_OUT_OF_MEMORY,
        CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_ILLEGAL_ADDRESS,
        CUDA_ERROR_JIT_COMPILER_NOT_FOUND, CUDA_ERROR_JIT_COMPILATION_DISABLED,
        CUDA_ERROR_OPERATING_SYSTEM}) {
    EXPECT_NE(CudaStatus(*api, other, "").code(),
              absl::StatusCode::kInvalidArgument)
        << other;
  }
}

TEST(DriverApi, ACodeWithoutANameIsANumber) {
  const absl::StatusOr<DriverApi> api = Load("accepting");
  ASSERT_TRUE(api.ok()) << api.status();
  const CUresult unknown = static_cast<CUresult>(12345);
  EXPECT_EQ(CudaCodeName(*api, unknown), "12345");
  const absl::Status status = CudaStatus(*api, unknown, "cuInit");
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the driver has no text for it"));
}

}  // namespace
}  // namespace partita
