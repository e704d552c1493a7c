// Texts over a stream socket, each after its length.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_FRAMED_TEXT_H_
#define PARTITA_KERNELS_CPU_FRAMED_TEXT_H_

#include <cstdint>
#include <string>

namespace partita {

// More than any question or answer has.
inline constexpr uint32_t kMostFramedBytes = uint32_t{1} << 28;

// False if the other end is closed.
bool SendText(int socket, const std::string& text);

// False if the other end is closed, sends no frame, or nothing arrives within
// `milliseconds`; -1 waits without a limit.
bool ReceiveText(int socket, int milliseconds, std::string& text);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_FRAMED_TEXT_H_
