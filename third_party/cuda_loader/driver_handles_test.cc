// Handles are given back once, by the owner that has them last.
// SPDX-License-Identifier: Apache-2.0

#include "third_party/cuda_loader/driver_handles.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace partita {
namespace {

std::vector<CUevent>* destroyed = nullptr;
int released = 0;

CUevent Event(uintptr_t number) { return reinterpret_cast<CUevent>(number); }

class DriverHandles : public ::testing::Test {
 protected:
  DriverHandles() {
    destroyed = &destroyed_;
    released = 0;
    api_.EventDestroy = +[](CUevent event) {
      destroyed->push_back(event);
      return CUDA_SUCCESS;
    };
    api_.GetErrorName = +[](CUresult, const char** text) {
      *text = "A_NAME";
      return CUDA_SUCCESS;
    };
    api_.GetErrorString = +[](CUresult, const char** text) {
      *text = "a text";
      return CUDA_SUCCESS;
    };
  }

  DriverApi api_;
  std::vector<CUevent> destroyed_;
};

TEST_F(DriverHandles, AnOwnerGivesItsHandleBack) {
  { const OwnedEvent event(api_, Event(7)); }
  EXPECT_EQ(destroyed_, std::vector<CUevent>{Event(7)});
}

TEST_F(DriverHandles, NothingIsGivenBackForNoHandle) {
  {
    const OwnedEvent none;
    OwnedEvent event(api_, Event(7));
    EXPECT_EQ(event.release(), Event(7));
  }
  EXPECT_TRUE(destroyed_.empty());
}

TEST_F(DriverHandles, AMovedHandleIsGivenBackOnce) {
  {
    OwnedEvent first(api_, Event(7));
    OwnedEvent second(std::move(first));
    OwnedEvent third(api_, Event(8));
    third = std::move(second);
    EXPECT_EQ(third.get(), Event(7));
  }
  EXPECT_EQ(destroyed_, (std::vector<CUevent>{Event(7), Event(8)}));
}

TEST_F(DriverHandles, AFailedCallOwnsNothing) {
  api_.EventCreate =
      +[](CUevent*, unsigned) { return CUDA_ERROR_OUT_OF_MEMORY; };
  const absl::Status status = NewEvent(api_, 0).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "cuEventCreate: A_NAME (2), a text");
  EXPECT_TRUE(destroyed_.empty());
}

TEST_F(DriverHandles, APrimaryContextIsReleasedThoughItCannotBeCurrent) {
  api_.DevicePrimaryCtxRetain =
      +[](CUcontext*, CUdevice) { return CUDA_SUCCESS; };
  api_.CtxSetCurrent = +[](CUcontext) { return CUDA_ERROR_INVALID_CONTEXT; };
  api_.DevicePrimaryCtxRelease = +[](CUdevice) {
    ++released;
    return CUDA_SUCCESS;
  };
  EXPECT_FALSE(PrimaryContext::Retain(api_, 0).ok());
  EXPECT_EQ(released, 1);
}

TEST_F(DriverHandles, TheCompilersLogIsInTheError) {
  api_.LibraryLoadData =
      +[](CUlibrary*, const void*, CUjit_option*, void** values, unsigned,
          CUlibraryOption*, void**, unsigned) {
        std::strcpy(static_cast<char*>(values[0]), "line 3: no such thing");
        return CUDA_ERROR_INVALID_PTX;
      };
  const absl::Status status = LoadLibrary(api_, "").status();
  EXPECT_EQ(status.message(),
            "cuLibraryLoadData: A_NAME (218), a text; line 3: no such thing");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(DriverHandles, AFaultThatOnlyTheLogNamesIsAnError) {
  api_.LibraryUnload = +[](CUlibrary) {
    ++released;
    return CUDA_SUCCESS;
  };
  api_.LibraryLoadData =
      +[](CUlibrary* library, const void*, CUjit_option*, void** values,
          unsigned, CUlibraryOption*, void**, unsigned) {
        *library = reinterpret_cast<CUlibrary>(uintptr_t{9});
        std::strcpy(static_cast<char*>(values[0]), "line 3: no such thing");
        return CUDA_SUCCESS;
      };
  const absl::Status status = LoadLibrary(api_, "").status();
  EXPECT_EQ(status.message(), "cuLibraryLoadData; line 3: no such thing");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace partita
