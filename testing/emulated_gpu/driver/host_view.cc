// What the host sees of what device work writes to its memory.
// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <variant>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/driver/driver.h"

namespace partita::emulated_gpu {

UnseenWrites::Writer Driver::WriterOf(const Command& command) {
  return {command.id, &command.clock, command.context->device};
}

// What a copy or a fill writes is known at once. Only a host function may hold
// it back: until that has run, the host may go on using the bytes.
void Driver::BeginHostWrites(const Command& command) {
  if (open_host_calls_ > 0) return;
  if (command.context->device->sticky != CUDA_SUCCESS) return;
  const auto begin = [&](uint64_t address, uint64_t bytes) {
    const Allocation* to = memory_.Find(address);
    if (to == nullptr || !to->is_host() ||
        address - to->address + bytes > to->bytes) {
      return;
    }
    unseen_.Begin(address, bytes, WriterOf(command));
  };
  if (const Copy* copy = std::get_if<Copy>(&command.action)) {
    if (copy->to_pageable) {
      unseen_.Begin(copy->to, copy->bytes, WriterOf(command));
    } else {
      begin(copy->to, copy->bytes);
    }
  } else if (const Fill* fill = std::get_if<Fill>(&command.action)) {
    for (uint64_t i = 0; i < fill->height; ++i) {
      begin(fill->to + i * fill->pitch, fill->width * fill->element_bytes);
    }
  }
}

// Each command once, by the first bytes that the host changed.
void Driver::Show(absl::FunctionRef<bool(CommandId)> is_over) {
  absl::flat_hash_set<CommandId> reported;
  for (const UnseenWrites::Changed& changed : unseen_.Show(is_over)) {
    if (!reported.insert(changed.writer).second) continue;
    Report(FindingKind::kRace,
           absl::StrCat(timeline_.Describe(changed.writer), " writes ",
                        memory_.Describe(changed.address),
                        ", which the host changed before it knew that this "
                        "is over"));
  }
}

void Driver::ShowWhatIsOver(const VectorClock& clock) {
  Show([&](CommandId command) {
    return timeline_.HappensBefore(command, clock);
  });
}

void Driver::HostJoins(const VectorClock& clock) {
  host_clock_.Join(clock);
  ShowWhatIsOver(host_clock_);
}

// Readings::writes_arrive_early.
void Driver::MayArrive(CommandId done) {
  if (!options_.readings.writes_arrive_early || scheduler_.is_late()) return;
  if (scheduler_.Draw(2) == 0) return;
  Show([&](CommandId command) { return command == done; });
}

void Driver::Store(const Command& command, Allocation* to, uint64_t address,
                   const std::byte* from, uint64_t bytes) {
  if (to != nullptr && !to->is_host()) {
    std::memcpy(to->storage + (address - to->address), from, bytes);
    return;
  }
  if (to != nullptr) ++to->writes;
  unseen_.Write(address, bytes, from, WriterOf(command));
}

}  // namespace partita::emulated_gpu
