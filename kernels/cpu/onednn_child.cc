// Starts the program, with a socket to it.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/status_macros.h"
#include "kernels/companion_file.h"
#include "kernels/cpu/framed_text.h"
#include "kernels/cpu/onednn_isa.h"

namespace partita {
namespace {

constexpr char kFile[] = "partita_onednn";
// The build's folder, below the root of the runfiles.
constexpr char kInRunfiles[] = "partita/kernels/cpu";
// Answers take milliseconds, but a loaded machine may be slow.
constexpr int kMostMilliseconds = 120000;

// This process's environment, with oneDNN limited to `isa`.
std::vector<std::string> EnvironmentFor(const std::string& isa) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (absl::StartsWith(*variable, "ONEDNN_MAX_CPU_ISA=") ||
        absl::StartsWith(*variable, "DNNL_MAX_CPU_ISA=")) {
      continue;
    }
    variables.emplace_back(*variable);
  }
  variables.push_back(absl::StrCat("ONEDNN_MAX_CPU_ISA=", OnednnNameOf(isa)));
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The socket is its standard input; oneDNN's output is discarded.
int Spawn(const std::string& path, const std::string& isa, int socket,
          pid_t* process) {
  std::vector<std::string> arguments = {path, isa};
  std::vector<std::string> variables = EnvironmentFor(isa);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY,
                                   0);
  const int error =
      posix_spawn(process, path.c_str(), &files, nullptr,
                  Pointers(arguments).data(), Pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  return error;
}

}  // namespace

OnednnChild& OnednnChild::For(const std::string& isa) {
  static std::mutex& mutex = *new std::mutex;
  static auto& processes =
      *new std::map<std::string, std::unique_ptr<OnednnChild>>;
  const std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<OnednnChild>& process = processes[isa];
  if (process == nullptr) process.reset(new OnednnChild(isa));
  return *process;
}

absl::Status OnednnChild::Check() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

absl::StatusOr<std::string> OnednnChild::Ask(const std::string& question) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!started_) {
    started_ = true;
    status_ = Start();
  }
  PARTITA_RETURN_IF_ERROR(status_);
  if (!SendText(socket_, question)) return Fail("it ended");
  return Receive();
}

// The first letter of an answer distinguishes it from an error.
absl::StatusOr<std::string> OnednnChild::Receive() {
  std::string text;
  if (!ReceiveText(socket_, kMostMilliseconds, text)) {
    return Fail("it ended or gave no answer");
  }
  if (absl::StartsWith(text, "+")) return text.substr(1);
  return Fail(text);
}

absl::Status OnednnChild::Start() {
  if (OnednnNameOf(isa_).empty()) {
    return Fail("found an instruction set that oneDNN does not know");
  }
  const std::string path = FindCompanion(kFile, kInRunfiles);
  if (path.empty()) {
    return Fail(
        absl::StrCat("found no ", kFile, " in ",
                     absl::StrJoin(CompanionFolders(kInRunfiles), ", "),
                     "; expected it in one of them; set PARTITA_LIBRARY_PATH"));
  }
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return Fail("found no socket left");
  }
  const int error = Spawn(path, isa_, sockets[1], &process_);
  close(sockets[1]);
  socket_ = sockets[0];
  if (error != 0) {
    process_ = -1;
    return Fail(absl::StrCat("found that ", path,
                             " does not start: ", std::strerror(error)));
  }
  return Greet();
}

// The first message identifies the program.
absl::Status OnednnChild::Greet() {
  PARTITA_ASSIGN_OR_RETURN(const std::string found, Receive());
  if (found == absl::StrCat(OnednnVersion(), " ", isa_)) {
    return absl::OkStatus();
  }
  return Fail(absl::StrCat("found oneDNN ", found));
}

absl::Status OnednnChild::Fail(const std::string& what) {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  process_ = -1;
  const std::string here(IsaOfOnednn());
  status_ = absl::UnavailableError(absl::StrCat(
      "onednn cannot report on this host which kernels it has for a cpu with "
      "isa ",
      isa_, ": ", what, "; compile on a host that has it, or give the device ",
      here.empty() ? "another isa"
                   : absl::StrCat("the isa that oneDNN uses here, ", here)));
  return status_;
}

}  // namespace partita
