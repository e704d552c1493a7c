// Tests of vocabularies and windows of text.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/text_dataset.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/utf8.h"
#include "runtime/dataset/testing/sample_text.h"
#include "runtime/dataset/vocabulary.h"

namespace partita {
namespace {

using Unit = Vocabulary::Unit;
using Tokens = std::vector<int32_t>;

// "aé€😀" in UTF-8.
constexpr char kMixed[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";

TEST(Vocabulary, CharactersAreNumberedInAscendingOrder) {
  const auto words = Vocabulary::OfText("banana", Unit::kCharacters, "t");
  ASSERT_TRUE(words.ok()) << words.status();
  EXPECT_EQ(words->size(), 3);
  EXPECT_EQ(*words->Encode("nab", "t"), (Tokens{2, 0, 1}));
  EXPECT_EQ(words->Decode({1, 0, 2, 7, -1}), "ban");
}

TEST(Vocabulary, ACharacterMayHaveSeveralBytes) {
  const auto characters = Vocabulary::OfText(kMixed, Unit::kCharacters, "t");
  ASSERT_TRUE(characters.ok()) << characters.status();
  EXPECT_EQ(characters->ToString(), "characters 61 e9 20ac 1f600");
  EXPECT_EQ(characters->Decode(*characters->Encode(kMixed, "t")), kMixed);
  const auto bytes = Vocabulary::OfText(kMixed, Unit::kBytes, "t");
  EXPECT_EQ(bytes->ToString(), "bytes 61 80 82 98 9f a9 ac c3 e2 f0");
  EXPECT_EQ(bytes->Decode(*bytes->Encode(kMixed, "t")), kMixed);
}

TEST(Vocabulary, ItsTextReadsTheSame) {
  for (const char* text :
       {"characters 61 e9 20ac 1f600", "bytes a ff", "characters"}) {
    const auto vocabulary = Vocabulary::Parse(text);
    ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
    EXPECT_EQ(vocabulary->ToString(), text);
  }
}

TEST(Vocabulary, OtherTextsAreRefused) {
  const auto fault = [](absl::string_view text) {
    return std::string(Vocabulary::Parse(text).status().message());
  };
  EXPECT_EQ(fault("words a b"),
            "vocabulary: found \"words\" first; expected bytes or characters");
  for (const char* code : {"100", "x", "", "-1"}) {
    EXPECT_EQ(
        fault(absl::StrCat("bytes 61 ", code)),
        absl::StrCat("vocabulary: found code \"", code,
                     "\"; expected hexadecimal codes in ascending order"));
  }
  EXPECT_NE(fault("bytes 61 61"), "");
  EXPECT_NE(fault("characters d800"), "");
  EXPECT_NE(fault("characters 110000"), "");
}

TEST(Vocabulary, UnknownUnitsAreReportedWithLineAndColumn) {
  const auto vocabulary = Vocabulary::OfText("ab\n", Unit::kCharacters, "t");
  EXPECT_EQ(vocabulary->Encode("ab\nab\xc3\xa9", "new.txt").status().message(),
            "new.txt:2:3: found \"\\xc3\\xa9\"; expected one of the 3 "
            "characters that the model was trained with");
}

TEST(Vocabulary, BytesThatAreNotUtf8AreReportedWithLineAndColumn) {
  EXPECT_EQ(Vocabulary::OfText("ab\nc\xff", Unit::kCharacters, "t.txt")
                .status()
                .message(),
            "t.txt:2:2: found byte \"\\xff\", which is not UTF-8; expected a "
            "text in UTF-8; convert it, as iconv does");
  for (const char* bad :
       {"\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\x80", "\xc3(", "\xf8\x88\x80\x80\x80"}) {
    EXPECT_FALSE(Vocabulary::OfText(bad, Unit::kCharacters, "t").ok());
  }
}

TEST(Utf8, EveryCodePointComesBack) {
  for (uint32_t code = 0; code <= kMaxCodePoint; ++code) {
    if (!IsCodePoint(code)) continue;
    std::string text;
    AppendCodePoint(code, text);
    absl::string_view rest = text;
    ASSERT_EQ(TakeCodePoint(rest), code);
    ASSERT_TRUE(rest.empty());
  }
}

TEST(TextDataset, TheTargetIsTheInputOneTokenOn) {
  const auto dataset = TextDataset({10, 11, 12, 13, 14, 15, 16}, {.length = 3});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(FieldsText(**dataset), "input: i64[3], target: i64[3]");
  EXPECT_EQ((*dataset)->num_samples(), 2);
  EXPECT_EQ(SampleText(**dataset, 0), "input 10 11 12 | target 11 12 13");
  EXPECT_EQ(SampleText(**dataset, 1), "input 13 14 15 | target 14 15 16");
}

TEST(TextDataset, WindowsMayOverlap) {
  const auto dataset = TextDataset({10, 11, 12, 13}, {.length = 2,
                                                      .stride = 1,
                                                      .dtype = DType::kI32,
                                                      .input_field = "x",
                                                      .target_field = "y"});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(FieldsText(**dataset), "x: i32[2], y: i32[2]");
  EXPECT_EQ((*dataset)->num_samples(), 2);
  EXPECT_EQ(SampleText(**dataset, 1), "x 11 12 | y 12 13");
}

TEST(TextDataset, TheLastWindowIsWhole) {
  for (int64_t tokens = 4; tokens < 30; ++tokens) {
    for (int64_t stride = 1; stride < 6; ++stride) {
      const auto dataset =
          TextDataset(Tokens(tokens), {.length = 3, .stride = stride});
      const int64_t last = ((*dataset)->num_samples() - 1) * stride;
      EXPECT_LE(last + 4, tokens);
      EXPECT_GT(last + stride + 4, tokens);
    }
  }
}

TEST(TextDataset, OptionsWithoutAWindowAreRefused) {
  const auto fault = [](int64_t tokens, const TextOptions& options) {
    return std::string(TextDataset(Tokens(tokens), options).status().message());
  };
  EXPECT_EQ(fault(3, {.length = 3}),
            "text: found 3 tokens; expected at least 3 + 1; give more text or "
            "shorter windows");
  EXPECT_EQ(fault(9, {.length = 0}),
            "text options: found length 0 and stride 0; expected a length of 1 "
            "or more and a stride of 0 or more");
  EXPECT_EQ(fault(9, {.length = 3, .dtype = DType::kU8}),
            "text options: found token dtype u8; expected i64 or i32");
}

TEST(ReadText, FilesFollowOneAnother) {
  const std::string path =
      absl::StrCat(testing::TempDir(), "/", getpid(), ".t");
  std::ofstream(path) << "one ";
  EXPECT_EQ(*ReadText({path, path}), "one one ");
  EXPECT_EQ(ReadText({path + "x"}).status().message(),
            path +
                "x: cannot be opened: No such file or directory; expected a "
                "file that can be read; correct its name or its rights");
}

}  // namespace
}  // namespace partita
