// What the parser of PTX accepts, and how it refuses the rest.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/parser.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace partita::ptx {
namespace {

std::string Text(absl::string_view body) {
  return absl::StrCat(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry f(\n  .param .u64 f_0,\n  .param .u32 f_1\n)\n"
      ".maxntid 256, 1, 1\n{\n"
      ".reg .pred %p<3>; .reg .b16 %rs<3>; .reg .b32 %r<6>; .reg .f32 %f<4>;\n"
      ".reg .b64 %rd<4>; .reg .f64 %fd<3>;\n",
      body, "\nret;\n}\n");
}

// The body's first line is line 12.
void ExpectRefused(absl::string_view body, absl::string_view message) {
  const auto module = ParseModule(Text(body), "a.ptx");
  ASSERT_FALSE(module.ok()) << body;
  EXPECT_EQ(module.status().message(), message);
}

TEST(PtxParser, AKernelHasItsParametersLimitsAndInstructions) {
  const auto module = ParseModule(Text("ld.param.u64 %rd1, [f_0];  // address\n"
                                       "cvta.to.global.u64 %rd2, %rd1;\n"
                                       "$L_1:\n"
                                       "@!%p1 bra $L_1;"),
                                  "a.ptx");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(module->version, 80);
  EXPECT_EQ(module->target, "sm_80");
  const Kernel* kernel = module->Find("f");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(module->Find("g"), nullptr);
  ASSERT_EQ(kernel->parameters.size(), 2u);
  EXPECT_EQ(kernel->parameters[1].bytes, 4);
  EXPECT_EQ(kernel->most_threads, 256u);
  ASSERT_EQ(kernel->instructions.size(), 4u);
  EXPECT_EQ(kernel->instructions[1].form->text, "cvta.to.global.u64");
  EXPECT_EQ(kernel->instructions[2].target, 2u);
  EXPECT_TRUE(kernel->instructions[2].guard_negated);
  EXPECT_EQ(kernel->instructions[2].line, 15);
}

TEST(PtxParser, RegistersInBracesEndWithThem) {
  EXPECT_TRUE(ParseModule(Text("{ .reg .b16 tmp; mov.b32 {tmp, %rs1}, %r1; }\n"
                               "{ .reg .b16 tmp; mov.b32 %r1, {tmp, %rs1}; }"),
                          "a.ptx")
                  .ok());
  ExpectRefused("{ .reg .b16 tmp; }\nmov.b16 %rs1, tmp;",
                "a.ptx:13: found `tmp`, which is neither a register nor a "
                "number of .b16; expected the operands of `mov.b16`");
}

TEST(PtxParser, ALoopMaySayThatItIsNotUnrolled) {
  const auto module = ParseModule(
      Text("$L_1:\n.pragma \"nounroll\";\n@%p1 bra $L_1;"), "a.ptx");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(module->kernels[0].instructions[0].target, 0u);
  ExpectRefused(".pragma \"used_bytes_mask\";",
                "a.ptx:12: found the pragma `used_bytes_mask`; expected what "
                "the interpreter of PTX executes: loops that are not unrolled");
}

TEST(PtxParser, WhatIsNotInterpretedIsNamed) {
  const absl::string_view expected =
      "; expected what the interpreter of PTX executes: ";
  ExpectRefused(
      "bar.arrive 0, 64;",
      absl::StrCat("a.ptx:12: found the instruction `bar.arrive`", expected,
                   "the only barrier is `bar.sync` of the whole "
                   "block"));
  ExpectRefused(
      "shfl.bfly.b32 %r1, %r2, 16, 31;",
      absl::StrCat("a.ptx:12: found the instruction `shfl.bfly.b32`", expected,
                   "shuffles are `shfl.sync` of 32 bits, without a "
                   "predicate"));
  ExpectRefused(
      "cvta.shared.u64 %rd1, %rd2;",
      absl::StrCat("a.ptx:12: found the instruction `cvta.shared.u64`",
                   expected,
                   "shared memory is read and written by `ld` and `st` "
                   "alone"));
  ExpectRefused("div.approx.f32 %f1, %f2, %f3;",
                absl::StrCat("a.ptx:12: found the instruction `div.approx.f32`",
                             expected, "approximations have no fixed bits"));
  ExpectRefused(
      "add.f32 %f1, %f2, %f3;",
      absl::StrCat("a.ptx:12: found the instruction `add.f32`", expected,
                   "floats are rounded with `.rn`, or the driver may fuse "
                   "them"));
  ExpectRefused(
      "popc.b32 %r1, %r2;",
      absl::StrCat("a.ptx:12: found the instruction `popc.b32`", expected,
                   "it is not in the table of testing/emulated_gpu/"
                   "ptx/instruction_set.cc"));
  ExpectRefused("mulrn.f32 %f1, %f2, %f3;",
                "a.ptx:12: found the instruction `mulrn.f32`; expected an "
                "instruction of PTX");
  ExpectRefused(".local .b8 s[4];",
                absl::StrCat("a.ptx:12: found `.local`", expected,
                             "kernels declare registers and shared memory "
                             "alone"));
}

TEST(PtxParser, OperandsHaveTheInstructionsTypes) {
  ExpectRefused("add.s32 %r1, %r2, %rd1;",
                "a.ptx:12: found the register `%rd1` of type .b64; expected "
                "the operands of `add.s32`");
  ExpectRefused("add.s32 %r1, %r2, %f1;",
                "a.ptx:12: found the register `%f1` of type .f32; expected the "
                "operands of `add.s32`");
  ExpectRefused("add.s32 %r1, %r2, %r6;",
                "a.ptx:12: found `%r6`, which is neither a register nor a "
                "number of .s32; expected the operands of `add.s32`");
  ExpectRefused("add.s32 %r1, %r2;",
                "a.ptx:12: found fewer operands; expected the operands of "
                "`add.s32`");
  ExpectRefused("add.s32 %r1, %r2, %r3, %r4;",
                "a.ptx:12: found more operands; expected the operands of "
                "`add.s32`");
  ExpectRefused("add.s32 %r1, %r2, 4294967296;",
                "a.ptx:12: found `4294967296`, which is neither a register nor "
                "a number of .s32; expected the operands of `add.s32`");
  ExpectRefused("add.rn.f32 %f1, %f2, 1;",
                "a.ptx:12: found `1`, which is neither a register nor a number "
                "of .f32; expected the operands of `add.rn.f32`");
  ExpectRefused("ld.global.v4.f32 {%f1, %f2}, [%rd1];",
                "a.ptx:12: found a vector of another length; expected the "
                "operands of `ld.global.v4.f32`");
  ExpectRefused("ld.global.f32 %f1, [%r1];",
                "a.ptx:12: found the register `%r1` of type .b32; expected the "
                "operands of `ld.global.f32`");
  ExpectRefused("ld.param.u64 %rd1, [f_1];",
                "a.ptx:12: found bytes outside the parameter f_1; expected the "
                "operands of `ld.param.u64`");
  ExpectRefused("setp.ne.s32 %r1, %r2, 0;",
                "a.ptx:12: found the register `%r1` of type .b32; expected the "
                "operands of `setp.ne.s32`");
}

TEST(PtxParser, BranchesLeadToInstructions) {
  ExpectRefused("bra $L_2;",
                "a.ptx:12: found a branch to `$L_2`; expected a label before "
                "an instruction");
  ExpectRefused("$L_1:\n$L_1:",
                "a.ptx:13: found the label `$L_1` again; expected another "
                "name");
  const auto module = ParseModule(
      ".version 8.0 .target sm_80 .address_size 64 .visible .entry f() { }",
      "a.ptx");
  EXPECT_EQ(module.status().message(),
            "a.ptx:1: found the end of a kernel; expected `ret` before it");
}

TEST(PtxParser, DeclarationsAreBounded) {
  ExpectRefused(".reg .b32 %many<65537>;",
                "a.ptx:12: found more than 65536 registers; expected what the "
                "interpreter of PTX executes: each name once, in bounds");
  ExpectRefused(".reg .b32 %r<2>;",
                "a.ptx:12: found the register %r declared again; expected what "
                "the interpreter of PTX executes: each name once, in bounds");
  ExpectRefused(".reg .b32 %r1<2>;",
                "a.ptx:12: found the range %r1, whose name ends in a digit; "
                "expected what the interpreter of PTX executes: each name "
                "once, in bounds");
  const auto cut = ParseModule(".version 8.0\n.target sm_80\n", "a.ptx");
  EXPECT_EQ(cut.status().message(),
            "a.ptx:3: found the end of the text; expected `.address_size`");
  const auto device_function = ParseModule(
      ".version 8.0\n.target sm_80\n.address_size 64\n.func f() { ret; }",
      "a.ptx");
  EXPECT_EQ(device_function.status().message(),
            "a.ptx:4: found `.func`; expected what the interpreter of PTX "
            "executes: a text has kernels, `.visible .entry`, alone");
}

TEST(PtxParser, BlocksOfAMultiprocessorAreAtLeastOne) {
  const auto parse = [](absl::string_view blocks) {
    return ParseModule(
        absl::StrCat(".version 8.0 .target sm_80 .address_size 64\n"
                     ".visible .entry f() .reqntid 32, 1, 1\n"
                     ".minnctapersm ",
                     blocks, "\n{ ret; }"),
        "a.ptx");
  };
  const auto module = parse("32");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(module->Find("f")->most_threads, 32u);
  EXPECT_TRUE(module->Find("f")->needs_most_threads);
  EXPECT_EQ(parse("0").status().message(),
            "a.ptx:4: found `{`; expected 1 or more blocks before it");
}

TEST(PtxParser, AKernelMayHaveSharedMemory) {
  const auto parse = [](absl::string_view variables) {
    return ParseModule(
        absl::StrCat(".version 8.0 .target sm_80 .address_size 64\n"
                     ".visible .entry f() .reqntid 32, 1, 1 {\n",
                     variables,
                     ".reg .b32 %r<2>; ld.shared.u32 %r1, [s+60];\n"
                     "bar.sync 0; ret; }\n"
                     ".visible .entry g() { ret; }"),
        "a.ptx");
  };
  const auto module = parse(".shared .align 8 .b8 s[64]; .shared .f32 t;\n");
  ASSERT_TRUE(module.ok()) << module.status();
  const Kernel* f = module->Find("f");
  ASSERT_EQ(f->shared.size(), 2u);
  EXPECT_EQ(f->shared[0].name, "s");
  EXPECT_EQ(f->shared[0].bytes, 64u);
  EXPECT_EQ(f->shared[0].address % 8, 0u);
  EXPECT_EQ(f->shared[1].bytes, 4u);
  EXPECT_TRUE(f->synchronizes);
  EXPECT_TRUE(f->needs_most_threads);
  EXPECT_EQ(f->most_threads, 32u);
  EXPECT_TRUE(module->Find("g")->shared.empty());
  EXPECT_FALSE(module->Find("g")->synchronizes);
  for (const char* variable :
       {".shared .b8 s[0];", ".shared .b8 s[49153];", ".shared .align 3 .b8 s;",
        ".shared .b8 s[64]; .shared .b8 s[64];"}) {
    EXPECT_EQ(
        parse(variable).status().message(),
        "a.ptx:3: found such a variable s; expected at most 16 with names "
        "of their own, of 1 to 49152 bytes, with alignments that divide "
        "4096");
  }
}

}  // namespace
}  // namespace partita::ptx
