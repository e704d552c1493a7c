// The partita program: finds the subcommand and reports its errors.
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/option_error.h"
#include "graph/status_macros.h"
#include "partita/options/arguments.h"
#include "partita/options/input_files.h"
#include "partita/options/recognize_file.h"
#include "tools/partita/commands_json.h"
#include "tools/partita/cuda_libs_flag.h"
#include "tools/partita/flags_help.h"
#include "tools/partita/misplaced_files.h"
#include "tools/partita/output.h"
#include "tools/partita/subcommand.h"
#include "tools/partita/version_text.h"

namespace partita {
namespace {

constexpr const Subcommand* kCommands[] = {
    &kDevicesCommand,     &kProfileCommand, &kInspectCommand, &kCompileCommand,
    &kLeaderboardCommand, &kFitsCommand,    &kCheckCommand,   &kSimulateCommand,
    &kExplainCommand,     &kDiffCommand,    &kRunCommand,     &kTrainCommand,
    &kViewCommand};

// Exit codes: 0 done, 1 refused or failed, 2 called wrongly.
constexpr int kFailed = 1;
constexpr int kCalledWrongly = 2;

// What is to be done if no memory is left. Set before it can run out.
std::string memory_remedy;

constexpr absl::string_view kSummary =
    "partita: places a dataflow graph on devices, proves the plan, runs it.";

std::string Help() {
  std::string text =
      absl::StrCat(kSummary, "\n\nusage: partita COMMAND ...\n\n");
  for (const Subcommand* command : kCommands) {
    const std::string doc = command->doc;
    absl::StrAppend(&text, "  ", command->usage, "\n      ",
                    doc.substr(0, doc.find('\n')), "\n");
  }
  return text +
         "\n`partita COMMAND --help` says more, `partita help --json` all of "
         "it "
         "to programs; -o stands for --output; "
         "`partita "
         "--version` says which plans it reads.\n";
}

std::string HelpOf(const Subcommand& command) {
  std::string text =
      absl::StrCat("usage: partita ", command.usage, "\n\n", command.doc, "\n");
  for (const auto& [heading, flags] : command.groups) {
    absl::StrAppend(&text, "\n", heading, ":\n", FlagsHelp(flags));
  }
  if (command.groups.empty()) {
    absl::StrAppend(&text, "\nflags:\n", FlagsHelp(command.flags));
  }
  return text;
}

bool AsksForHelp(absl::Span<const char* const> words) {
  return absl::c_any_of(words, [](absl::string_view word) {
    return word == "--help" || word == "-h";
  });
}

std::vector<std::string> OperandsOf(const Subcommand& command) {
  std::vector<std::string> operands;
  for (const char* operand : {command.operand, command.second_operand}) {
    if (operand != nullptr) operands.push_back(absl::StrCat("one ", operand));
  }
  return operands;
}

// What its operand `i` is, where that is no file: "node".
const char* NounOfName(const Subcommand& command, size_t i) {
  const bool is_file = i != 1 || command.second_operand == nullptr ||
                       !command.second_reads.empty();
  return is_file ? nullptr : command.second_operand;
}

absl::Status CheckOperand(const Subcommand& command, size_t i,
                          absl::string_view operand) {
  const char* const noun = NounOfName(command, i);
  const bool is_stdin = noun == nullptr && operand == "-";
  if (!operand.empty() && !is_stdin) return absl::OkStatus();
  return CalledWrongly(absl::StrCat(
      command.name, ": found ",
      is_stdin ? "-, and standard input is not read" : "an empty operand",
      "; expected the name of a ", noun == nullptr ? "file" : noun));
}

absl::Status CheckOperands(const Subcommand& command,
                           const Arguments& arguments) {
  for (size_t i = 0; i < arguments.positional().size(); ++i) {
    PARTITA_RETURN_IF_ERROR(
        CheckOperand(command, i, arguments.positional()[i]));
  }
  const size_t found = arguments.positional().size();
  if (command.repeats_operand) return absl::OkStatus();
  const std::vector<std::string> expected = OperandsOf(command);
  if (found == expected.size()) return absl::OkStatus();
  return CalledWrongly(absl::StrCat(
      command.name, ": found ", found, found == 1 ? " operand" : " operands",
      "; expected ",
      expected.empty() ? "none" : absl::StrJoin(expected, " and ")));
}

// Like any program whose output nobody reads: the parent sees the usual status,
// but the work has ended in order.
[[noreturn]] void EndUnread() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  std::_Exit(kFailed);  // it was blocked
}

// A library's error about an option, in terms of the flag that set it.
absl::Status InTermsOfFlags(const absl::Status& status) {
  const std::string option = OptionOf(status);
  if (option.empty()) return status;
  const bool begins = absl::StartsWith(status.message(), option);
  return CalledWrongly(absl::StrCat(begins ? "--" : "", status.message()));
}

int ExitCode(absl::Status status) {
  if (status.ok()) return 0;
  if (HasNoReader(status)) EndUnread();
  status = InTermsOfFlags(status);
  WriteError(status.message());
  return IsCalledWrongly(status) ? kCalledWrongly : kFailed;
}

// Flags that make the command's model smaller; empty if none does.
std::string SizeFlagsOf(const Subcommand& command, const Arguments& arguments) {
  if (command.size_flags != nullptr) return command.size_flags(arguments);
  const bool takes_dims =
      absl::c_any_of(command.flags, [](const FlagDef& flag) {
        return absl::string_view(flag.name) == "dim";
      });
  const bool has_open_dims =
      absl::c_any_of(arguments.positional(), [](const std::string& path) {
        return KindOfFile(path) == FileKind::kOnnxModel;
      });
  return takes_dims && has_open_dims ? "--dim, --shape" : "";
}

std::string MemoryRemedy(const std::string& flags) {
  constexpr absl::string_view kMore = "raise its limit (ulimit -v)";
  return flags.empty()
             ? absl::StrCat("free memory, or ", kMore)
             : absl::StrCat("free memory, ", kMore,
                            ", or make the model smaller (", flags, ")");
}

absl::Status RunCommand(const Subcommand& command,
                        absl::Span<const char* const> words) {
  if (AsksForHelp(words)) return WriteText("-", HelpOf(command));
  PARTITA_ASSIGN_OR_RETURN(const Arguments arguments,
                           Arguments::Parse(words, command.flags));
  PARTITA_RETURN_IF_ERROR(CheckOperands(command, arguments));
  PARTITA_RETURN_IF_ERROR(InputFiles(arguments, command.flags).Keep());
  PARTITA_RETURN_IF_ERROR(CheckFileKinds(command, arguments));
  PARTITA_RETURN_IF_ERROR(UseCudaLibsFlag(arguments));
  memory_remedy = MemoryRemedy(SizeFlagsOf(command, arguments));
  return command.run(arguments);
}

absl::Status NoSuchCommand(absl::string_view name) {
  std::vector<std::string> names;
  for (const Subcommand* command : kCommands) names.push_back(command->name);
  const std::string listed = absl::StrJoin(names, ", ");
  names.insert(names.end(), {"--help", "--version"});
  return CalledWrongly(absl::StrCat("found no command ", name,
                                    "; expected one of: ", listed,
                                    NearestText(name, names)));
}

// Of a word that takes none after it.
absl::Status CheckHasNoOperand(absl::string_view name,
                               absl::Span<const char* const> operands) {
  const size_t found = operands.size();
  if (found == 0) return absl::OkStatus();
  return CalledWrongly(absl::StrCat(name, ": found ", found,
                                    found == 1 ? " operand" : " operands",
                                    "; expected none"));
}

absl::Status WriteVersion(absl::Span<const char* const> operands) {
  PARTITA_RETURN_IF_ERROR(CheckHasNoOperand("--version", operands));
  return WriteText("-", VersionText());
}

// `partita help COMMAND`, and `partita help --json`.
absl::Status WriteHelpOf(absl::string_view name,
                         absl::Span<const char* const> operands) {
  PARTITA_RETURN_IF_ERROR(
      CheckHasNoOperand(absl::StrCat("help ", name), operands));
  if (name == "--json")
    return WriteText("-", CommandsJson(kSummary, kCommands));
  for (const Subcommand* command : kCommands) {
    if (name == command->name) return WriteText("-", HelpOf(*command));
  }
  return NoSuchCommand(name);
}

absl::Status Main(absl::Span<const char* const> words) {
  const absl::string_view name = words.empty() ? "" : words[0];
  const bool asks_for_help = name == "--help" || name == "-h" || name == "help";
  if (asks_for_help && words.size() > 1) {
    return WriteHelpOf(words[1], words.subspan(2));
  }
  if (asks_for_help) return WriteText("-", Help());
  if (name == "--version") return WriteVersion(words.subspan(1));
  if (name.empty()) {
    return CalledWrongly(absl::StrCat("found no command\n\n", Help()));
  }
  for (const Subcommand* command : kCommands) {
    if (name == command->name) return RunCommand(*command, words.subspan(1));
  }
  return NoSuchCommand(name);
}

[[noreturn]] void EndOutOfMemory() {
  std::fprintf(
      stderr,
      "partita: found no memory left in this process; expected room for the "
      "model, its weights and the arenas; %s\n",
      memory_remedy.c_str());
  std::_Exit(kFailed);
}

// Thrown if no thread can be started; no other system error is expected.
[[noreturn]] void EndOutOfThreads(const std::system_error& error) {
  if (error.code() != std::errc::resource_unavailable_try_again) std::abort();
  std::fprintf(
      stderr,
      "partita: found no room to start another thread (%s); expected room for "
      "one a stream and one a worker; raise the limit of processes (ulimit -u) "
      "or of memory (ulimit -v), or take fewer --workers or a --machine of "
      "fewer devices\n",
      error.code().message().c_str());
  std::_Exit(kFailed);
}

// main cannot catch exceptions from threads of a stream or a kernel.
void OnTerminate() {
  const std::exception_ptr thrown = std::current_exception();
  try {
    if (thrown != nullptr) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    EndOutOfMemory();
  } catch (const std::system_error& error) {
    EndOutOfThreads(error);
  } catch (...) {
  }
  std::abort();
}

// A file that is opened later must not become standard output. Opened
// read-only, so that writing to it is still an error.
void HoldStandardStreams() {
  int fd;
  do {
    fd = open("/dev/null", O_RDONLY);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  close(fd);
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  partita::HoldStandardStreams();
  // A file that may not grow, and a pipe without a reader, are write errors and
  // do not end the program.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::set_terminate(partita::OnTerminate);
  const absl::Span<const char* const> words(argv, argc);
  try {
    return partita::ExitCode(partita::Main(words.subspan(argc > 0 ? 1 : 0)));
  } catch (const std::bad_alloc&) {  // after unfinished files are removed
    partita::EndOutOfMemory();
  } catch (const std::system_error& error) {
    partita::EndOutOfThreads(error);
  }
}
