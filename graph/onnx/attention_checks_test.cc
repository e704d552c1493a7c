// Which nodes of transformers' ops are refused, with exact messages.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/onnx/testing/sketched_model.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

using Proto = onnx::TensorProto;
using Dims = std::vector<int64_t>;

struct Operand {
  std::string name;
  Dims dims;
  int type = Proto::FLOAT;
};

using Numbers = std::vector<std::pair<std::string, int64_t>>;

SketchedModel Node(const std::string& op, int opset,
                   const std::vector<Operand>& operands,
                   const Numbers& attributes = {}) {
  SketchedModel model(opset);
  std::vector<std::string> names;
  for (const Operand& operand : operands) {
    names.push_back(operand.name);
    if (!operand.name.empty()) {
      model.Input(operand.name, operand.type, operand.dims);
    }
  }
  model.Node(op, names, {"y"});
  for (const auto& [name, value] : attributes) model.Attr(name, value);
  return model.Output("y");
}

// The message of a refused node after its name.
std::string Refusal(const SketchedModel& model) {
  const std::string error = model.Run();
  const size_t at = error.find(" (node n): ");
  return at == std::string::npos ? error : error.substr(at + 11);
}

const Operand kNone{"", {}};

// Queries, keys and values of 2 samples, then the node's other operands.
std::string Attention(const Dims& q, const Dims& k, const Dims& v,
                      const std::vector<Operand>& more = {},
                      const Numbers& attributes = {}) {
  std::vector<Operand> operands = {{"q", q}, {"k", k}, {"v", v}};
  operands.insert(operands.end(), more.begin(), more.end());
  return Refusal(Node("Attention", 25, operands, attributes));
}

// With valid operands.
std::string With(const std::vector<Operand>& more,
                 const Numbers& attributes = {}) {
  return Attention({2, 4, 3, 8}, {2, 2, 5, 8}, {2, 2, 5, 6}, more, attributes);
}

TEST(AttentionChecks, HeadsDivideAndAgree) {
  EXPECT_EQ(Attention({2, 3, 8}, {2, 5, 8}, {2, 5, 8}),
            "found no q_num_heads for input 0 f32[2, 3, 8]; expected a number "
            "of heads that divides 8");
  EXPECT_EQ(Attention({2, 3, 8}, {2, 5, 8}, {2, 5, 8}, {},
                      {{"q_num_heads", 3}, {"kv_num_heads", 2}}),
            "found q_num_heads 3 for input 0 f32[2, 3, 8]; expected a number "
            "of heads that divides 8");
  EXPECT_EQ(Attention({2, 3, 8}, {2, 5, 8}, {2, 5, 8}, {},
                      {{"q_num_heads", 2}, {"kv_num_heads", 0}}),
            "found kv_num_heads 0 for input 1 f32[2, 5, 8]; expected a number "
            "of heads that divides 8");
  EXPECT_EQ(Attention({2, 3, 3, 8}, {2, 2, 5, 8}, {2, 2, 5, 8}),
            "found 3 heads of queries and 2 of keys; expected a multiple of "
            "the heads of keys");
  EXPECT_EQ(Attention({2, 0, 3, 8}, {2, 0, 5, 8}, {2, 0, 5, 8}),
            "found 0 heads of queries and 0 of keys; expected a multiple of "
            "the heads of keys");
  EXPECT_EQ(With({}, {{"q_num_heads", 2}}),
            "found q_num_heads 2 for input 0 f32[2, 4, 3, 8]; expected 4, its "
            "dimension 1, or none");
}

TEST(AttentionChecks, OperandsAgree) {
  EXPECT_EQ(Attention({2, 4, 3, 8}, {2, 5, 8}, {2, 5, 8}),
            "found ranks 4, 3 and 3; expected queries, keys and values of rank "
            "4, or of rank 3");
  EXPECT_EQ(Attention({2, 2, 3, 8}, {2, 2, 5, 4}, {2, 2, 5, 8}),
            "found input 1 f32[2, 2, 5, 4] of 2 heads; expected a batch of 2 "
            "and 8 numbers a head, as the queries have");
  EXPECT_EQ(Attention({2, 2, 3, 8}, {2, 2, 5, 8}, {2, 2, 4, 8}),
            "found input 2 f32[2, 2, 4, 8] of 2 heads; expected a batch of 2, "
            "2 heads and 5 positions, as the keys have");
  EXPECT_EQ(Refusal(Node("Attention", 23,
                         {{"q", {2, 2, 3, 8}, Proto::INT32},
                          {"k", {2, 2, 5, 8}},
                          {"v", {2, 2, 5, 8}}})),
            "found input 0 i32[2, 2, 3, 8]; expected floats");
  EXPECT_EQ(Refusal(Node("Attention", 23,
                         {{"q", {2, 2, 3, 8}},
                          {"k", {2, 2, 5, 8}, Proto::FLOAT16},
                          {"v", {2, 2, 5, 8}}})),
            "found input 1 f16[2, 2, 5, 8]; expected keys of the queries' type "
            "f32");
}

TEST(AttentionChecks, MasksBroadcastToScores) {
  const auto with = [](const Dims& dims) {
    return With({{"mask", dims}}).substr(0, 30);
  };
  EXPECT_EQ(With({{"mask", {4, 5}}}),
            "found a mask f32[4, 5]; expected extents that broadcast to f32[2, "
            "4, 3, 5]: [batch, heads of queries, queries, keys]");
  EXPECT_EQ(with({3, 6}), "found a mask f32[3, 6]; expect");
  EXPECT_EQ(with({2, 3, 5}), "found a mask f32[2, 3, 5]; exp");
  EXPECT_EQ(with({1, 1, 1, 3, 5}), "found a mask f32[1, 1, 1, 3, 5");
  EXPECT_EQ(with({}), "found a mask f32[]; expected e");
}

TEST(AttentionChecks, ThePastHasTheKeysHeads) {
  EXPECT_EQ(With({kNone, {"p", {2, 2, 1, 8}}}),
            "found past_key alone; expected both past_key and past_value, or "
            "none");
  EXPECT_EQ(With({kNone, kNone, {"p", {2, 2, 1, 8}}}),
            "found past_value alone; expected both past_key and past_value, or "
            "none");
  EXPECT_EQ(With({kNone, {"p", {2, 4, 1, 8}}, {"r", {2, 2, 1, 6}}}),
            "found input 4 f32[2, 4, 1, 8]; expected f32[2, 2, 1, 8], as "
            "[batch, heads, past positions, size] of the keys");
  EXPECT_EQ(With({kNone, {"p", {2, 2, 1, 8}}, {"r", {2, 2, 2, 6}}}),
            "found input 5 f32[2, 2, 2, 6]; expected f32[2, 2, 1, 6], as "
            "[batch, heads, past positions, size] of the values");
  EXPECT_EQ(With({kNone,
                  {"p", {2, 2, 1, 8}},
                  {"r", {2, 2, 1, 6}},
                  {"n", {2}, Proto::INT64}}),
            "found past_key beside nonpad_kv_seqlen; expected one of them");
  EXPECT_EQ(With({kNone, kNone, kNone, {"n", {2, 1}, Proto::INT64}}),
            "found input 6 i64[2, 1]; expected i64[2], a number of keys for "
            "each sample");
}

TEST(AttentionChecks, AttributesHaveTheStandardsValues) {
  EXPECT_EQ(With({}, {{"qk_matmul_output_mode", 4}}),
            "found qk_matmul_output_mode 4; expected 0..3");
  EXPECT_EQ(With({}, {{"softmax_precision", 7}}),
            "found softmax_precision 7; expected 1 (f32), 10 (f16), 11 (f64) "
            "or 16 (bf16)");
  EXPECT_EQ(With({}, {{"left_window_size", -2}}),
            "found left_window_size -2; expected -1 or more");
  const auto with = [](const char* name) {
    return Refusal(
        Node("Attention", 25,
             {{"q", {1, 1, 1, 1}}, {"k", {1, 1, 1, 1}}, {"v", {1, 1, 1, 1}}})
            .Attr(name, -0.5f));
  };
  EXPECT_EQ(with("scale"), "found scale -0.5; expected 0 or more");
  EXPECT_EQ(with("softcap"), "found softcap -0.5; expected 0 or more");
}

TEST(RotaryChecks, TablesHaveTheHeadsPairs) {
  const auto with = [](const Dims& x, const Dims& cosines, const Dims& sines,
                       const Numbers& attributes, const Dims& ids = {}) {
    std::vector<Operand> operands = {{"x", x}, {"c", cosines}, {"s", sines}};
    if (!ids.empty()) operands.push_back({"ids", ids, Proto::INT64});
    return Refusal(Node("RotaryEmbedding", 23, operands, attributes));
  };
  const Dims x = {2, 4, 3, 8};
  EXPECT_EQ(with({2, 8}, {2, 3, 4}, {2, 3, 4}, {}),
            "found f32[2, 8]; expected rank 3 or 4");
  EXPECT_EQ(with({2, 3, 8}, {2, 3, 4}, {2, 3, 4}, {}),
            "found no num_heads for input 0 f32[2, 3, 8]; expected a number of "
            "heads that divides 8");
  EXPECT_EQ(with(x, {2, 3, 4}, {2, 3, 4}, {{"rotary_embedding_dim", 10}}),
            "found 10 numbers of a head to rotate; expected an even number, at "
            "most the head's 8");
  EXPECT_EQ(with(x, {2, 3, 4}, {2, 3, 4}, {{"rotary_embedding_dim", 3}}),
            "found 3 numbers of a head to rotate; expected an even number, at "
            "most the head's 8");
  EXPECT_EQ(with(x, {9, 4}, {2, 3, 4}, {}),
            "found input 1 f32[9, 4]; expected f32[2, 3, 4], as [batch "
            "or 1, positions, pairs], as no position ids are given");
  EXPECT_EQ(with(x, {3, 3, 4}, {2, 3, 4}, {}),
            "found input 1 f32[3, 3, 4]; expected f32[2, 3, 4], as [batch or "
            "1, positions, pairs], as no position ids are given");
  EXPECT_EQ(with(x, {9, 4}, {9, 2}, {}, {2, 3}),
            "found input 2 f32[9, 2]; expected f32[9, 4], as [positions, "
            "pairs], which position ids choose from");
  EXPECT_EQ(with(x, {9, 4}, {9, 4}, {}, {2, 4}),
            "found input 3 i64[2, 4]; expected i64[2, 3], as [batch, "
            "positions]");
}

std::string Recurrent(int64_t positions, const std::vector<Operand>& more,
                      const std::string& rule) {
  std::vector<Operand> operands = {{"q", {2, positions, 12}},
                                   {"k", {2, positions, 6}},
                                   {"v", {2, positions, 4}}};
  operands.insert(operands.end(), more.begin(), more.end());
  return Refusal(Node("LinearAttention", 27, operands,
                      {{"q_num_heads", 4}, {"kv_num_heads", 2}})
                     .Attr("update_rule", rule));
}

TEST(LinearAttentionChecks, ARuleHasItsInputs) {
  EXPECT_EQ(Recurrent(3, {}, "delta"),
            "found no input beta with update_rule delta; expected it, as the "
            "rule reads it");
  EXPECT_EQ(Recurrent(3, {kNone, {"decay", {2, 3, 6}}}, "linear"),
            "found an input decay with update_rule linear; expected none, as "
            "the rule reads none");
  EXPECT_EQ(Recurrent(3, {}, "affine"),
            "found update_rule \"affine\"; expected linear, gated, delta, "
            "gated_delta");
  EXPECT_EQ(Recurrent(3, {kNone, {"decay", {2, 3, 5}}}, "gated"),
            "found input 4 f32[2, 3, 5]; expected f32[2, 3, 2], with 6 or 2 "
            "numbers for each position");
  EXPECT_EQ(Recurrent(3, {{"past", {2, 4, 3, 2}}}, "linear"),
            "found input 3 f32[2, 4, 3, 2]; expected f32[2, 2, 3, 2], as "
            "[batch, heads, size of a key, size of a value]");
  EXPECT_EQ(Recurrent(1025, {}, "linear"),
            "found 1025 positions; expected 1..1024; give a longer sequence in "
            "parts, each with the state that the one before leaves");
}

TEST(CausalConvChecks, OperandsHaveTheirChannels) {
  const auto with = [](const Dims& x, const Dims& w,
                       const std::vector<Operand>& more) {
    std::vector<Operand> operands = {{"x", x}, {"w", w}};
    operands.insert(operands.end(), more.begin(), more.end());
    return Refusal(Node("CausalConvWithState", 27, operands));
  };
  EXPECT_EQ(with({2, 3}, {3, 1, 4}, {}),
            "found f32[2, 3]; expected floats as [batch, channels, length]");
  EXPECT_EQ(with({2, 3, 5}, {3, 3, 4}, {}),
            "found input 1 f32[3, 3, 4]; expected f32[3, 1, 4], as [channels, "
            "1, size of the kernel]");
  EXPECT_EQ(with({2, 3, 5}, {3, 1, 0}, {}),
            "found input 1 f32[3, 1, 0]; expected f32[3, 1, 1], as [channels, "
            "1, size of the kernel]");
  EXPECT_EQ(with({2, 3, 5}, {3, 1, 4}, {{"b", {1}}}),
            "found input 2 f32[1]; expected f32[3], one for each channel");
  EXPECT_EQ(with({2, 3, 5}, {3, 1, 4}, {kNone, {"p", {2, 3, 4}}}),
            "found input 3 f32[2, 3, 4]; expected f32[2, 3, 3], as [batch, "
            "channels, size of the kernel - 1]");
}

TEST(TransformerChecks, OthersSayWhatFits) {
  EXPECT_EQ(Refusal(Node("SwiGLU", 28, {{"a", {2, 3}}, {"b", {1, 3}}})),
            "found input 1 f32[1, 3]; expected f32[2, 3], as input 0");
  EXPECT_EQ(
      Refusal(Node("RMSNormalization", 23, {{"x", {2, 3}}, {"s", {2}}})),
      "found input 1 f32[2]; expected extents that broadcast to f32[2, 3]");
  const auto scatter = [](const Dims& update, const Dims& places,
                          const Numbers& attributes = {}) {
    return Refusal(Node("TensorScatter", 24,
                        {{"cache", {2, 4, 3}},
                         {"update", update},
                         {"places", places, Proto::INT64}},
                        attributes));
  };
  EXPECT_EQ(scatter({2, 5, 3}, {2}),
            "found input 1 f32[2, 5, 3]; expected f32[2, 4, 3], or less in "
            "dimension 1");
  EXPECT_EQ(scatter({2, 1, 3}, {3}),
            "found input 2 i64[3]; expected i64[2], a place a sample");
  EXPECT_EQ(scatter({2, 1, 3}, {2}, {{"axis", 0}}),
            "found axis 0, the batch; expected another axis");
}

}  // namespace
}  // namespace partita
