// What crosses the border: exceptions, messages, and structs of other versions.
// SPDX-License-Identifier: Apache-2.0

#include "partita/c_api/border.h"

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "gtest/gtest.h"
#include "partita/c_api/versioned_struct.h"

namespace partita::c_api {
namespace {

// The code of a call whose body throws, and its message.
template <typename Exception>
std::string Thrown(const Exception& exception) {
  partita_status status;
  const partita_code code =
      AtBorder(&status, [&]() -> absl::Status { throw exception; });
  EXPECT_EQ(code, status.code);
  return std::to_string(code) + " " + status.message;
}

TEST(BorderTest, ExceptionsBecomeErrors) {
  EXPECT_EQ(Thrown(std::bad_alloc()),
            "8 found no memory left in this process; expected room for the "
            "plan, its weights and the arenas; free memory, or raise the "
            "process's limit");
  EXPECT_EQ(Thrown(std::runtime_error("oops")),
            "13 bug: found an exception: oops");
  EXPECT_EQ(Thrown(7), "13 bug: found an exception of an unknown type");
  const auto busy =
      std::make_error_code(std::errc::resource_unavailable_try_again);
  EXPECT_EQ(Thrown(std::system_error(busy)),
            "8 found no room to start another thread (Resource temporarily "
            "unavailable); expected room for one a stream and one a worker; "
            "raise the limit of processes (ulimit -u) or of memory (ulimit "
            "-v)");
  const auto other = std::make_error_code(std::errc::io_error);
  EXPECT_EQ(Thrown(std::system_error(other)).substr(0, 36),
            "13 bug: found a system error: Input/");
}

TEST(BorderTest, AnExceptionNeedsNoStatus) {
  EXPECT_EQ(AtBorder(nullptr, []() -> absl::Status { throw 1; }),
            PARTITA_INTERNAL);
  EXPECT_EQ(AtBorder(nullptr, [] { return absl::OkStatus(); }), PARTITA_OK);
}

TEST(BorderTest, ASuccessClearsTheMessage) {
  partita_status status;
  AtBorder(&status, [] { return absl::NotFoundError("nothing"); });
  EXPECT_EQ(partita_status_code(&status), PARTITA_NOT_FOUND);
  EXPECT_STREQ(partita_status_message(&status), "nothing");
  AtBorder(&status, [] { return absl::OkStatus(); });
  EXPECT_EQ(partita_status_code(&status), PARTITA_OK);
  EXPECT_STREQ(partita_status_message(&status), "");
}

TEST(BorderTest, MessagesAreUtf8) {
  partita_status status;
  AtBorder(&status, [] { return absl::NotFoundError("name \xff"); });
  EXPECT_STREQ(status.message, "name \xef\xbf\xbd");
}

TEST(BorderTest, ACallWithAnotherHandleForItsStatusDoesNothing) {
  alignas(partita_status) char zeros[sizeof(partita_status)] = {};
  bool ran = false;
  EXPECT_EQ(AtBorder(reinterpret_cast<partita_status*>(zeros),
                     [&] {
                       ran = true;
                       return absl::OkStatus();
                     }),
            PARTITA_INVALID_HANDLE);
  EXPECT_FALSE(ran);
}

TEST(BorderTest, CodesOfAbslHaveTheSameNumbers) {
  for (int code = 0; code <= 15; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "x");
    EXPECT_EQ(AtBorder(nullptr, [&] { return status; }), code);
    EXPECT_EQ(partita_code_name(code),
              absl::StatusCodeToString(static_cast<absl::StatusCode>(code)));
  }
  EXPECT_STREQ(partita_code_name(PARTITA_INVALID_HANDLE), "INVALID_HANDLE");
  EXPECT_STREQ(partita_code_name(4711), "UNKNOWN");
}

// The binary interface of version 1, on a 64-bit machine.
TEST(VersionedStructTest, StructsHaveTheirSizes) {
  EXPECT_EQ(sizeof(partita_tensor), 160u);
  EXPECT_EQ(kFirstSize<partita_tensor>, 160u);
  EXPECT_EQ(sizeof(partita_session_options), 24u);
  EXPECT_EQ(kFirstSize<partita_session_options>, 24u);
  EXPECT_EQ(sizeof(partita_run_options), 32u);
  EXPECT_EQ(kFirstSize<partita_run_options>, 32u);
  EXPECT_EQ(sizeof(partita_memory), 120u);
  EXPECT_EQ(kFirstSize<partita_memory>, 120u);
}

// What a program has that is compiled with a later header.
struct NewerOptions {
  partita_run_options options = {};
  int64_t later = 0;
};

TEST(VersionedStructTest, AFieldOfANewerHeaderMustBeZero) {
  NewerOptions newer;
  newer.options.struct_size = sizeof(newer);
  newer.options.timeout_ms = 5;
  auto read = ReadStruct(&newer.options, "partita_run_options");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->timeout_ms, 5);
  newer.later = 1;
  EXPECT_EQ(
      ReadStruct(&newer.options, "partita_run_options").status().message(),
      "partita_run_options: found a field that is newer than this "
      "library, version 1; expected zero in it; use a newer library, or "
      "leave the field zero");
}

struct NewerMemory {
  partita_memory memory = {};
  int64_t later = 7;
};

TEST(VersionedStructTest, AFieldThatTheLibraryDoesNotKnowIsFilledWithZero) {
  NewerMemory newer;
  newer.memory.struct_size = sizeof(newer);
  partita_memory known = partita_memory_empty();
  known.device_outside = 9;
  ASSERT_TRUE(WriteStruct(known, "partita_memory", &newer.memory).ok());
  EXPECT_EQ(newer.memory.device_outside, 9);
  EXPECT_EQ(newer.later, 0);
  EXPECT_EQ(newer.memory.struct_size, sizeof(newer));
}

// A later library, and a program that is compiled with this header.
TEST(VersionedStructTest, AnOlderStructIsNotWrittenBeyondItsEnd) {
  partita_memory older[2] = {partita_memory_empty(), partita_memory_empty()};
  older[1].arena = 3;
  NewerMemory newer;
  const StructSizes sizes = {kFirstSize<partita_memory>, sizeof(newer), "m"};
  newer.memory.arena = 8;
  ASSERT_TRUE(WriteVersioned(&newer, sizes, &older[0]).ok());
  EXPECT_EQ(older[0].arena, 8);
  EXPECT_EQ(older[1].arena, 3);
  EXPECT_EQ(older[1].struct_size, sizeof(partita_memory));
}

TEST(VersionedStructTest, ASizeThatNoHeaderHasIsRefused) {
  partita_run_options options = {};
  EXPECT_EQ(ReadStruct(&options, "partita_run_options").status().message(),
            "partita_run_options: found a struct_size of 0; expected 32..1024; "
            "set it to sizeof(partita_run_options)");
  options.struct_size = 1025;
  EXPECT_EQ(ReadStruct(&options, "partita_run_options").status().message(),
            "partita_run_options: found a struct_size of 1025; expected "
            "32..1024; set it to sizeof(partita_run_options)");
  EXPECT_EQ(ReadStruct<partita_run_options>(nullptr, "partita_run_options")
                .status()
                .message(),
            "partita_run_options: found NULL; expected a pointer to a "
            "partita_run_options");
}

TEST(VersionedStructTest, FlagsAreZeroOrOne) {
  EXPECT_EQ(ReadFlag(0, "trace").value(), false);
  EXPECT_EQ(ReadFlag(1, "trace").value(), true);
  EXPECT_EQ(ReadFlag(2, "trace").status().message(),
            "trace: found 2; expected 0 or 1");
}

}  // namespace
}  // namespace partita::c_api
