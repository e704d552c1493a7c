// Tests of NumPy's own files, and of the errors for other files.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/tensor_file/npy.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/tensor_file/npz.h"

namespace partita {
namespace {

std::string Recorded(absl::string_view name) {
  return absl::StrCat("runtime/tensor_file/recorded/", name);
}

std::vector<int64_t> UpTo(int64_t last) {
  std::vector<int64_t> numbers(last);
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

TEST(Npy, AFileOfNumPyIsReadInPlace) {
  const auto file = MapFile(Recorded("f32.npy"));
  ASSERT_TRUE(file.ok()) << file.status();
  const auto tensor = OpenNpy(*file);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->type.ToString(), "f32[2, 3]");
  EXPECT_EQ(tensor->elements.bytes.data(), file->bytes.data() + 128);
  const HostTensor copy = tensor->Copy();
  for (int i = 0; i < 6; ++i) EXPECT_EQ(copy.data<float>()[i], i + 1);
}

TEST(Npy, WrittenFilesReadTheSame) {
  const HostTensor tensor = HostTensor::Of<int16_t>({2, 2}, {1, -2, 3, -4});
  const auto again = ParseNpy(NpyText(tensor), "t.npy");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->type(), tensor.type());
  EXPECT_EQ(again->byte_span(), tensor.byte_span());
}

// np.save(np.array([1, 2.5], ml_dtypes.bfloat16)), and read again by
// np.load(...).view(ml_dtypes.bfloat16).
TEST(Npy, BFloat16IsWrittenAsInMlDtypes) {
  const std::string header =
      "{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }";
  const std::string saved =
      absl::StrCat(absl::string_view("\x93NUMPY\x01\x00v\x00", 10), header,
                   std::string(117 - header.size(), ' '), "\n\x80? @");
  const auto tensor = ParseNpy(saved, "t.npy");
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->type().ToString(), "bf16[2]");
  EXPECT_EQ(GetAsDouble(*tensor, 0), 1);
  EXPECT_EQ(GetAsDouble(*tensor, 1), 2.5);
  EXPECT_EQ(NpyText(*tensor), saved);
  const auto loaded =
      ParseNpy(absl::StrReplaceAll(saved, {{"<V2", "|V2"}}), "t.npy");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->type().ToString(), "bf16[2]");
}

std::string Fault(std::string text) {
  return std::string(ParseNpy(text, "t.npy").status().message());
}

TEST(Npy, FaultsAreReported) {
  const std::string text = NpyText(HostTensor::Of<float>({2}, {1, 2}));
  EXPECT_EQ(Fault(text.substr(0, 11)),
            "t.npy: found bytes that are not a whole .npy file; "
            "expected NumPy's format; save an array by numpy.save");
  EXPECT_EQ(Fault(text.substr(0, 40)),
            "t.npy: found a header cut short; expected a whole .npy file; copy "
            "the file again, or save the array again by numpy.save");
  EXPECT_EQ(Fault(text.substr(0, text.size() - 1)),
            "t.npy: found 7 bytes of elements; expected 8 for f32[2]; copy the "
            "file again, or save the array again by numpy.save");
  EXPECT_EQ(Fault(absl::StrReplaceAll(text, {{"<f4", "<c8"}})),
            "t.npy: found element type '<c8'; expected numbers or bools; save "
            "it with array.astype('float32') or another such type");
  EXPECT_EQ(Fault(absl::StrReplaceAll(text, {{"<f4", ">f4"}})),
            "t.npy: found element type '>f4'; expected little-endian numbers; "
            "save it with array.astype(array.dtype.newbyteorder('<'))");
  EXPECT_EQ(Fault(absl::StrReplaceAll(text, {{"False", "True "}})),
            "t.npy: found Fortran order; expected C order; save "
            "numpy.ascontiguousarray(array)");
  EXPECT_EQ(Fault(absl::StrReplaceAll(text, {{"shape", "shade"}})),
            "t.npy: found a header without shape; expected 'shape': (N, ...); "
            "save the array again by numpy.save");
  EXPECT_EQ(Fault(absl::StrReplaceAll(text, {{"(2,)", "(x,)"}})),
            "t.npy: found extent x; expected an integer; save the array again "
            "by numpy.save");
  EXPECT_EQ(Fault(absl::StrReplaceAll(
                text, {{"(2,)", "(1,1,1,1,1,1,1,1,1,1,1,1,1)"}})),
            "t.npy: found more than 12 dimensions; expected at most 12; "
            "reshape the array before it is saved");
  std::string newer = text;
  newer[6] = '\4';
  EXPECT_EQ(Fault(newer),
            "t.npy: found version 4; expected version 1 to 3; save the array "
            "again by numpy.save");
}

class NpzTest : public testing::TestWithParam<const char*> {};

TEST_P(NpzTest, AnArchiveOfNumPyIsReadByName) {
  const auto bytes = MapFile(Recorded(GetParam()));
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto file = NpzFile::Open(*bytes);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->names(),
            (std::vector<std::string>{"x_train", "y_train", "even"}));
  const auto x = file->Array("x_train");
  ASSERT_TRUE(x.ok()) << x.status();
  EXPECT_EQ(x->type.ToString(), "u8[5, 2, 3]");
  EXPECT_EQ(ToInt64s(x->Copy()), UpTo(30));
  EXPECT_EQ(ToInt64s(file->Array("y_train")->Copy()), UpTo(5));
  EXPECT_EQ(ToInt64s(file->Array("even")->Copy()),
            (std::vector<int64_t>{1, 0, 1, 0, 1}));
}

TEST_P(NpzTest, AnArrayOfAnotherNameIsAnErrorThatListsThem) {
  const auto file = NpzFile::Open(*MapFile(Recorded(GetParam())));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->Array("x_test").status().message(),
            absl::StrCat(Recorded(GetParam()),
                         ": found no array x_test; expected one of x_train, "
                         "y_train, even"));
}

INSTANTIATE_TEST_SUITE_P(NumPy, NpzTest,
                         testing::Values("stored.npz", "packed.npz"),
                         [](const auto& info) {
                           return std::string(info.param).substr(0, 6);
                         });

}  // namespace
}  // namespace partita
