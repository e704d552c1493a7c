// Files are recognized by what they begin with.
// SPDX-License-Identifier: Apache-2.0

#include "partita/options/recognize_file.h"

#include <cstdio>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

// With zeros, which a literal would end at.
template <size_t n>
absl::string_view Bytes(const char (&text)[n]) {
  return absl::string_view(text, n - 1);
}

FileKind KindOfFileNamed(const std::string& name, absl::string_view bytes) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::ofstream(path, std::ios::binary) << bytes;
  const FileKind kind = KindOfFile(path);
  std::remove(path.c_str());
  return kind;
}

TEST(RecognizeFile, BinaryFormatsByTheirSignatures) {
  EXPECT_EQ(KindOfBytes("PARTITA\n"), FileKind::kPlan);
  EXPECT_EQ(KindOfBytes("\x93NUMPY\x01"), FileKind::kNpy);
  EXPECT_EQ(KindOfBytes(Bytes("PK\3\4\x14\0\0\0arr_0.npy")), FileKind::kNpz);
  EXPECT_EQ(KindOfBytes(Bytes("PK\3\4\0\0net/data.pkl")), FileKind::kPyTorch);
  EXPECT_EQ(KindOfBytes("\x80\2}q"), FileKind::kPyTorch);
  EXPECT_EQ(KindOfBytes("\x1f\x8b\x08"), FileKind::kGzip);
  EXPECT_EQ(KindOfBytes(Bytes("\0\0\x08\x03\0\0\0\4")), FileKind::kIdx);
  EXPECT_EQ(KindOfBytes(Bytes("\x80\2\0\0\0\0\0\0{\"w\":")),
            FileKind::kSafetensors);
  EXPECT_EQ(KindOfBytes(Bytes("\x1f\x8b\0\0\0\0\0\0{\"w\":")),
            FileKind::kSafetensors);
}

TEST(RecognizeFile, OnnxModelsAndTensorsDifferAfterTheirFirstField) {
  EXPECT_EQ(KindOfBytes(Bytes("\x08\x08\x3a\0")), FileKind::kOnnxModel);
  EXPECT_EQ(KindOfBytes("\x08\x07\x12\x07pytorch"), FileKind::kOnnxModel);
  EXPECT_EQ(KindOfBytes("\x08\x02\x10\x01"), FileKind::kOnnxTensor);
  EXPECT_EQ(KindOfBytes("\x08\x01\x08\x80\x02\x10\x07"), FileKind::kOnnxTensor);
  EXPECT_EQ(KindOfBytes("\x0a\x02\x04\x05\x10\x01"), FileKind::kOnnxTensor);
  EXPECT_EQ(KindOfBytes("\x10\x01"), FileKind::kOnnxTensor);  // a scalar
  EXPECT_EQ(KindOfBytes("\x08\xff\xff"), FileKind::kUnknown);
  EXPECT_EQ(KindOfBytes("\x0a\x7f\x01"), FileKind::kUnknown);
}

TEST(RecognizeFile, TextsByTheirFirstWord) {
  EXPECT_EQ(KindOfBytes("graph @f() -> f32[] {"), FileKind::kGraphText);
  EXPECT_EQ(KindOfBytes("\n// a graph\n\n  variable @w : f32[4]"),
            FileKind::kGraphText);
  EXPECT_EQ(KindOfBytes("graph @f() {\n}\nplan @f {"), FileKind::kPlanText);
  EXPECT_EQ(KindOfBytes("graph @f() {\n  // plan @f\n}"), FileKind::kGraphText);
  EXPECT_EQ(KindOfBytes("\xef\xbb\xbf// a graph\ngraph @f"),
            FileKind::kGraphText);
  EXPECT_EQ(KindOfBytes("graphs of functions"), FileKind::kText);
  EXPECT_EQ(KindOfBytes("// only a comment"), FileKind::kText);
  EXPECT_EQ(KindOfBytes("version https://git-lfs.github.com/spec/v1"),
            FileKind::kLfsPointer);
  EXPECT_EQ(KindOfBytes("graph\x01"), FileKind::kUnknown);
  EXPECT_EQ(KindOfBytes(""), FileKind::kUnknown);
}

TEST(RecognizeFile, JsonByItsKeys) {
  EXPECT_EQ(KindOfBytes("{\n  \"name\": \"m\",\n  \"devices\": ["),
            FileKind::kMachine);
  EXPECT_EQ(KindOfBytes("{\"format\": 1, \"checksum\": \"\", \"devices\": []"),
            FileKind::kProfile);
  EXPECT_EQ(KindOfBytes(" {\"traceEvents\": ["), FileKind::kTrace);
  EXPECT_EQ(KindOfBytes("\xef\xbb\xbf{\"devices\": 1}"), FileKind::kMachine);
  EXPECT_EQ(KindOfBytes("{}"), FileKind::kJson);
}

TEST(RecognizeFile, ANameCountsOnlyForDamagedFiles) {
  EXPECT_EQ(KindOfFileNamed("a.plan", "graph @f"), FileKind::kGraphText);
  EXPECT_EQ(KindOfFileNamed("a.graph", "PARTITA\n"), FileKind::kPlan);
  EXPECT_EQ(KindOfFileNamed("a.plan", "\x01\x02"), FileKind::kPlan);
  EXPECT_EQ(KindOfFileNamed("a.plan", "pln @f"), FileKind::kPlan);
  EXPECT_EQ(KindOfFileNamed("a.plan", "plan\n"), FileKind::kPlan);
  EXPECT_EQ(KindOfFileNamed("a.onnx", "\x01\x02"), FileKind::kOnnxModel);
  EXPECT_EQ(KindOfFileNamed("a.onnx", "<!DOCTYPE html>"), FileKind::kText);
  EXPECT_EQ(KindOfFileNamed("a.graph", "grpah @f"), FileKind::kGraphText);
  EXPECT_EQ(KindOfFileNamed("a.npy", ""), FileKind::kNpy);
  EXPECT_EQ(KindOfFile("nowhere.plan"), FileKind::kUnknown);
}

TEST(FileKinds, EveryKindHasAName) {
  for (int i = 0; i <= static_cast<int>(kLastFileKind); ++i) {
    const FileKind kind = static_cast<FileKind>(i);
    EXPECT_EQ(NameOf(kind) == NameOf(FileKind::kUnknown), i == 0) << i;
  }
  EXPECT_EQ(NamesOf(kModelFiles), "an ONNX model or a graph as text");
  EXPECT_EQ(NamesOf(kPlanFiles), "a plan");
  EXPECT_EQ(NamesOf(kSampleFiles),
            "a NumPy array (.npy), NumPy arrays (.npz), an IDX file or a gzip "
            "file");
}

}  // namespace
}  // namespace partita
