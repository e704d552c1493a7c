// A table of forms; braces stand for each of their words.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/instruction_set.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "testing/emulated_gpu/ptx/arithmetic.h"

namespace partita::ptx {
namespace {

struct TypeRow {
  const char* name;
  Type type;
  int bytes;
};
constexpr TypeRow kTypes[] = {
    {"pred", Type::kPred, 1}, {"b8", Type::kB8, 1},   {"b16", Type::kB16, 2},
    {"b32", Type::kB32, 4},   {"b64", Type::kB64, 8}, {"u8", Type::kU8, 1},
    {"u16", Type::kU16, 2},   {"u32", Type::kU32, 4}, {"u64", Type::kU64, 8},
    {"s8", Type::kS8, 1},     {"s16", Type::kS16, 2}, {"s32", Type::kS32, 4},
    {"s64", Type::kS64, 8},   {"f16", Type::kF16, 2}, {"bf16", Type::kBF16, 2},
    {"f32", Type::kF32, 4},   {"f64", Type::kF64, 8},
};

struct Pattern {
  const char* text;
  const char* signature;
  Action action = Action::kCompute;
};

constexpr Pattern kPatterns[] = {
    // Floats. Without `.rn` the driver's compiler may fuse products and sums.
    {"{add,sub,mul,div}.rn.{f32,f64}", "daa"},
    {"fma.rn.{f32,f64}", "daaa"},
    {"{rcp,sqrt}.rn.{f32,f64}", "da"},
    {"{neg,abs}.{f32,f64}", "da"},
    {"{min,max}.{f32,f64}", "daa"},
    {"{min,max}.NaN.f32", "daa"},
    // Integers.
    {"{add,sub}.{s16,u16,s32,u32,s64,u64}", "daa"},
    {"mul.{lo,hi}.{s16,u16,s32,u32,s64,u64}", "daa"},
    {"mul.wide.{s16,u16,s32,u32}", "Daa"},
    {"mad.lo.{s16,u16,s32,u32,s64,u64}", "daaa"},
    {"{div,rem}.{s16,u16,s32,u32,s64,u64}", "daa"},
    {"{neg,abs}.{s16,s32,s64}", "da"},
    {"{min,max}.{s16,u16,s32,u32,s64,u64}", "daa"},
    {"{and,or,xor}.{pred,b16,b32,b64}", "daa"},
    {"not.{pred,b16,b32,b64}", "da"},
    {"shl.{b16,b32,b64}", "dai"},
    {"shr.{b16,b32,b64,u16,u32,u64,s16,s32,s64}", "dai"},
    {"bfe.{u32,s32,u64,s64}", "daii"},
    // Comparisons and choices.
    {"setp.{eq,ne}.{b16,b32,b64}", "paa"},
    {"setp.{eq,ne,lt,le,gt,ge}.{s16,s32,s64,u16,u32,u64}", "paa"},
    {"setp.{lo,ls,hi,hs}.{u16,u32,u64}", "paa"},
    {"setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{f32,f64}",
     "paa"},
    {"selp.{b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}", "daaq",
     Action::kSelect},
    // Moves and conversions.
    {"mov.{pred,b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}", "da"},
    {"cvta.to.global.u64", "da"},
    {"cvt.{u8,u16,u32,u64,s8,s16,s32,s64}.{u8,u16,u32,u64,s8,s16,s32,s64}",
     "df"},
    {"cvt.rn.{f32,f64}.{u8,u16,u32,u64,s8,s16,s32,s64}", "df"},
    {"cvt.rzi.{u32,u64,s32,s64}.{f32,f64}", "df"},
    {"cvt.{rni,rzi,rmi,rpi}.f32.f32", "df"},
    {"cvt.{rni,rzi,rmi,rpi}.f64.f64", "df"},
    {"cvt.rn.f32.f64", "df"},
    {"cvt.f64.f32", "df"},
    {"cvt.rn.f16.{f32,f64}", "df"},
    {"cvt.f32.f16", "df"},
    {"cvt.rn.bf16.f32", "df"},
    {"cvt.f32.bf16", "df"},
    // Memory.
    {"ld.param.{b8,u8,s8,b16,u16,s16,b32,u32,s32,b64,u64,s64,f32,f64}", "dP",
     Action::kLoadParameter},
    {"ld.global.{b8,u8,s8,b16,u16,s16,b32,u32,s32,b64,u64,s64,f32,f64}", "lM",
     Action::kLoad},
    {"ld.global.{v2,v4}.{b8,u8,b16,u16,b32,u32,s32,f32}", "lM", Action::kLoad},
    {"ld.global.v2.{b64,u64,s64,f64}", "lM", Action::kLoad},
    {"st.global.{b8,u8,s8,b16,u16,s16,b32,u32,s32,b64,u64,s64,f32,f64}", "Ms",
     Action::kStore},
    {"st.global.{v2,v4}.{b8,u8,b16,u16,b32,u32,s32,f32}", "Ms", Action::kStore},
    {"st.global.v2.{b64,u64,s64,f64}", "Ms", Action::kStore},
    {"ld.shared.{b8,u8,s8,b16,u16,s16,b32,u32,s32,b64,u64,s64,f32,f64}", "lS",
     Action::kLoadShared},
    {"ld.shared.{v2,v4}.{b8,u8,b16,u16,b32,u32,s32,f32}", "lS",
     Action::kLoadShared},
    {"ld.shared.v2.{b64,u64,s64,f64}", "lS", Action::kLoadShared},
    {"st.shared.{b8,u8,s8,b16,u16,s16,b32,u32,s32,b64,u64,s64,f32,f64}", "Ss",
     Action::kStoreShared},
    // Other threads.
    {"bar.sync", "i", Action::kBarrier},
    {"shfl.sync.{up,down,bfly,idx}.b32", "daiii", Action::kShuffle},
    // Control.
    {"bra", "L", Action::kBranch},
    {"bra.uni", "L", Action::kBranch},
    {"ret", "", Action::kReturn},
};

constexpr Pattern kPacks[] = {{"mov.{b32,b64}", "dvv", Action::kPack}};
constexpr Pattern kUnpacks[] = {{"mov.{b32,b64}", "uua", Action::kUnpack}};

// Every text that a pattern stands for.
std::vector<std::string> Expand(absl::string_view pattern) {
  const size_t open = pattern.find('{');
  if (open == absl::string_view::npos) return {std::string(pattern)};
  const size_t close = pattern.find('}', open);
  std::vector<std::string> texts;
  for (absl::string_view word :
       absl::StrSplit(pattern.substr(open + 1, close - open - 1), ',')) {
    for (const std::string& rest : Expand(pattern.substr(close + 1))) {
      texts.push_back(absl::StrCat(pattern.substr(0, open), word, rest));
    }
  }
  return texts;
}

ShuffleMode ShuffleModeOf(absl::string_view word) {
  if (word == "up") return ShuffleMode::kUp;
  if (word == "down") return ShuffleMode::kDown;
  return word == "bfly" ? ShuffleMode::kButterfly : ShuffleMode::kIndex;
}

Form MakeForm(const std::string& text, const Pattern& pattern) {
  Form form{
      .text = text, .action = pattern.action, .signature = pattern.signature};
  std::vector<absl::string_view> operation;
  std::vector<Type> types;
  for (absl::string_view word : absl::StrSplit(text, '.')) {
    Type type;
    if (word == "v2" || word == "v4") {
      form.vector = word == "v2" ? 2 : 4;
    } else if (FindType(word, type)) {
      types.push_back(type);
    } else {
      operation.push_back(word);
    }
  }
  if (!types.empty()) {
    form.type = types.front();
    form.from = types.back();
  }
  if (form.action == Action::kCompute) {
    form.evaluate =
        FindEvaluate(absl::StrJoin(operation, "."), form.type, form.from);
  }
  if (form.action == Action::kShuffle) {
    form.shuffle = ShuffleModeOf(operation.back());
  }
  return form;
}

using FormTable = absl::flat_hash_map<std::string, Form>;

template <size_t size>
FormTable MakeTable(const Pattern (&patterns)[size]) {
  FormTable table;
  for (const Pattern& pattern : patterns) {
    for (const std::string& text : Expand(pattern.text)) {
      table.emplace(text, MakeForm(text, pattern));
    }
  }
  return table;
}

const Form* Find(const FormTable& table, absl::string_view text) {
  const auto it = table.find(text);
  return it == table.end() ? nullptr : &it->second;
}

// Of PTX ISA 8.5, in the order of their names.
constexpr absl::string_view kOperations[] = {
    "abs",           "activemask", "add",
    "addc",          "alloca",     "and",
    "applypriority", "atom",       "bar",
    "barrier",       "bfe",        "bfi",
    "bfind",         "bmsk",       "bra",
    "brev",          "brkpt",      "brx",
    "call",          "clz",        "cnot",
    "copysign",      "cos",        "cp",
    "createpolicy",  "cvt",        "cvta",
    "discard",       "div",        "dp2a",
    "dp4a",          "elect",      "ex2",
    "exit",          "fence",      "fma",
    "fns",           "getctarank", "griddepcontrol",
    "isspacep",      "istypep",    "ld",
    "ldmatrix",      "ldu",        "lg2",
    "lop3",          "mad",        "mad24",
    "madc",          "mapa",       "match",
    "max",           "mbarrier",   "membar",
    "min",           "mma",        "mov",
    "movmatrix",     "mul",        "mul24",
    "multimem",      "nanosleep",  "neg",
    "not",           "or",         "pmevent",
    "popc",          "prefetch",   "prefetchu",
    "prmt",          "rcp",        "red",
    "redux",         "rem",        "ret",
    "rsqrt",         "sad",        "selp",
    "set",           "setmaxnreg", "setp",
    "shf",           "shfl",       "shl",
    "shr",           "sin",        "slct",
    "sqrt",          "st",         "stackrestore",
    "stacksave",     "stmatrix",   "sub",
    "subc",          "suld",       "suq",
    "sured",         "sust",       "szext",
    "tanh",          "tcgen05",    "tensormap",
    "testp",         "tex",        "tld4",
    "trap",          "txq",        "vabsdiff",
    "vabsdiff2",     "vabsdiff4",  "vadd",
    "vadd2",         "vadd4",      "vavrg2",
    "vavrg4",        "vmad",       "vmax",
    "vmax2",         "vmax4",      "vmin",
    "vmin2",         "vmin4",      "vote",
    "vset",          "vset2",      "vset4",
    "vshl",          "vshr",       "vsub",
    "vsub2",         "vsub4",      "wgmma",
    "wmma",          "xor",
};

struct Refusal {
  const char* word;  // of the instruction
  const char* why;
};
constexpr Refusal kRefusals[] = {
    {"bar", "the only barrier is `bar.sync` of the whole block"},
    {"barrier", "the only barrier is `bar.sync` of the whole block"},
    {"membar", "fences are not interpreted yet"},
    {"fence", "fences are not interpreted yet"},
    {"shfl", "shuffles are `shfl.sync` of 32 bits, without a predicate"},
    {"vote", "votes are not interpreted yet"},
    {"shared", "shared memory is read and written by `ld` and `st` alone"},
    {"local", "local memory is not interpreted: kernels have no stack frame"},
    {"atom", "atomics are not interpreted: their order is not fixed"},
    {"red", "atomics are not interpreted: their order is not fixed"},
    {"approx", "approximations have no fixed bits"},
    {"ftz", "denormals are kept"},
    {"sat", "results are not clamped"},
    {"nc", "results may be stored over operands, which `nc` forbids"},
    {"call", "kernels call no functions"},
};

}  // namespace

bool FindType(absl::string_view name, Type& type) {
  for (const TypeRow& row : kTypes) {
    if (name != row.name) continue;
    type = row.type;
    return true;
  }
  return false;
}

std::string TypeName(Type type) { return kTypes[static_cast<int>(type)].name; }

int BytesOf(Type type) { return kTypes[static_cast<int>(type)].bytes; }

bool IsFloat(Type type) { return type >= Type::kF16; }

bool IsSigned(Type type) { return type >= Type::kS8 && type <= Type::kS64; }

const Form* FindForm(absl::string_view text) {
  static const FormTable& table = *new FormTable(MakeTable(kPatterns));
  return Find(table, text);
}

const Form* FindPack(absl::string_view text) {
  static const FormTable& table = *new FormTable(MakeTable(kPacks));
  return Find(table, text);
}

const Form* FindUnpack(absl::string_view text) {
  static const FormTable& table = *new FormTable(MakeTable(kUnpacks));
  return Find(table, text);
}

bool IsOperation(absl::string_view text) {
  return absl::c_binary_search(kOperations, text.substr(0, text.find('.')));
}

std::string WhyRefused(absl::string_view text) {
  const std::vector<absl::string_view> words = absl::StrSplit(text, '.');
  for (const Refusal& refusal : kRefusals) {
    for (absl::string_view word : words) {
      if (word == refusal.word) return refusal.why;
    }
  }
  if (words.size() > 1 && (words[0] == "add" || words[0] == "mul" ||
                           words[0] == "sub" || words[0] == "fma")) {
    return "floats are rounded with `.rn`, or the driver may fuse them";
  }
  return "it is not in the table of testing/emulated_gpu/ptx/"
         "instruction_set.cc";
}

}  // namespace partita::ptx
