// Loops over partial sends and receives.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/framed_text.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace partita {
namespace {

bool SendBytes(int socket, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t sent = send(socket, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

bool IsReadable(int socket, int milliseconds) {
  pollfd poll_for = {socket, POLLIN, 0};
  for (;;) {
    const int ready = poll(&poll_for, 1, milliseconds);
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0;
  }
}

bool ReceiveBytes(int socket, int milliseconds, char* bytes, size_t size) {
  while (size > 0) {
    if (!IsReadable(socket, milliseconds)) return false;
    const ssize_t received = recv(socket, bytes, size, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    bytes += received;
    size -= static_cast<size_t>(received);
  }
  return true;
}

}  // namespace

bool SendText(int socket, const std::string& text) {
  const uint32_t size = static_cast<uint32_t>(text.size());
  if (text.size() > kMostFramedBytes) return false;
  char head[sizeof(size)];
  std::memcpy(head, &size, sizeof(size));
  return SendBytes(socket, head, sizeof(head)) &&
         SendBytes(socket, text.data(), text.size());
}

bool ReceiveText(int socket, int milliseconds, std::string& text) {
  uint32_t size = 0;
  char head[sizeof(size)];
  if (!ReceiveBytes(socket, milliseconds, head, sizeof(head))) return false;
  std::memcpy(&size, head, sizeof(size));
  if (size > kMostFramedBytes) return false;
  text.resize(size);
  return ReceiveBytes(socket, milliseconds, text.data(), size);
}

}  // namespace partita
