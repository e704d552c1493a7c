// Functions of libgomp's names, in front of libgomp's.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/team/openmp_calls.h"

#include <dlfcn.h>

#include <algorithm>

#include "kernels/team/thread_team.h"

// OpenMP's, whose header says more than is true here.
extern "C" int omp_get_thread_limit();

namespace partita {
namespace {

using Region = void (*)(void*);
using GetNumber = int (*)();

constinit thread_local int scopes = 0;

// Behind this library, or in front of it.
template <typename Function>
Function Next(const char* name) {
  void* const next = dlsym(RTLD_NEXT, name);
  return reinterpret_cast<Function>(
      next != nullptr ? next : dlsym(RTLD_DEFAULT, name));
}

// libgomp's own.
struct Libgomp {
  void (*parallel)(Region, void*, unsigned, unsigned) =
      Next<void (*)(Region, void*, unsigned, unsigned)>("GOMP_parallel");
  void (*barrier)() = Next<void (*)()>("GOMP_barrier");
  GetNumber thread_num = Next<GetNumber>("omp_get_thread_num");
  GetNumber num_threads = Next<GetNumber>("omp_get_num_threads");
  GetNumber max_threads = Next<GetNumber>("omp_get_max_threads");
  GetNumber in_parallel = Next<GetNumber>("omp_in_parallel");
};

const Libgomp& Theirs() {
  static const Libgomp& libgomp = *new Libgomp;
  return libgomp;
}

void RunOnOurs(Region region, void* data, unsigned num_threads) {
  const int most = Theirs().max_threads();
  const int asked = num_threads == 0 ? most : static_cast<int>(num_threads);
  ThreadTeam::Run(WithinThreadLimit(asked), most, [&](int) { region(data); });
}

}  // namespace

OwnThreadsScope::OwnThreadsScope() { ++scopes; }
OwnThreadsScope::~OwnThreadsScope() { --scopes; }

bool IsInLibgompRegion() {
  return ThreadTeam::ThisMember() == nullptr && Theirs().in_parallel() != 0;
}

int WithinThreadLimit(int threads) {
  static const int limit = omp_get_thread_limit();
  return std::clamp(threads, 1, limit);
}

}  // namespace partita

extern "C" {

[[gnu::visibility("default")]] void GOMP_parallel(void (*region)(void*),
                                                  void* data,
                                                  unsigned num_threads,
                                                  unsigned flags) {
  const bool ours = partita::ThreadTeam::ThisMember() != nullptr ||
                    (partita::scopes > 0 && !partita::IsInLibgompRegion());
  if (ours) return partita::RunOnOurs(region, data, num_threads);
  partita::Theirs().parallel(region, data, num_threads, flags);
}

[[gnu::visibility("default")]] void GOMP_barrier() {
  const auto* member = partita::ThreadTeam::ThisMember();
  if (member == nullptr) return partita::Theirs().barrier();
  if (member->team != nullptr) member->team->Barrier();
}

[[gnu::visibility("default")]] int omp_get_thread_num() {
  const auto* member = partita::ThreadTeam::ThisMember();
  return member == nullptr ? partita::Theirs().thread_num() : member->thread;
}

[[gnu::visibility("default")]] int omp_get_num_threads() {
  const auto* member = partita::ThreadTeam::ThisMember();
  return member == nullptr ? partita::Theirs().num_threads() : member->size;
}

[[gnu::visibility("default")]] int omp_get_max_threads() {
  const auto* member = partita::ThreadTeam::ThisMember();
  return member == nullptr ? partita::Theirs().max_threads() : member->most;
}

[[gnu::visibility("default")]] int omp_in_parallel() {
  const auto* member = partita::ThreadTeam::ThisMember();
  return member == nullptr ? partita::Theirs().in_parallel() : 1;
}

}  // extern "C"
