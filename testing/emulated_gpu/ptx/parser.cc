// Directives, declarations, labels and instructions.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/parser.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/status_macros.h"
#include "testing/emulated_gpu/ptx/raw_operand.h"
#include "testing/emulated_gpu/ptx/register_names.h"
#include "testing/emulated_gpu/ptx/tokens.h"

namespace partita::ptx {
namespace {

struct SpecialName {
  const char* name;
  Special special;
};
constexpr SpecialName kSpecials[] = {
    {"%tid.x", Special::kTidX},       {"%tid.y", Special::kTidY},
    {"%tid.z", Special::kTidZ},       {"%ntid.x", Special::kNtidX},
    {"%ntid.y", Special::kNtidY},     {"%ntid.z", Special::kNtidZ},
    {"%ctaid.x", Special::kCtaidX},   {"%ctaid.y", Special::kCtaidY},
    {"%ctaid.z", Special::kCtaidZ},   {"%nctaid.x", Special::kNctaidX},
    {"%nctaid.y", Special::kNctaidY}, {"%nctaid.z", Special::kNctaidZ},
};

bool IsBits(Type type) { return type >= Type::kB8 && type <= Type::kB64; }

// Whether an instruction of `type` may use such a register. Loads, stores and
// conversions may use wider ones.
bool Fits(Type held, Type type, bool may_be_wider) {
  if ((held == Type::kPred) != (type == Type::kPred)) return false;
  const bool is_wider = BytesOf(held) > BytesOf(type);
  if (BytesOf(held) < BytesOf(type) || (is_wider && !may_be_wider)) {
    return false;
  }
  if (IsBits(held) || (IsBits(type) && !is_wider)) return true;
  if (IsFloat(held) || IsFloat(type)) return held == type;
  return true;
}

// The type of a signature's letter.
Type HalfOf(Type type) { return type == Type::kB64 ? Type::kB32 : Type::kB16; }
Type TwiceOf(Type type) {
  switch (type) {
    case Type::kS16:
      return Type::kS32;
    case Type::kU16:
      return Type::kU32;
    case Type::kS32:
      return Type::kS64;
    default:
      return Type::kU64;
  }
}

// Between variables in shared memory, so that an access behind one is seen.
constexpr uint64_t kSharedGap = 4096;
constexpr uint64_t kMostSharedBytes = 48 << 10;  // of a variable

class Parser {
 public:
  Parser(absl::string_view text, absl::string_view name)
      : tokens_(text), name_(name) {}

  absl::StatusOr<Module> Parse() {
    PARTITA_RETURN_IF_ERROR(ParseHead());
    while (!tokens_.peek().text.empty()) {
      PARTITA_RETURN_IF_ERROR(ParseKernel());
    }
    return std::move(module_);
  }

 private:
  std::string Here(int line) const { return absl::StrCat(name_, ":", line); }
  static std::string Shown(absl::string_view text) {
    constexpr size_t kMost = 60;
    if (text.empty()) return "the end of the text";
    return absl::StrCat("`", text.substr(0, kMost), "`");
  }
  absl::Status Wrong(int line, absl::string_view found,
                     absl::string_view expected) const {
    return absl::InvalidArgumentError(
        absl::StrCat(Here(line), ": found ", found, "; expected ", expected));
  }
  absl::Status WrongNext(absl::string_view expected) const {
    return Wrong(tokens_.peek().line, Shown(tokens_.peek().text), expected);
  }
  absl::Status Refused(int line, absl::string_view found,
                       absl::string_view why) const {
    return absl::UnimplementedError(
        absl::StrCat(Here(line), ": found ", found,
                     "; expected what the interpreter of PTX executes: ", why));
  }
  absl::Status Expect(absl::string_view text) {
    if (tokens_.Accept(text)) return absl::OkStatus();
    return WrongNext(absl::StrCat("`", text, "`"));
  }
  absl::Status TakeName(absl::string_view what, std::string& name) {
    if (!IsWord(tokens_.peek()) || tokens_.peek().text.front() == '.') {
      return WrongNext(what);
    }
    name = std::string(tokens_.Take().text);
    return absl::OkStatus();
  }
  absl::Status TakeNumber(uint32_t& number) {
    if (absl::SimpleAtoi(tokens_.peek().text, &number)) {
      tokens_.Take();
      return absl::OkStatus();
    }
    return WrongNext("a number");
  }

  // .version 8.0 .target sm_80 .address_size 64
  absl::Status ParseHead() {
    PARTITA_RETURN_IF_ERROR(Expect(".version"));
    const Token version = tokens_.Take();
    double number = 0;
    if (!absl::SimpleAtod(version.text, &number) || !(number >= 1) ||
        !(number < 100)) {
      return Wrong(version.line, Shown(version.text), "a version as 8.0");
    }
    module_.version = static_cast<int>(number * 10 + 0.5);
    PARTITA_RETURN_IF_ERROR(Expect(".target"));
    PARTITA_RETURN_IF_ERROR(TakeName("a target as sm_80", module_.target));
    PARTITA_RETURN_IF_ERROR(Expect(".address_size"));
    return Expect("64");
  }

  absl::Status ParseKernel() {
    const Token first = tokens_.peek();
    if (!tokens_.Accept(".visible") || tokens_.peek().text != ".entry") {
      return Refused(first.line, Shown(first.text),
                     "a text has kernels, `.visible .entry`, alone");
    }
    tokens_.Take();
    kernel_ = Kernel();
    registers_ = RegisterNames();
    labels_.clear();
    branches_.clear();
    PARTITA_RETURN_IF_ERROR(TakeName("the name of a kernel", kernel_.name));
    if (!names_.insert(kernel_.name).second) {
      return Wrong(first.line, absl::StrCat("a second kernel ", kernel_.name),
                   "another name");
    }
    PARTITA_RETURN_IF_ERROR(ParseParameters());
    PARTITA_RETURN_IF_ERROR(ParseLimits());
    PARTITA_RETURN_IF_ERROR(ParseBody());
    kernel_.registers = registers_.count();
    module_.kernels.push_back(std::move(kernel_));
    return absl::OkStatus();
  }

  absl::Status ParseParameters() {
    PARTITA_RETURN_IF_ERROR(Expect("("));
    if (tokens_.Accept(")")) return absl::OkStatus();
    do {
      PARTITA_RETURN_IF_ERROR(ParseParameter());
    } while (tokens_.Accept(","));
    return Expect(")");
  }
  absl::Status ParseParameter() {
    PARTITA_RETURN_IF_ERROR(Expect(".param"));
    const Token word = tokens_.peek();
    Type type;
    PARTITA_RETURN_IF_ERROR(TakeType(type));
    if (type == Type::kPred) return Wrong(word.line, "`.pred`", "a number");
    Parameter parameter{.bytes = BytesOf(type)};
    PARTITA_RETURN_IF_ERROR(
        TakeName("the name of a parameter", parameter.name));
    if (tokens_.peek().text == "[") {
      return Refused(word.line, "an array as a parameter",
                     "parameters are single numbers");
    }
    if (kernel_.parameters.size() == kMostParameters) {
      return Wrong(word.line,
                   absl::StrCat("more than ", kMostParameters, " parameters"),
                   "fewer");
    }
    kernel_.parameters.push_back(std::move(parameter));
    return absl::OkStatus();
  }
  absl::Status TakeType(Type& type) {
    absl::string_view word = tokens_.peek().text;
    if (!absl::ConsumePrefix(&word, ".") || !FindType(word, type)) {
      return WrongNext("a type as .u64");
    }
    tokens_.Take();
    return absl::OkStatus();
  }

  // .maxntid 256, 1, 1 for at most so many threads, .reqntid for as many;
  // .minnctapersm 4 for the blocks that the assembler leaves registers for
  absl::Status ParseLimits() {
    while (tokens_.peek().text == ".maxntid" ||
           tokens_.peek().text == ".reqntid" ||
           tokens_.peek().text == ".minnctapersm") {
      if (tokens_.Accept(".minnctapersm")) {
        uint32_t blocks = 0;
        PARTITA_RETURN_IF_ERROR(TakeNumber(blocks));
        if (blocks < 1) return WrongNext("1 or more blocks before it");
        continue;
      }
      kernel_.needs_most_threads = tokens_.Take().text == ".reqntid";
      uint64_t threads = 1;
      do {
        uint32_t extent = 0;
        PARTITA_RETURN_IF_ERROR(TakeNumber(extent));
        threads *= extent;
        if (threads < 1 || threads > 1024) {
          return WrongNext("1 to 1024 threads of a block before it");
        }
      } while (tokens_.Accept(","));
      kernel_.most_threads = static_cast<uint32_t>(threads);
    }
    return absl::OkStatus();
  }

  absl::Status ParseBody() {
    PARTITA_RETURN_IF_ERROR(Expect("{"));
    while (true) {
      const Token token = tokens_.peek();
      if (token.text.empty()) return WrongNext("`}` at the kernel's end");
      if (tokens_.Accept("{")) {
        registers_.Enter();
      } else if (tokens_.Accept("}")) {
        if (!registers_.Leave()) return EndBody(token.line);
      } else {
        PARTITA_RETURN_IF_ERROR(ParseStatement());
      }
    }
  }
  absl::Status EndBody(int line) {
    const std::vector<Instruction>& all = kernel_.instructions;
    const bool ends = !all.empty() &&
                      all.back().guard == Operand::kNoRegister &&
                      (all.back().form->action == Action::kReturn ||
                       all.back().form->action == Action::kBranch);
    if (!ends) return Wrong(line, "the end of a kernel", "`ret` before it");
    for (const auto& [instruction, label] : branches_) {
      Instruction& branch = kernel_.instructions[instruction];
      const auto target = labels_.find(label);
      if (target == labels_.end() || target->second >= all.size()) {
        return Wrong(branch.line, absl::StrCat("a branch to ", Shown(label)),
                     "a label before an instruction");
      }
      branch.target = target->second;
    }
    return absl::OkStatus();
  }

  absl::Status ParseStatement() {
    const Token token = tokens_.peek();
    if (token.text == ".reg") return ParseRegisters();
    if (token.text == ".shared") return ParseSharedVariable();
    if (token.text == ".pragma") return ParsePragma();
    if (token.text.front() == '.') {
      return Refused(token.line, Shown(token.text),
                     "kernels declare registers and shared memory alone");
    }
    Instruction instruction{.line = token.line};
    if (tokens_.Accept("@")) {
      instruction.guard_negated = tokens_.Accept("!");
      const Token name = tokens_.Take();
      const auto found = registers_.Find(name.text);
      if (!found.has_value() || found->type != Type::kPred) {
        return Wrong(name.line, Shown(name.text), "a predicate register");
      }
      instruction.guard = found->number;
    }
    const Token word = tokens_.peek();
    if (!IsWord(word)) return WrongNext("an instruction");
    tokens_.Take();
    if (instruction.guard == Operand::kNoRegister && tokens_.Accept(":")) {
      return AddLabel(word);
    }
    return ParseInstruction(word, instruction);
  }
  // .pragma "nounroll"; which says to the assembler how to compile a loop, not
  // what it computes.
  absl::Status ParsePragma() {
    const int line = tokens_.Take().line;
    PARTITA_RETURN_IF_ERROR(Expect("\""));
    const Token word = tokens_.Take();
    if (word.text != "nounroll") {
      return Refused(line, absl::StrCat("the pragma ", Shown(word.text)),
                     "loops that are not unrolled");
    }
    PARTITA_RETURN_IF_ERROR(Expect("\""));
    return Expect(";");
  }
  absl::Status AddLabel(const Token& word) {
    const uint32_t next = static_cast<uint32_t>(kernel_.instructions.size());
    if (labels_.try_emplace(word.text, next).second) return absl::OkStatus();
    return Wrong(word.line,
                 absl::StrCat("the label ", Shown(word.text), " again"),
                 "another name");
  }

  // .reg .b32 %r<60>, tmp;
  absl::Status ParseRegisters() {
    tokens_.Take();
    Type type;
    PARTITA_RETURN_IF_ERROR(TakeType(type));
    do {
      const int line = tokens_.peek().line;
      std::string name;
      PARTITA_RETURN_IF_ERROR(TakeName("the name of a register", name));
      std::optional<uint32_t> count;
      if (tokens_.Accept("<")) {
        PARTITA_RETURN_IF_ERROR(TakeNumber(count.emplace()));
        PARTITA_RETURN_IF_ERROR(Expect(">"));
      }
      const std::string fault = registers_.Declare(name, type, count);
      if (!fault.empty()) {
        return Refused(line, fault, "each name once, in bounds");
      }
    } while (tokens_.Accept(","));
    return Expect(";");
  }

  // .shared .align 8 .b8 name[64];
  absl::Status ParseSharedVariable() {
    const int line = tokens_.Take().line;
    uint32_t align = 1;
    if (tokens_.Accept(".align")) PARTITA_RETURN_IF_ERROR(TakeNumber(align));
    Type type;
    PARTITA_RETURN_IF_ERROR(TakeType(type));
    SharedVariable variable;
    PARTITA_RETURN_IF_ERROR(TakeName("the name of a variable", variable.name));
    uint32_t count = 1;
    if (tokens_.Accept("[")) {
      PARTITA_RETURN_IF_ERROR(TakeNumber(count));
      PARTITA_RETURN_IF_ERROR(Expect("]"));
    }
    variable.bytes = uint64_t{count} * BytesOf(type);
    if (kernel_.shared.size() == kMostSharedVariables ||
        FindShared({false, variable.name}).has_value() || type == Type::kPred ||
        variable.bytes == 0 || variable.bytes > kMostSharedBytes ||
        align == 0 || kSharedGap % align != 0) {
      return Wrong(
          line, absl::StrCat("such a variable ", variable.name),
          absl::StrCat("at most ", kMostSharedVariables,
                       " with names of their own, of 1 to ", kMostSharedBytes,
                       " bytes, with alignments that divide ", kSharedGap));
    }
    variable.address =
        (kernel_.shared.size() + 1) * (kMostSharedBytes + kSharedGap);
    kernel_.shared.push_back(std::move(variable));
    return Expect(";");
  }
  // The address of a variable in shared memory.
  std::optional<uint64_t> FindShared(const RawWord& word) const {
    for (const SharedVariable& variable : kernel_.shared) {
      if (!word.negative && word.text == variable.name) return variable.address;
    }
    return std::nullopt;
  }

  absl::Status ParseInstruction(const Token& word, Instruction& instruction) {
    const std::optional<std::vector<RawOperand>> raw = ReadOperands(tokens_);
    if (!raw.has_value()) {
      return WrongNext(absl::StrCat("the operands of ", Shown(word.text)));
    }
    PARTITA_RETURN_IF_ERROR(Expect(";"));
    instruction.form = FormOf(word.text, *raw);
    if (instruction.form == nullptr && !IsOperation(word.text)) {
      return Wrong(word.line,
                   absl::StrCat("the instruction ", Shown(word.text)),
                   "an instruction of PTX");
    }
    if (instruction.form == nullptr) {
      return Refused(word.line,
                     absl::StrCat("the instruction ", Shown(word.text)),
                     WhyRefused(word.text));
    }
    const std::string fault = Resolve(*raw, instruction);
    if (!fault.empty()) {
      return Wrong(word.line, fault,
                   absl::StrCat("the operands of ", Shown(word.text)));
    }
    const Action action = instruction.form->action;
    kernel_.synchronizes |=
        action == Action::kBarrier || action == Action::kShuffle;
    kernel_.instructions.push_back(instruction);
    return absl::OkStatus();
  }

  static const Form* FormOf(absl::string_view text,
                            const std::vector<RawOperand>& raw) {
    const auto is_vector = [&](size_t i) {
      return raw.size() > i && raw[i].kind == RawOperand::Kind::kVector;
    };
    if (!absl::StartsWith(text, "mov.")) return FindForm(text);
    if (is_vector(0)) return FindUnpack(text);
    return is_vector(1) ? FindPack(text) : FindForm(text);
  }

  // Fills in the operands by the form's signature; returns what is wrong.
  std::string Resolve(const std::vector<RawOperand>& raw,
                      Instruction& instruction) {
    const Form& form = *instruction.form;
    // A vector stands for several letters of a pack, and for one of a load.
    size_t next = 0;
    size_t letter = 0;
    for (const RawOperand& operand : raw) {
      if (letter == form.signature.size()) return "more operands";
      const char kind = form.signature[letter];
      if (kind == 'M' || kind == 'P' || kind == 'S') {
        const std::string fault =
            ResolveBracket(operand, kind, form, instruction.operands[next++]);
        if (!fault.empty()) return fault;
        ++letter;
        continue;
      }
      if (operand.kind == RawOperand::Kind::kBracket) return "an address";
      const size_t words = WordsOf(kind, form);
      const bool is_vector = operand.kind == RawOperand::Kind::kVector;
      if (operand.words.size() != words || is_vector != (words > 1)) {
        return "a vector of another length";
      }
      for (const RawWord& word : operand.words) {
        const std::string fault = ResolveWord(word, kind, form, instruction,
                                              instruction.operands[next++]);
        if (!fault.empty()) return fault;
      }
      letter += kind == 'v' || kind == 'u' ? words : 1;
    }
    return letter == form.signature.size() ? "" : "fewer operands";
  }
  static size_t WordsOf(char kind, const Form& form) {
    if (kind == 'v' || kind == 'u') return 2;
    return kind == 'l' || kind == 's' ? static_cast<size_t>(form.vector) : 1;
  }

  std::string ResolveWord(const RawWord& word, char kind, const Form& form,
                          Instruction& instruction, Operand& operand) {
    const std::string shown =
        absl::StrCat(word.negative ? "-" : "", word.text.substr(0, 60));
    switch (kind) {
      case 'd':
      case 'l':
        return ToRegister(word, form.type, kind == 'l' || IsConversion(form),
                          operand);
      case 'D':
        return ToRegister(word, TwiceOf(form.type), false, operand);
      case 'u':
        return ToRegister(word, HalfOf(form.type), false, operand);
      case 'p':
      case 'q':
        return ToRegister(word, Type::kPred, false, operand);
      case 'a':
        return ToValue(word, form.type, false, operand);
      case 's':
        return ToValue(word, form.type, true, operand);
      case 'f':
        return ToValue(word, form.from, true, operand);
      case 'v':
        return ToValue(word, HalfOf(form.type), false, operand);
      case 'i':
        return ToValue(word, Type::kU32, false, operand);
      default:
        break;
    }
    if (word.negative) return shown;
    branches_.emplace_back(static_cast<uint32_t>(kernel_.instructions.size()),
                           std::string(word.text));
    return "";
  }
  static bool IsConversion(const Form& form) { return form.signature == "df"; }

  std::string ToRegister(const RawWord& word, Type type, bool may_be_wider,
                         Operand& operand) const {
    const auto found = registers_.Find(word.text);
    if (word.negative || !found.has_value()) {
      return absl::StrCat(Shown(word.text), ", which is no register");
    }
    if (!Fits(found->type, type, may_be_wider)) {
      return absl::StrCat("the register ", Shown(word.text), " of type .",
                          TypeName(found->type));
    }
    operand = {.kind = Operand::Kind::kRegister,
               .index = found->number,
               .bits = static_cast<uint64_t>(BytesOf(found->type))};
    return "";
  }
  std::string ToValue(const RawWord& word, Type type, bool may_be_wider,
                      Operand& operand) {
    if (!word.negative && registers_.Find(word.text).has_value()) {
      return ToRegister(word, type, may_be_wider, operand);
    }
    for (const SpecialName& special : kSpecials) {
      if (word.negative || word.text != special.name) continue;
      if (IsFloat(type) || BytesOf(type) != 4) return "a place of another size";
      operand = {.kind = Operand::Kind::kSpecial,
                 .index = static_cast<uint32_t>(special.special)};
      return "";
    }
    if (BytesOf(type) == 8 && !IsFloat(type)) {
      if (const std::optional<uint64_t> address = FindShared(word)) {
        operand = {.kind = Operand::Kind::kImmediate, .bits = *address};
        return "";
      }
    }
    const std::optional<uint64_t> number = ReadNumber(word, type);
    if (!number.has_value()) {
      return absl::StrCat(word.negative ? "-" : "", Shown(word.text),
                          ", which is neither a register nor a number of .",
                          TypeName(type));
    }
    operand = {.kind = Operand::Kind::kImmediate, .bits = *number};
    return "";
  }

  // [%rd1], [%rd1+8], [name], [name+4]; a name is that of a parameter or of a
  // variable in shared memory.
  std::string ResolveBracket(const RawOperand& raw, char kind, const Form& form,
                             Operand& operand) {
    if (raw.kind != RawOperand::Kind::kBracket) return "no address";
    uint64_t offset = 0;
    if (raw.words.size() == 2) {
      const auto number = ReadNumber(raw.words[1], Type::kS64);
      if (!number.has_value()) return "no number after `+`";
      offset = *number;
    }
    if (kind != 'P') {
      const std::optional<uint64_t> shared =
          kind == 'S' ? FindShared(raw.words[0]) : std::nullopt;
      if (shared.has_value()) {
        operand = {.kind = Operand::Kind::kAddress, .bits = *shared + offset};
        return "";
      }
      const std::string fault =
          ToRegister(raw.words[0], Type::kB64, false, operand);
      operand.kind = Operand::Kind::kAddress;
      operand.bits = offset;
      return fault;
    }
    for (size_t i = 0; i < kernel_.parameters.size(); ++i) {
      const Parameter& parameter = kernel_.parameters[i];
      if (raw.words[0].negative || raw.words[0].text != parameter.name) {
        continue;
      }
      if (offset > 8 || offset + BytesOf(form.type) >
                            static_cast<uint64_t>(parameter.bytes)) {
        return absl::StrCat("bytes outside the parameter ", parameter.name);
      }
      operand = {.kind = Operand::Kind::kParameter,
                 .index = static_cast<uint32_t>(i),
                 .bits = offset};
      return "";
    }
    return absl::StrCat(Shown(raw.words[0].text), ", which is no parameter");
  }

  Tokens tokens_;
  absl::string_view name_;
  Module module_;
  absl::flat_hash_set<std::string> names_;  // of kernels
  Kernel kernel_;                           // the one that is read
  RegisterNames registers_;
  absl::flat_hash_map<std::string, uint32_t> labels_;
  std::vector<std::pair<uint32_t, std::string>> branches_;
};

}  // namespace

const Kernel* Module::Find(const std::string& name) const {
  for (const Kernel& kernel : kernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

absl::StatusOr<Module> ParseModule(absl::string_view text,
                                   absl::string_view name) {
  if (text.size() > kMostTextBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": found ", text.size(), " bytes; expected at most ",
                     kMostTextBytes));
  }
  return Parser(text, name).Parse();
}

}  // namespace partita::ptx
