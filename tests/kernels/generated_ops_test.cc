// Every op's samples: which of them have a generated GPU kernel, and that it
// gives the bits of the CPU's code and the results of eval.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/ops/testing/op_samples.h"
#include "gtest/gtest.h"
#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen/read_program.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/codegen_loader/testing/any_sample.h"
#include "kernels/codegen_loader/testing/ptxas.h"
#include "kernels/gpu/ptx_catalog.h"
#include "kernels/native_code/trusted_code.h"
#include "kernels/op_programs/read_any_program.h"
#include "kernels/testing/rounding.h"
#include "testing/emulated_gpu/ptx/parser.h"
#include "tests/kernels/emulated_launch.h"
#include "tests/kernels/op_programs.h"

namespace partita {
namespace {

using Bytes = std::vector<std::byte>;

const std::vector<OpProgram>& Ordinary() {
  static const auto& programs =
      *new std::vector<OpProgram>(ProgramsOfSamples(/*special=*/false));
  return programs;
}
const std::vector<OpProgram>& Special() {
  static const auto& programs =
      *new std::vector<OpProgram>(ProgramsOfSamples(/*special=*/true));
  return programs;
}

std::vector<AnyProgram> CodeOf(const std::vector<OpProgram>& programs) {
  std::vector<AnyProgram> code;
  for (const OpProgram& one : programs) code.push_back(one.program.program);
  return code;
}

const ptx::Module& Kernels(const char* target) {
  static auto& modules = *new std::map<std::string, ptx::Module>;
  const auto [it, is_new] = modules.try_emplace(target);
  if (!is_new) return it->second;
  const auto text = BuildPtx(CodeOf(Ordinary()), target);
  EXPECT_TRUE(text.ok()) << text.status();
  if (!text.ok()) return it->second;
  for (const char* word :
       {".approx", ".ftz", ".local", "call", "atom", "red."}) {
    EXPECT_FALSE(absl::StrContains(*text, word)) << word;
  }
  auto module = ptx::ParseModule(*text, target);
  EXPECT_TRUE(module.ok()) << module.status();
  if (module.ok()) it->second = *std::move(module);
  return it->second;
}

// True if the kernel of program `i` has an access of several elements.
bool HasWideLoad(size_t i) {
  const ptx::Kernel* kernel = Kernels("sm_80").Find(absl::StrCat("op", i));
  return kernel != nullptr &&
         std::any_of(kernel->instructions.begin(), kernel->instructions.end(),
                     [](const ptx::Instruction& instruction) {
                       return instruction.form->action == ptx::Action::kLoad &&
                              instruction.form->vector > 1;
                     });
}

// All programs in the interpreter of PTX, as launched by `how`.
void ExpectEqualBits(const std::vector<OpProgram>& programs, const char* target,
                     const EmulatedLaunch& how = {}) {
  for (const OpProgram& one : programs) {
    const auto results = LaunchEmulated(Kernels(target), one.program, how);
    ASSERT_TRUE(results.ok()) << one.program.what << ": " << results.status();
    const absl::Status status =
        CheckResults(one.program, InterpretedResults(one.program), *results);
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(GeneratedOps, ManySamplesHaveAProgram) {
  EXPECT_GT(Ordinary().size(), 400u);
}

TEST(GeneratedOps, KernelsHaveTheInterpretersBits) {
  ExpectEqualBits(Ordinary(), "sm_80");
  ExpectEqualBits(Ordinary(), "sm_90");
}

TEST(GeneratedOps, AlsoForNaNInfinitiesAndDenormals) {
  ExpectEqualBits(Special(), "sm_90");
  EmulatedLaunch how;
  how.options.nan = ptx::NanRules::kH100;
  ExpectEqualBits(Special(), "sm_90", how);
}

TEST(GeneratedOps, AddressesMayBeAlignedToAnElementOnly) {
  EmulatedLaunch how;
  how.shifts.assign(16, 1);
  ExpectEqualBits(Ordinary(), "sm_90", how);
}

TEST(GeneratedOps, NeighboursAreReadInOneAccess) {
  std::set<std::string> ops;
  for (size_t i = 0; i < Ordinary().size(); ++i) {
    if (HasWideLoad(i)) ops.insert(Ordinary()[i].sample.op->name);
  }
  for (const char* op : {"concat", "conv", "expand", "gather", "matmul", "pad",
                         "slice", "softmax", "split", "transpose"}) {
    EXPECT_TRUE(ops.contains(op)) << op;
  }
}

// Each program one way or the other.
TEST(GeneratedOps, OneThreadOrManyGiveTheSameBits) {
  const GpuLaunch launches[] = {GpuLaunch{1, 1}, GpuLaunch{3, 7}};
  for (size_t i = 0; i < Ordinary().size(); ++i) {
    const OpProgram& one = Ordinary()[i];
    // Rows need the threads of their own blocks.
    if (std::holds_alternative<RowProgram>(one.program.program)) continue;
    EmulatedLaunch how;
    how.launch = launches[i % std::size(launches)];
    const auto results = LaunchEmulated(Kernels("sm_80"), one.program, how);
    ASSERT_TRUE(results.ok()) << one.program.what << ": " << results.status();
    const absl::Status status =
        CheckResults(one.program, InterpretedResults(one.program), *results);
    EXPECT_TRUE(status.ok()) << status;
  }
}

// The processor's code gives the interpreter's bits too.
TEST(GeneratedOps, CodeForCpusHasTheSameBits) {
  const std::string target = CodeTarget("avx2");
  if (!ProcessorRuns(target)) GTEST_SKIP() << "found no AVX2";
  const auto code = BuildSharedObject(CodeOf(Special()), "avx2");
  ASSERT_TRUE(code.ok()) << code.status();
  const auto* bytes = reinterpret_cast<const std::byte*>(code->data());
  const absl::Status trusted = TrustCode(
      {.target = target, .bytes = Bytes(bytes, bytes + code->size())});
  ASSERT_TRUE(trusted.ok()) << trusted;
  for (const OpProgram& one : Special()) {
    const ElementwiseEntry entry =
        FindEntry(target, SignatureOf(one.program.program).name);
    ASSERT_NE(entry, nullptr) << one.program.what;
    const std::vector<Bytes> expected = InterpretedResults(one.program);
    std::vector<Bytes> found = expected;
    std::vector<void*> operands, results;
    for (const Bytes& operand : one.program.operands) {
      operands.push_back(const_cast<std::byte*>(operand.data()));
    }
    for (Bytes& result : found) {
      std::fill(result.begin(), result.end(), std::byte{0xa5});
      results.push_back(result.data());
    }
    entry(operands.data(), results.data(), 0, NumItems(one.program.program));
    const absl::Status status = CheckResults(one.program, expected, found);
    EXPECT_TRUE(status.ok()) << status;
  }
}

// Relative to the largest result: a unit of the dtype for each summed element's
// root, and a few for functions.
double ToleranceOf(const OpView& node, DType dtype) {
  if (node.op().tolerance == Tolerance::kExact &&
      !node.op().traits.elementwise) {
    return 0;
  }
  return (64 + std::sqrt(FlopsPerResult(node))) * UnitInTheLastPlace(dtype);
}

void ExpectClose(const HostTensor& expected, const HostTensor& found,
                 double tolerance, const std::string& what) {
  double largest = 1e-30;
  for (int64_t i = 0; i < expected.type().num_elements(); ++i) {
    largest = std::max(largest, std::fabs(GetAsDouble(expected, i)));
  }
  for (int64_t i = 0; i < expected.type().num_elements(); ++i) {
    const double want = GetAsDouble(expected, i);
    const double have = GetAsDouble(found, i);
    if (want == have || (std::isnan(want) && std::isnan(have))) continue;
    ASSERT_LE(std::fabs(want - have), tolerance * largest)
        << what << ": element " << i << " is " << have << ", expected " << want;
  }
}

TEST(GeneratedOps, ProgramsComputeWhatEvalDoes) {
  for (const OpProgram& one : Ordinary()) {
    LiteralPool pool;
    Graph graph("sample", &pool);
    const OpView node = graph.view(*AddSample(one.sample, graph));
    const auto expected = EvaluateNode(node, one.operands);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const std::vector<Bytes> results = InterpretedResults(one.program);
    for (size_t i = 0; i < expected->size(); ++i) {
      const TensorType type = (*expected)[i].type();
      ASSERT_EQ(results[i].size(), static_cast<size_t>(type.num_bytes()))
          << one.program.what;
      HostTensor found(type);
      absl::c_copy(results[i], found.bytes());  // may be none
      ExpectClose((*expected)[i], found, ToleranceOf(node, type.dtype),
                  one.program.what);
    }
  }
}

DeviceTraits Gpu(const char* isa) {
  DeviceTraits device;
  device.name = "gpu:0";
  device.kind = DeviceKind::kCuda;
  device.isa = isa;
  return device;
}

// Padding is 0.
TEST(GeneratedOps, AReorderStoresEachElementWhereItsLayoutHasIt) {
  LiteralPool pool;
  Graph graph("sample", &pool);
  const OpSample sample{.operands = {{DType::kF32, {2, 20, 3, 5}}},
                        .attributes = {{"layout", "abcd16b"}},
                        .op = &kReorder};
  const auto node = AddSample(sample, graph);
  ASSERT_TRUE(node.ok()) << node.status();
  const TensorType& type = graph.view(*node).result_type(0);
  AnySample reorder{.what = "reorder"};
  auto program = ReadAnyProgram(graph.view(*node), "sm_80");
  ASSERT_TRUE(program.ok()) << program.status();
  reorder.program = *std::move(program);
  const HostTensor x = RandomTensor(sample.operands[0], 1);
  const auto bytes = x.byte_span();
  reorder.operands = {Bytes(bytes.begin(), bytes.end())};
  const Bytes result = InterpretedResults(reorder)[0];
  std::vector<float> expected(type.num_stored_elements(), 0);
  for (int64_t i = 0; i < x.type().num_elements(); ++i) {
    const Shape at = {i / 300, i / 15 % 20, i / 5 % 3, i % 5};
    expected[PhysicalOffset(type.layout, type.dims, at)] =
        static_cast<float>(GetAsDouble(x, i));
  }
  ASSERT_EQ(result.size(), expected.size() * sizeof(float));
  EXPECT_EQ(std::memcmp(result.data(), expected.data(), result.size()), 0);
}

TEST(GeneratedOps, LargeProductsHaveTilesOfRows) {
  const std::vector<AnyProgram> programs = TiledPrograms();
  const IndexTile matmul = TileOf(std::get<IndexProgram>(programs[0]));
  EXPECT_EQ(matmul.rows, 8);
  EXPECT_EQ(matmul.group, 4);
  const IndexTile conv = TileOf(std::get<IndexProgram>(programs[2]));
  EXPECT_EQ(conv.rows, 8);
  EXPECT_EQ(conv.rows_loop, 1);  // filters
}

TEST(GeneratedOps, TilesOfRowsHaveTheInterpretersBits) {
  const std::vector<OpProgram> programs = ThinTiledPrograms();
  const auto text = BuildPtx(CodeOf(programs), "sm_80");
  ASSERT_TRUE(text.ok()) << text.status();
  const auto module = ptx::ParseModule(*text, "tiles");
  ASSERT_TRUE(module.ok()) << module.status();
  for (const OpProgram& one : programs) {
    EXPECT_GE(TileOf(std::get<IndexProgram>(one.program.program)).rows, 4);
    const auto results = LaunchEmulated(*module, one.program, {});
    ASSERT_TRUE(results.ok()) << results.status();
    const absl::Status status =
        CheckResults(one.program, InterpretedResults(one.program), *results);
    EXPECT_TRUE(status.ok()) << status;
  }
}

// Each architecture takes a part of the programs, and with PARTITA_FULL all.
TEST(GeneratedOps, TheAssemblerNeedsNoStackAndSpillsNothing) {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) {
    GTEST_SKIP() << "found no ptxas; set CUDA_HOME to a CUDA toolkit";
  }
  const bool is_full = std::getenv("PARTITA_FULL") != nullptr;
  const size_t count = std::size(kArchitectures);
  for (size_t a = 0; a < count; ++a) {
    std::vector<AnyProgram> programs = TiledPrograms();
    for (size_t i = is_full ? 0 : a; i < Ordinary().size();
         i += is_full ? 1 : count) {
      programs.push_back(Ordinary()[i].program.program);
    }
    const auto text = BuildPtx(programs, kArchitectures[a].target);
    ASSERT_TRUE(text.ok()) << text.status();
    const auto assembled =
        Assemble(ptxas, *text, kArchitectures[a].architecture);
    ASSERT_TRUE(assembled.ok()) << assembled.status();
    EXPECT_EQ(assembled->kernels.size(), programs.size());
    EXPECT_EQ(assembled->StackAndSpills(), "")
        << kArchitectures[a].architecture;
  }
}

// docs/reference/gpu_kernels.md lists both.
TEST(GeneratedOps, ASampleIsOfferedOrThereIsAReason) {
  const PtxCatalog catalog;
  int offered = 0;
  for (const OpSample& sample : OpSamples()) {
    LiteralPool pool;
    Graph graph("sample", &pool);
    const OpView node = graph.view(*AddSample(sample, graph));
    const bool is_offered = !catalog.Choices(node, Gpu("sm_90")).empty();
    EXPECT_EQ(is_offered, WhyHostFallback(node).ok()) << ToString(sample);
    offered += is_offered;
  }
  EXPECT_GE(offered, 100);
}

TEST(GeneratedOps, TheCatalogBuildsTheKernelThatIsLaunched) {
  LiteralPool pool;
  Graph graph("sample", &pool);
  const OpSample sample{
      .operands = {{DType::kF32, {64, 32}}, {DType::kF32, {32, 64}}},
      .op = &kMatmul};
  const NodeId id = *AddSample(sample, graph);
  const PtxCatalog catalog;
  const auto unbound = catalog.BuildCode({graph.view(id)}, Gpu("sm_120"));
  ASSERT_TRUE(unbound.ok()) << unbound.status();
  EXPECT_TRUE(unbound->empty());
  graph.node(id).kernel = catalog.Choices(graph.view(id), Gpu("sm_120"))[0];
  EXPECT_TRUE(HasPtxKernel(graph.view(id)));
  const auto code = catalog.BuildCode({graph.view(id)}, Gpu("sm_120"));
  ASSERT_TRUE(code.ok()) << code.status();
  ASSERT_EQ(code->size(), 1u);
  EXPECT_EQ((*code)[0].target, "sm_90");
  const auto launch = LaunchOfNode(graph.view(id), /*multiprocessors=*/132);
  ASSERT_TRUE(launch.ok()) << launch.status();
  const std::string text(reinterpret_cast<const char*>((*code)[0].bytes.data()),
                         (*code)[0].bytes.size());
  EXPECT_TRUE(
      absl::StrContains(text, absl::StrCat(".entry ", launch->kernel, "(")));
  EXPECT_EQ(launch->grid.threads, kGpuBlockThreads);
  EXPECT_EQ(launch->grid.blocks, 4u);  // a group of four for each thread
}

TEST(GeneratedOps, OldAndUnknownGpusAndCpusAreOfferedNothing) {
  const OpSample sample = OpSamples().front();
  LiteralPool pool;
  Graph graph("sample", &pool);
  const OpView node = graph.view(*AddSample(sample, graph));
  const PtxCatalog catalog;
  EXPECT_EQ(catalog.Choices(node, Gpu("sm_75")).size(), 0u);
  EXPECT_EQ(catalog.Choices(node, Gpu("sm_120")).size(), 1u);
  EXPECT_EQ(catalog.Choices(node, Gpu("")).size(), 0u);
  EXPECT_EQ(catalog.Choices(node, DeviceTraits()).size(), 0u);
}

}  // namespace
}  // namespace partita
