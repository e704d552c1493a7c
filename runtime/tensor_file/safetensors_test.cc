// Tests files of the format's own library, written files, and refused files.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/tensor_file/safetensors_file.h"
#include "runtime/tensor_file/safetensors_header.h"
#include "runtime/tensor_file/safetensors_writer.h"

namespace partita {
namespace {

const char kRecorded[] = "runtime/tensor_file/recorded/every_dtype.safetensors";

std::string Content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string TestPath(absl::string_view name) {
  return absl::StrCat(testing::TempDir(), "/", getpid(), "_", name);
}

// A file with this header, followed by `bytes` zeros.
std::string FileOf(const std::string& header, size_t bytes) {
  std::string text(8, '\0');
  for (int i = 0; i < 8; ++i) {
    text[i] = static_cast<char>(header.size() >> 8 * i);
  }
  return text + header + std::string(bytes, '\0');
}

std::string Fault(const std::string& header, size_t bytes) {
  const std::string text = FileOf(header, bytes);
  const auto file = SafetensorsFile::Parse(BorrowedBytes(text, "m"));
  return std::string(file.status().message());
}

NamedTensor Named(std::string name, const HostTensor& tensor) {
  return {std::move(name), tensor.type(), tensor.byte_span()};
}

TEST(Safetensors, EveryDTypeOfTheFormatsOwnLibraryIsRead) {
  const auto file = SafetensorsFile::Open(kRecorded);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->entries().size(), kNumDTypes + 3);
  EXPECT_EQ(file->metadata(),
            (std::map<std::string, std::string>{{"step", "17 \t \xc3\xa9"}}));
  int read = 0;
  for (const SafetensorsFile::Entry& entry : file->entries()) {
    const HostTensor tensor = entry.tensor.Copy();
    for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
      const bool is_bool = tensor.type().dtype == DType::kBool;
      EXPECT_EQ(GetAsDouble(tensor, i), is_bool ? i % 2 == 0 : i + 1)
          << entry.name;
      ++read;
    }
  }
  EXPECT_EQ(read, kNumDTypes * 6 + 1 + 0 + 2);
  EXPECT_EQ(file->Find("of_bfloat16")->type.ToString(), "bf16[2, 3]");
  EXPECT_EQ(file->Find("scalar")->type.ToString(), "f32[]");
  EXPECT_EQ(file->Find("empty")->type.ToString(), "f32[0, 4]");
  EXPECT_EQ(file->Find("weight \"q\" \\ \n \xc3\xbc")->type.ToString(),
            "f32[2]");
  EXPECT_EQ(file->Find("another"), nullptr);
}

TEST(Safetensors, WrittenFilesHaveTheBytesOfTheFormatsOwnLibrary) {
  const auto file = SafetensorsFile::Open(kRecorded);
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<NamedTensor> tensors;
  for (const SafetensorsFile::Entry& entry : file->entries()) {
    tensors.push_back(
        {entry.name, entry.tensor.type, entry.tensor.elements.bytes});
  }
  const std::string path = TestPath("again.safetensors");
  // The order of tensors does not matter.
  for (int order = 0; order < 2; ++order) {
    ASSERT_TRUE(WriteSafetensors(path, tensors, file->metadata()).ok());
    EXPECT_EQ(Content(path), Content(kRecorded));
    std::reverse(tensors.begin(), tensors.end());
  }
}

TEST(Safetensors, AFileWithoutTensorsIsValid) {
  const std::string path = TestPath("nothing.safetensors");
  ASSERT_TRUE(WriteSafetensors(path, {}).ok());
  EXPECT_EQ(Content(path), std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
  const auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->entries().empty());
}

TEST(Safetensors, AForeignBoolBecomesOne) {
  std::string text =
      FileOf(R"({"b":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", 2);
  text.back() = 7;
  const auto file = SafetensorsFile::Parse(BorrowedBytes(text, "m"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(ToInt64s(file->Find("b")->Copy()), (std::vector<int64_t>{0, 1}));
}

TEST(Safetensors, ADTypeThatPartitaLacksIsRefusedByName) {
  EXPECT_EQ(
      Fault(R"({"w":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}})", 2),
      "m: tensor w: found dtype \"F8_E4M3\"; expected one of BOOL, U8, I8, "
      "I16, U16, F16, BF16, I32, U32, F32, F64, I64, U64; convert the tensor");
}

TEST(Safetensors, AFileCutShortIsAnError) {
  const std::string whole = Content(kRecorded);
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string text = whole.substr(0, size);
    EXPECT_FALSE(SafetensorsFile::Parse(BorrowedBytes(text, "m")).ok()) << size;
  }
  const auto fault = [](const std::string& text) {
    return std::string(
        SafetensorsFile::Parse(BorrowedBytes(text, "m")).status().message());
  };
  EXPECT_EQ(fault(whole.substr(0, 7)),
            "m: found 7 bytes; expected a safetensors file; the file was cut "
            "short; take a whole one");
  EXPECT_EQ(fault(whole.substr(0, 100)),
            "m: found 100 bytes; expected 1112 for its header; the file was "
            "cut short; take a whole one");
  EXPECT_EQ(fault(whole.substr(0, whole.size() - 1)),
            "m: found 293 bytes of tensors; expected 294, as the header says; "
            "the file was cut short; take a whole one");
  EXPECT_EQ(fault("no safetensors file"),
            "m: found a header of 8387222449776783214 bytes; expected at most "
            "100000000; it is not a safetensors file, or is damaged");
}

TEST(Safetensors, GapsAndOverlapsAreErrors) {
  const std::string a =
      R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  const auto b = [&](const std::string& offsets) {
    return absl::StrCat("{", a, R"(,"b":{"dtype":"U8","shape":[2],)",
                        R"("data_offsets":)", offsets, "}}");
  };
  EXPECT_EQ(Fault(b("[2,4]"), 4), "");
  EXPECT_EQ(Fault(b("[1,3]"), 3),
            "m: tensor b: found its first byte at 1; expected 2, the end of "
            "the tensor before it; tensors must not overlap");
  EXPECT_EQ(Fault(b("[3,5]"), 5),
            "m: tensor b: found its first byte at 3; expected 2, the end of "
            "the tensor before it; the format allows no bytes between tensors");
  EXPECT_EQ(Fault(b("[2,4]"), 5),
            "m: found 5 bytes of tensors; expected 4, as the header says; the "
            "format allows no bytes after the tensors");
  EXPECT_EQ(Fault(b("[2,5]"), 5),
            "m: tensor b: found 3 bytes; expected 2 for u8[2]");
  EXPECT_EQ(Fault(b("[4,2]"), 4),
            "m: tensor b: found data_offsets [4, 2]; expected [begin, end]");
  EXPECT_EQ(Fault(b("[2]"), 4),
            "m: tensor b: found data_offsets [2]; expected [begin, end]");
}

TEST(Safetensors, NoNameAndNoKeyOccursTwice) {
  const std::string a = R"("a":{"dtype":"U8","shape":[],"data_offsets":[0,1]})";
  EXPECT_EQ(Fault(absl::StrCat("{", a, ",", a, "}"), 1),
            "m: found \"a\" twice in the header; expected every name once");
  EXPECT_EQ(Fault(R"({"a":{"dtype":"U8","dtype":"U8"}})", 1),
            "m: tensor a: found \"dtype\" twice; expected every key once");
  EXPECT_EQ(Fault(R"({"__metadata__":{"k":"1","k":"2"}})", 0),
            "m: metadata: found \"k\" twice; expected every key once");
}

TEST(Safetensors, AHeaderOfAnotherFormIsRefusedWhereItDiffers) {
  EXPECT_EQ(Fault(" {}", 0),
            "m: found a header that begins otherwise; expected {");
  EXPECT_EQ(Fault("{\"a\"", 0),
            "m: found no valid JSON at byte 5 of the header; expected RFC 8259 "
            "in UTF-8");
  EXPECT_EQ(Fault(R"({"a":1})", 0), "m: tensor a: found 1; expected an object");
  EXPECT_EQ(Fault(R"({"a":{"dtype":7}})", 0),
            "m: tensor a: found 7; expected a string for dtype");
  EXPECT_EQ(Fault(R"({"a":{"shape":null}})", 0),
            "m: tensor a: found null; expected a list for shape");
  EXPECT_EQ(Fault(R"({"a":{"shape":[-1]}})", 0),
            "m: tensor a: found -1; expected whole numbers of 0 or more in "
            "shape");
  EXPECT_EQ(Fault(R"({"a":{"shape":[1.5]}})", 0),
            "m: tensor a: found 1.5; expected whole numbers of 0 or more in "
            "shape");
  EXPECT_EQ(Fault(R"({"a":{"shape":[[true]]}})", 0),
            "m: tensor a: found a list; expected whole numbers of 0 or more in "
            "shape");
  EXPECT_EQ(Fault(R"({"a":{"shape":[9999999999999999]}})", 0),
            "m: tensor a: found 9999999999999999 in shape; expected at most "
            "70368744177664");
  EXPECT_EQ(Fault(R"({"a":{"shape":[1,1,1,1,1,1,1,1,1,1,1,1,1]}})", 0),
            "m: tensor a: found more than 12 numbers in shape; expected at "
            "most that rank");
  EXPECT_EQ(Fault(R"({"a":{"dtype":"U8","layout":"x"}})", 0),
            "m: tensor a: found key \"layout\"; expected dtype, shape and "
            "data_offsets");
  EXPECT_EQ(Fault(R"({"a":{"dtype":"U8","shape":[]}})", 0),
            "m: tensor a: found no key data_offsets; expected dtype, shape and "
            "data_offsets");
  EXPECT_EQ(Fault(R"({"__metadata__":{"step":17}})", 0),
            "m: metadata: found 17; expected a string for step");
  const std::string huge =
      R"({"a":{"dtype":"U8","shape":[70368744177664,9],"data_offsets":[0,1]}})";
  EXPECT_NE(Fault(huge, 1).find("m: tensor a: found "), std::string::npos);
}

TEST(Safetensors, BadTensorsAreRefusedBeforeAFileIsWritten) {
  const HostTensor one = HostTensor::Of<float>({1}, {1});
  const std::string path = TestPath("refused.safetensors");
  const auto fault = [&](const std::vector<NamedTensor>& tensors) {
    const absl::Status status = WriteSafetensors(path, tensors);
    EXPECT_NE(access(path.c_str(), F_OK), 0);
    return std::string(status.message()).substr(path.size());
  };
  EXPECT_EQ(fault({Named("w", one), Named("w", one)}),
            ": tensor w: found the name twice; expected every name once");
  EXPECT_EQ(fault({Named("__metadata__", one)}),
            ": tensor __metadata__: found the name of the file's metadata; "
            "expected another name");
  EXPECT_EQ(fault({Named("\xff", one)}),
            ": safetensors header: \xff: found text that is not UTF-8; "
            "expected UTF-8 in names and metadata");
  NamedTensor shorter = Named("w", one);
  shorter.bytes.remove_suffix(1);
  EXPECT_EQ(fault({shorter}),
            ": tensor w: found 3 bytes; expected 4 for f32[1]");
}

TEST(Safetensors, ADiskThatIsFullLeavesTheOldFile) {
  const std::string path = TestPath("full.safetensors");
  const HostTensor small = HostTensor::Of<float>({1}, {1});
  ASSERT_TRUE(WriteSafetensors(path, {Named("w", small)}).ok());
  const std::string before = Content(path);
  const HostTensor large(TensorType{DType::kF32, {1 << 20}, {}});
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit least = {1 << 16, limit.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &least), 0);
  const absl::Status status = WriteSafetensors(path, {Named("w", large)});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(Content(path), before);
}

TEST(Safetensors, DifferencesFromTheModelAreListedByTensor) {
  const std::string path = TestPath("model.safetensors");
  const HostTensor w(TensorType{DType::kF32, {2, 3}, {}});
  ASSERT_TRUE(
      WriteSafetensors(path, {Named("fc1.weight", w), Named("fc9.weight", w)})
          .ok());
  const auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  const TensorType type = w.type();
  const TensorType other = {DType::kF32, {3}, {}};
  EXPECT_TRUE(
      file->ExpectTensors({{"fc1.weight", type}, {"fc9.weight", type}}).ok());
  EXPECT_EQ(
      file->ExpectTensors({{"fc1.weight", other}, {"fc2.weight", type}})
          .message(),
      absl::StrCat(path,
                   ": holds other tensors than the model (3 differences); give "
                   "the file of this model\n"
                   "  found fc1.weight: f32[2, 3]; expected f32[3]\n"
                   "  found no tensor fc2.weight; expected f32[2, 3]\n"
                   "  found fc9.weight: f32[2, 3]; expected no tensor of this "
                   "name"));
}

}  // namespace
}  // namespace partita
