// Tests what CUDA_VISIBLE_DEVICES shows.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/visible_gpus.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/emulated_gpu/driver/emulated_cuda.h"

namespace partita::emulated_gpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(VisibleGpus, NumbersAreInTheOrderOfTheList) {
  EXPECT_THAT(VisibleGpus("2,0", 3), ElementsAre(2, 0));
  EXPECT_THAT(VisibleGpus(" 1 , 0 ", 3), ElementsAre(1, 0));
  EXPECT_THAT(VisibleGpus("1gpu,2", 3), ElementsAre(1, 2));
}

TEST(VisibleGpus, TheFirstThatNamesNoGpuEndsTheList) {
  EXPECT_THAT(VisibleGpus("0,3,1", 3), ElementsAre(0));
  EXPECT_THAT(VisibleGpus("0,-1,1", 3), ElementsAre(0));
  EXPECT_THAT(VisibleGpus("0,GPU-e0,1", 3), ElementsAre(0));
  EXPECT_THAT(VisibleGpus("", 3), IsEmpty());
  EXPECT_THAT(VisibleGpus("NoDevFiles", 3), IsEmpty());
}

TEST(VisibleGpus, AGpuThatIsNamedTwiceEmptiesIt) {
  EXPECT_THAT(VisibleGpus("0,1,0", 3), IsEmpty());
}

TEST(VisibleGpus, IdentitiesMayBeShortened) {
  const std::string second = UuidText(UuidOfGpu(1));
  EXPECT_EQ(second, "GPU-e0e0e0e0-e0e0-e0e0-e0e0-e0e0e0e0e001");
  EXPECT_THAT(VisibleGpus(second + "," + UuidText(UuidOfGpu(0)), 3),
              ElementsAre(1, 0));
  EXPECT_THAT(VisibleGpus("GPU-e0e0", 1), ElementsAre(0));
  EXPECT_THAT(VisibleGpus("GPU-e0e0", 3), IsEmpty());  // fits all
  EXPECT_THAT(VisibleGpus("GPU-11", 3), IsEmpty());
}

TEST(VisibleGpus, TheDriverCountsThoseThatItShows) {
  auto cuda = EmulatedCuda::New({.gpus = 3, .visible = std::vector<int>{2, 0}});
  ASSERT_TRUE(cuda.ok()) << cuda.status();
  const DriverApi& api = (*cuda)->api();
  int count = 0;
  CUuuid uuid;
  EXPECT_EQ(api.Init(0), CUDA_SUCCESS);
  EXPECT_EQ(api.DeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(api.DeviceGetUuid(&uuid, 0), CUDA_SUCCESS);
  EXPECT_EQ(UuidText(uuid), UuidText(UuidOfGpu(2)));
}

TEST(VisibleGpus, WithoutAnyThereIsNoDevice) {
  auto cuda = EmulatedCuda::New({.gpus = 3, .visible = std::vector<int>()});
  ASSERT_TRUE(cuda.ok()) << cuda.status();
  EXPECT_EQ((*cuda)->api().Init(0), CUDA_ERROR_NO_DEVICE);
}

}  // namespace
}  // namespace partita::emulated_gpu
