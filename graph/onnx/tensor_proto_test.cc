// Messages for tensors in .pb files that cannot be read.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/tensor_proto.h"

#include <string>

#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

std::string ErrorOf(const onnx::TensorProto& proto) {
  return ParseTensorFile(proto.SerializeAsString(), "x.pb").status().ToString();
}

TEST(TensorFile, AnUnsupportedElementTypeIsReportedByNumberAndName) {
  onnx::TensorProto proto;
  proto.set_name("words");
  proto.set_data_type(onnx::TensorProto::STRING);
  EXPECT_EQ(ErrorOf(proto),
            "UNIMPLEMENTED: x.pb: tensor words: found element type 8 (STRING); "
            "expected numbers or bools, as 1 (FLOAT), 7 (INT64) or 9 (BOOL); "
            "save the tensor as one of these");
}

TEST(TensorFile, ANumberThatOnnxDoesNotKnowHasNoName) {
  for (const int type : {-1, 99, 1 << 30}) {
    onnx::TensorProto proto;
    proto.set_data_type(type);
    EXPECT_EQ(ErrorOf(proto),
              "UNIMPLEMENTED: x.pb: tensor (unnamed): found element type " +
                  std::to_string(type) +
                  "; expected numbers or bools, as 1 (FLOAT), 7 (INT64) or 9 "
                  "(BOOL); save the tensor as one of these");
  }
}

TEST(TensorFile, BytesThatAreNoTensorAreRefused) {
  EXPECT_EQ(ParseTensorFile("\xff\xff", "x.pb").status().ToString(),
            "INVALID_ARGUMENT: x.pb: found bytes that are not a serialised "
            "tensor; expected one TensorProto, as in the ONNX test data");
}

TEST(TensorFile, AnEmptyFileIsATensorOfNoType) {
  EXPECT_EQ(
      ErrorOf({}),
      "UNIMPLEMENTED: x.pb: tensor (unnamed): found element type 0 "
      "(UNDEFINED); expected numbers or bools, as 1 (FLOAT), 7 (INT64) or "
      "9 (BOOL); save the tensor as one of these");
}

}  // namespace
}  // namespace partita
