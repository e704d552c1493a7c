// The toolkit's assembler takes the PTX in plans of whole models: no kernel has
// a stack frame or spills, and accesses are as wide as the text says.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "graph/builder/examples/models.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "kernels/codegen_loader/testing/ptxas.h"
#include "partita/compile.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

bool IsFull() { return std::getenv("PARTITA_FULL") != nullptr; }

// Those with the code of training have that of inference too.
struct Model {
  const char* name;
  absl::StatusOr<Module> (*make)();
};

absl::StatusOr<Module> Mnist() { return MnistTraining(); }

absl::StatusOr<Module> MnistOfSmallImages() {
  return MnistTraining({.batch = 2, .image = 16});
}

absl::StatusOr<Module> ResNet() {
  return ResNet18Training(
      {.batch = 8, .image = 16, .classes = 10, .width = 16});
}

absl::StatusOr<Module> NarrowResNet() {
  return ResNet18Training({.batch = 2, .image = 8, .classes = 4, .width = 2});
}

absl::StatusOr<Module> GptOf(int64_t width, int64_t heads, double dropout) {
  return GptTraining({.batch = 4,
                      .layers = 2,
                      .width = width,
                      .heads = heads,
                      .context = 64,
                      .dropout = dropout});
}
// Heads of 4, 32 and 128 elements.
absl::StatusOr<Module> NarrowGpt() { return GptOf(8, 2, 0.1); }
absl::StatusOr<Module> Gpt() { return GptOf(128, 4, 0); }
absl::StatusOr<Module> GptOfWideHeads() { return GptOf(256, 2, 0); }

absl::StatusOr<Module> Lstm() { return LstmTraining(); }

// An elementwise cluster with this many operands: a product of each two
// neighbours, and the sum of all, so that all products are read late.
absl::StatusOr<Module> ChainOf(int operands, absl::string_view dtype) {
  const std::string type = absl::StrCat(dtype, "[4096]");
  std::vector<std::string> inputs;
  std::string body;
  for (int i = 0; i < operands; ++i) {
    inputs.push_back(absl::StrCat("%x", i, ": ", type));
    if (i == 0) continue;
    absl::StrAppend(&body, "  %p", i, " = mul %x", i - 1, ", %x", i, " : ",
                    type, "\n");
  }
  for (int i = operands - 1; i > 1; --i) {
    const std::string so_far =
        i == operands - 1 ? absl::StrCat("%p", i) : absl::StrCat("%s", i + 1);
    absl::StrAppend(&body, "  %s", i, " = add ", so_far, ", %p", i - 1, " : ",
                    type, "\n");
  }
  return ParseModule(
      absl::StrCat("graph @main(", absl::StrJoin(inputs, ", "), ") -> ", type,
                   " {\n", body, "  return %s2\n}\n"),
      "chain", OpSet::BuiltIn());
}
absl::StatusOr<Module> Chain() { return ChainOf(30, "f32"); }
absl::StatusOr<Module> DoubleChain() { return ChainOf(30, "f64"); }

constexpr Model kModels[] = {
    {"Mnist", Mnist},
    {"MnistOfSmallImages", MnistOfSmallImages},
    {"ResNet", ResNet},
    {"NarrowResNet", NarrowResNet},
    {"NarrowGpt", NarrowGpt},
    {"Gpt", Gpt},
    {"GptOfWideHeads", GptOfWideHeads},
    {"Lstm", Lstm},
    {"Chain", Chain},
    {"DoubleChain", DoubleChain},
};

// The PTX of the model's plan for one GPU.
std::string PtxOf(const Model& model, const std::string& target) {
  Machine machine = CpuAndGpus(1, int64_t{8} << 30);
  machine.devices[1].traits.isa = target;
  CompileOptions options;
  options.strategy = "single";
  options.planner.device = "gpu:0";
  auto module = model.make();
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return "";
  const auto compiled = Compile(*std::move(module), machine, options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return "";
  for (const CodeObject& code : compiled->plan.code_objects) {
    if (code.target != target) continue;
    return std::string(reinterpret_cast<const char*>(code.bytes.data()),
                       code.bytes.size());
  }
  ADD_FAILURE() << model.name << ": the plan has no PTX for " << target;
  return "";
}

const std::string& Ptx(const Model& model, const std::string& target) {
  static auto& texts =
      *new std::map<std::pair<std::string, std::string>, std::string>;
  const auto [it, is_new] = texts.try_emplace({model.name, target});
  if (is_new) it->second = PtxOf(model, target);
  return it->second;
}

// Text by kernel.
std::map<std::string, std::string> KernelsOf(const std::string& ptx) {
  const std::string kEntry = ".visible .entry ";
  std::map<std::string, std::string> kernels;
  size_t at = ptx.find(kEntry);
  while (at != std::string::npos) {
    const size_t name = at + kEntry.size();
    const size_t next = ptx.find(kEntry, name);
    kernels[ptx.substr(name, ptx.find('(', name) - name)] =
        ptx.substr(at, next - at);
    at = next;
  }
  return kernels;
}

// Each model takes a part of the architectures, and with PARTITA_FULL all.
std::vector<AssembledFor> ArchitecturesFor(const Model& model) {
  constexpr size_t kSampled = 2;
  const size_t count = std::size(kArchitectures);
  const size_t number = static_cast<size_t>(&model - kModels);
  std::vector<AssembledFor> chosen;
  for (size_t i = 0; i < count; ++i) {
    const bool is_sampled = (i + number) % (count / kSampled) == 0;
    if (IsFull() || is_sampled) chosen.push_back(kArchitectures[i]);
  }
  return chosen;
}

class ModelPtx : public testing::TestWithParam<size_t> {
 protected:
  const Model& model() const { return kModels[GetParam()]; }
};

TEST_P(ModelPtx, ComputesWhatItSays) {
  for (const auto& [name, text] : KernelsOf(Ptx(model(), "sm_90"))) {
    for (const char* word :
         {".approx", ".ftz", ".local", "\tcall", "\tatom.", "\tred."}) {
      EXPECT_FALSE(absl::StrContains(text, word)) << name << ": " << word;
    }
  }
}

TEST_P(ModelPtx, NeedsNeitherStackNorSpills) {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) {
    GTEST_SKIP() << "found no ptxas; set CUDA_HOME to a CUDA toolkit";
  }
  for (const auto& [architecture, target] : ArchitecturesFor(model())) {
    const std::string& text = Ptx(model(), target);
    const auto assembled = Assemble(ptxas, text, architecture);
    ASSERT_TRUE(assembled.ok()) << assembled.status();
    EXPECT_EQ(assembled->kernels.size(), KernelsOf(text).size());
    EXPECT_EQ(assembled->StackAndSpills(), "")
        << model().name << " on " << architecture;
  }
}

// What the assembler made of it: accesses of 16 bytes where the text has them,
// no local memory, and the special functions of divisions and roots alone.
TEST_P(ModelPtx, IsAssembledAsItSays) {
  const std::string ptxas = FindPtxas();
  const std::string disassembler = FindDisassembler();
  if (ptxas.empty() || disassembler.empty()) {
    GTEST_SKIP() << "found no "
                 << (ptxas.empty() ? "ptxas" : "nvdisasm beside ptxas")
                 << "; set CUDA_HOME to a CUDA toolkit that has it";
  }
  const std::string& text = Ptx(model(), "sm_90");
  const auto code = Disassemble(ptxas, disassembler, text, "sm_90");
  ASSERT_TRUE(code.ok()) << code.status();
  for (const auto& [name, ptx] : KernelsOf(text)) {
    const auto found = code->find(name);
    ASSERT_NE(found, code->end()) << name;
    const std::string& sass = found->second;
    const auto has = [&](absl::string_view word) {
      return absl::StrContains(sass, word);
    };
    for (const char* wide :
         {"v4.f32", "v4.u32", "v4.b32", "v2.f64", "v2.u64", "v2.b64"}) {
      if (absl::StrContains(ptx, absl::StrCat("ld.global.", wide))) {
        EXPECT_TRUE(has("LDG.E.128")) << name << ": " << wide;
      }
      if (absl::StrContains(ptx, absl::StrCat("st.global.", wide))) {
        EXPECT_TRUE(has("STG.E.128")) << name << ": " << wide;
      }
    }
    for (const char* word : {"LDL", "STL", "MUFU.EX2", "MUFU.LG2", "MUFU.SIN",
                             "MUFU.COS", "MUFU.TANH", "HMMA", "RED.", "ATOM"}) {
      EXPECT_FALSE(has(word)) << name << ": " << word;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ModelPtx,
                         testing::Range<size_t>(0, std::size(kModels)),
                         [](const auto& tested) {
                           return kModels[tested.param].name;
                         });

}  // namespace
}  // namespace partita
