// Inputs, outputs and variables through the C API.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "partita/c_api.h"
#include "partita/c_api/tensor_type.h"
#include "partita/c_api/testing/owned_handles.h"
#include "partita/c_api/testing/sample_plans.h"

namespace partita::c_api {
namespace {

// "CODE: message" of a value for an input that must be refused, set and bound.
std::string InputRefusal(partita_session* session,
                         const partita_tensor* value) {
  const Caught caught;
  const partita_code code =
      partita_session_set_input(session, 0, value, caught.get());
  const std::string refusal =
      absl::StrCat(partita_code_name(code), ": ", caught.message());
  EXPECT_EQ(partita_session_bind_input(session, 0, value, caught.get()), code);
  EXPECT_EQ(absl::StrCat(partita_code_name(code), ": ", caught.message()),
            refusal);
  return refusal;
}

void RunStep(partita_session* session) {
  const Caught caught;
  EXPECT_EQ(partita_session_run(session, nullptr, caught.get()), PARTITA_OK)
      << caught.message();
}

TEST(CApiPortsTest, PortsHaveNamesAndTypes) {
  const Owned<partita_session> session = SessionFromText(kTwoDevices);
  size_t count = 0;
  ASSERT_EQ(partita_session_num_inputs(session.get(), &count, nullptr),
            PARTITA_OK);
  EXPECT_EQ(count, 1u);
  ASSERT_EQ(partita_session_num_outputs(session.get(), &count, nullptr),
            PARTITA_OK);
  EXPECT_EQ(count, 1u);
  const char* name = nullptr;
  ASSERT_EQ(partita_session_input_name(session.get(), 0, &name, nullptr),
            PARTITA_OK);
  EXPECT_STREQ(name, "x");
  ASSERT_EQ(partita_session_output_name(session.get(), 0, &name, nullptr),
            PARTITA_OK);
  EXPECT_STREQ(name, "y");
  partita_tensor type = partita_tensor_empty();
  ASSERT_EQ(partita_session_input_type(session.get(), 0, &type, nullptr),
            PARTITA_OK);
  EXPECT_STREQ(partita_dtype_name(type.dtype), "f32");
  ASSERT_EQ(type.rank, 2);
  EXPECT_EQ(type.dims[0], 2);
  EXPECT_EQ(type.dims[1], 3);
  EXPECT_EQ(type.dims[2], 0);
  EXPECT_EQ(type.bytes, 24u);
  EXPECT_EQ(type.data, nullptr);
  ASSERT_EQ(partita_session_output_type(session.get(), 0, &type, nullptr),
            PARTITA_OK);
  EXPECT_EQ(type.bytes, 16u);
}

TEST(CApiPortsTest, PortsAreFoundByName) {
  const Owned<partita_session> session = SessionFromText(kTwoDevices);
  const Caught caught;
  size_t index = 9;
  ASSERT_EQ(
      partita_session_find_input(session.get(), "x", &index, caught.get()),
      PARTITA_OK);
  EXPECT_EQ(index, 0u);
  EXPECT_EQ(
      partita_session_find_input(session.get(), "z", &index, caught.get()),
      PARTITA_NOT_FOUND);
  EXPECT_EQ(caught.message(),
            "input z: found no such input; expected one of x");
  EXPECT_EQ(
      partita_session_find_output(session.get(), "x", &index, caught.get()),
      PARTITA_NOT_FOUND);
  EXPECT_EQ(caught.message(),
            "output x: found no such output; expected one of y");
  EXPECT_EQ(
      partita_session_find_output(session.get(), nullptr, &index, caught.get()),
      PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(caught.message(), "name: found NULL; expected that of an output");
}

TEST(CApiPortsTest, AnIndexOutOfRangeIsRefused) {
  const Owned<partita_session> session = SessionFromText(kTwoDevices);
  const Caught caught;
  const char* name = nullptr;
  partita_tensor type = partita_tensor_empty();
  EXPECT_EQ(partita_session_input_name(session.get(), 7, &name, caught.get()),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(caught.message(),
            "session: found input 7; expected an index below 1");
  EXPECT_EQ(partita_session_output_type(session.get(), 1, &type, caught.get()),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(caught.message(),
            "session: found output 1; expected an index below 1");
  EXPECT_EQ(
      partita_session_set_input(session.get(), ~size_t{0}, &type, nullptr),
      PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(partita_session_bind_output(session.get(), 1, &type, nullptr),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(partita_session_get_output(session.get(), 1, &type, nullptr),
            PARTITA_INVALID_ARGUMENT);
}

TEST(CApiPortsTest, AnotherShapeIsRefused) {
  const Owned<partita_session> session = SessionFromText(kTwoDevices);
  std::vector<float> x(6);
  partita_tensor value = FloatsOf({3}, x);
  EXPECT_EQ(InputRefusal(session.get(), &value),
            "INVALID_ARGUMENT: input x: found f32[3]; expected f32[2, 3]");
  value = FloatsOf({3, 2}, x);
  EXPECT_EQ(InputRefusal(session.get(), &value),
            "INVALID_ARGUMENT: input x: found f32[3, 2]; expected f32[2, 3]");
  value = FloatsOf({2, -3}, x);
  EXPECT_EQ(InputRefusal(session.get(), &value),
            "INVALID_ARGUMENT: input x: found f32[2, -3]; expected f32[2, 3]");
  value = FloatsOf({2, 3}, x);
  value.rank = -1;
  EXPECT_EQ(InputRefusal(session.get(), &value),
            "INVALID_ARGUMENT: input x: found rank -1; expected 0..16");
  value.rank = 1 << 30;
  EXPECT_EQ(InputRefusal(session.get(), &value),
            "INVALID_ARGUMENT: input x: found rank 1073741824; expected 0..16");
}

TEST(CApiPortsTest, AnotherDTypeIsRefused) {
  const Owned<partita_session> session = SessionFromText(kTwoDevices);
  std::vector<float> x(6);
  partita_tensor value = FloatsOf({2, 3}, x);
  value.dtype = PARTITA_I32;
  EXPECT_EQ(InputRefusal(session.get(), &value),
            "INVALID_ARGUMENT: input x: found i32[2, 3]; expected f32[2, 3]");
  value.dtype = 0;
  EXPECT_EQ(InputRefusal(session.get(), &value),
            "INVALID_ARGUMENT: input x: found dtype 0; expected a "
            "partita_dtype, as PARTITA_F32");
}

TEST(CApiPortsTest, NullAndTooFewBytesAreRefused) {
  const Owned<partita_session> session = SessionFromText(kTwoDevices);
  std::vector<float> x(6);
  partita_tensor value = FloatsOf({2, 3}, x);
  value.bytes = 23;
  EXPECT_EQ(InputRefusal(session.get(), &value),
            "INVALID_ARGUMENT: input x: found data of 23 bytes; expected at "
            "least 24");
  value.bytes = 24;
  value.data = nullptr;
  EXPECT_EQ(InputRefusal(session.get(), &value),
            "INVALID_ARGUMENT: input x, data: found NULL; expected a pointer "
            "to 24 bytes");
  EXPECT_EQ(InputRefusal(session.get(), nullptr),
            "INVALID_ARGUMENT: partita_tensor: found NULL; expected a pointer "
            "to a partita_tensor");
  value.struct_size = 0;
  EXPECT_EQ(InputRefusal(session.get(), &value),
            "INVALID_ARGUMENT: partita_tensor: found a struct_size of 0; "
            "expected 160..1024; set it to sizeof(partita_tensor)");
}

TEST(CApiPortsTest, AnInputThatIsNotSetIsNamed) {
  const Owned<partita_session> session = SessionFromText(kTwoDevices);
  const Caught caught;
  EXPECT_EQ(partita_session_run(session.get(), nullptr, caught.get()),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_EQ(caught.message(),
            "input x: found no value; expected one; call "
            "partita_session_set_input or partita_session_bind_input before");
}

TEST(CApiPortsTest, AnInputThatIsSetIsACopy) {
  const Owned<partita_session> session = SessionFromText(kCounter);
  std::vector<float> x = {1, 2};
  const partita_tensor value = FloatsOf({2}, x);
  ASSERT_EQ(partita_session_set_input(session.get(), 0, &value, nullptr),
            PARTITA_OK);
  x = {100, 100};
  RunStep(session.get());
  EXPECT_EQ(OutputFloats(session.get()), (std::vector<float>{11, 22}));
}

TEST(CApiPortsTest, BoundMemoryIsReadAndWrittenByEveryStep) {
  const Owned<partita_session> session = SessionFromText(kCounter);
  std::vector<float> x = {1, 2};
  std::vector<float> n(2);
  const partita_tensor input = FloatsOf({2}, x);
  const partita_tensor output = FloatsOf({2}, n);
  ASSERT_EQ(partita_session_bind_input(session.get(), 0, &input, nullptr),
            PARTITA_OK);
  ASSERT_EQ(partita_session_bind_output(session.get(), 0, &output, nullptr),
            PARTITA_OK);
  RunStep(session.get());
  EXPECT_EQ(n, (std::vector<float>{11, 22}));
  x = {100, 100};
  RunStep(session.get());
  EXPECT_EQ(n, (std::vector<float>{111, 122}));
}

TEST(CApiPortsTest, BoundMemoryNeedsNoAlignment) {
  const Owned<partita_session> session = SessionFromText(kCounter);
  const std::vector<float> x = {1, 2};
  char in[9];
  char out[9];
  std::memcpy(in + 1, x.data(), 8);
  const partita_tensor input = TensorOver(PARTITA_F32, {2}, in + 1, 8);
  const partita_tensor output = TensorOver(PARTITA_F32, {2}, out + 1, 8);
  ASSERT_EQ(partita_session_bind_input(session.get(), 0, &input, nullptr),
            PARTITA_OK);
  ASSERT_EQ(partita_session_bind_output(session.get(), 0, &output, nullptr),
            PARTITA_OK);
  RunStep(session.get());
  std::vector<float> n(2);
  std::memcpy(n.data(), out + 1, 8);
  EXPECT_EQ(n, (std::vector<float>{11, 22}));
}

TEST(CApiPortsTest, AnOutputMayBeBoundAgainButNotRead) {
  const Owned<partita_session> session = SessionFromText(kCounter);
  std::vector<float> x = {1, 2};
  std::vector<float> first(2);
  std::vector<float> second(2);
  const partita_tensor input = FloatsOf({2}, x);
  partita_tensor output = FloatsOf({2}, first);
  ASSERT_EQ(partita_session_set_input(session.get(), 0, &input, nullptr),
            PARTITA_OK);
  ASSERT_EQ(partita_session_bind_output(session.get(), 0, &output, nullptr),
            PARTITA_OK);
  RunStep(session.get());
  output = FloatsOf({2}, second);
  ASSERT_EQ(partita_session_bind_output(session.get(), 0, &output, nullptr),
            PARTITA_OK);
  RunStep(session.get());
  EXPECT_EQ(first, (std::vector<float>{11, 22}));
  EXPECT_EQ(second, (std::vector<float>{12, 24}));
  const Caught caught;
  EXPECT_EQ(partita_session_get_output(session.get(), 0, &output, caught.get()),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_EQ(caught.message(),
            "output n: found a binding to memory of the caller; expected none; "
            "read the output there");
}

TEST(CApiPortsTest, AnInputMayBeSetAfterABinding) {
  const Owned<partita_session> session = SessionFromText(kCounter);
  std::vector<float> bound = {1, 1};
  std::vector<float> set = {2, 2};
  partita_tensor value = FloatsOf({2}, bound);
  ASSERT_EQ(partita_session_bind_input(session.get(), 0, &value, nullptr),
            PARTITA_OK);
  RunStep(session.get());
  value = FloatsOf({2}, set);
  ASSERT_EQ(partita_session_set_input(session.get(), 0, &value, nullptr),
            PARTITA_OK);
  bound = {50, 50};
  RunStep(session.get());
  EXPECT_EQ(OutputFloats(session.get()), (std::vector<float>{13, 23}));
}

TEST(CApiPortsTest, AnOutputIsZeroBeforeTheFirstStep) {
  const Owned<partita_session> session = SessionFromText(kCounter);
  EXPECT_EQ(OutputFloats(session.get()), (std::vector<float>{0, 0}));
}

TEST(CApiPortsTest, BoolsThatAreSetBecomeZeroOrOneAndNoBytesNeedNoData) {
  const Owned<partita_session> session = SessionFromText(kBools);
  uint8_t b[3] = {0, 2, 255};
  const partita_tensor none = TensorOver(PARTITA_BOOL, {0}, nullptr, 0);
  const partita_tensor value = TensorOver(PARTITA_BOOL, {3}, b, 3);
  ASSERT_EQ(partita_session_bind_input(session.get(), 0, &none, nullptr),
            PARTITA_OK);
  ASSERT_EQ(partita_session_set_input(session.get(), 1, &value, nullptr),
            PARTITA_OK);
  RunStep(session.get());
  partita_tensor out = partita_tensor_empty();
  ASSERT_EQ(partita_session_get_output(session.get(), 0, &out, nullptr),
            PARTITA_OK);
  const auto* const bytes = static_cast<const uint8_t*>(out.data);
  EXPECT_EQ(std::vector<uint8_t>(bytes, bytes + out.bytes),
            (std::vector<uint8_t>{0, 1, 1}));
}

TEST(CApiPortsTest, EveryElementTypeIsTheSameInBothDirections) {
  for (int32_t dtype = PARTITA_F64; dtype <= PARTITA_BOOL; ++dtype) {
    const auto parsed = ParseDType(partita_dtype_name(dtype));
    ASSERT_TRUE(parsed.has_value()) << dtype;
    const TensorType type = {*parsed, {2}, {}};
    partita_tensor tensor = partita_tensor_empty();
    ASSERT_TRUE(FillTensor(type, nullptr, &tensor).ok());
    EXPECT_EQ(tensor.dtype, dtype);
    char bytes[16];
    tensor.data = bytes;
    EXPECT_EQ(DataOfType(&tensor, type, "x").value(), bytes);
  }
  EXPECT_STREQ(partita_dtype_name(0), "");
}

TEST(CApiVariablesTest, VariablesAreListedReadWrittenAndRestored) {
  const Owned<partita_session> session = SessionFromText(kCounter);
  size_t count = 0;
  ASSERT_EQ(partita_session_num_variables(session.get(), &count, nullptr),
            PARTITA_OK);
  ASSERT_EQ(count, 1u);
  const char* name = nullptr;
  ASSERT_EQ(partita_session_variable_name(session.get(), 0, &name, nullptr),
            PARTITA_OK);
  EXPECT_STREQ(name, "v");
  partita_tensor value = partita_tensor_empty();
  ASSERT_EQ(partita_session_variable_type(session.get(), 0, &value, nullptr),
            PARTITA_OK);
  EXPECT_EQ(value.bytes, 8u);
  std::vector<float> v(2);
  value.data = v.data();
  ASSERT_EQ(partita_session_read_variable(session.get(), 0, &value, nullptr),
            PARTITA_OK);
  EXPECT_EQ(v, (std::vector<float>{10, 20}));
  v = {3, 4};
  ASSERT_EQ(partita_session_write_variable(session.get(), 0, &value, nullptr),
            PARTITA_OK);
  std::vector<float> x = {1, 1};
  const partita_tensor input = FloatsOf({2}, x);
  ASSERT_EQ(partita_session_set_input(session.get(), 0, &input, nullptr),
            PARTITA_OK);
  RunStep(session.get());
  EXPECT_EQ(OutputFloats(session.get()), (std::vector<float>{4, 5}));
  ASSERT_EQ(partita_session_restore(session.get(), nullptr), PARTITA_OK);
  ASSERT_EQ(partita_session_read_variable(session.get(), 0, &value, nullptr),
            PARTITA_OK);
  EXPECT_EQ(v, (std::vector<float>{10, 20}));
}

TEST(CApiVariablesTest, WrongVariablesAreRefused) {
  const Owned<partita_session> session = SessionFromText(kCounter);
  const Caught caught;
  std::vector<float> v(3);
  const partita_tensor value = FloatsOf({3}, v);
  EXPECT_EQ(
      partita_session_read_variable(session.get(), 1, &value, caught.get()),
      PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(caught.message(),
            "session: found variable 1; expected an index below 1");
  EXPECT_EQ(
      partita_session_write_variable(session.get(), 0, &value, caught.get()),
      PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(caught.message(), "variable @v: found f32[3]; expected f32[2]");
}

}  // namespace
}  // namespace partita::c_api
