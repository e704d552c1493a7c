// Functions with libgomp's names, which precede libgomp's.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/thread_pool/openmp_calls.h"

#include <dlfcn.h>

#include <algorithm>

#include "kernels/thread_pool/thread_pool.h"

// From OpenMP, whose header states more than is true here.
extern "C" int omp_get_thread_limit();

namespace partita {
namespace {

using Region = void (*)(void*);
using GetNumber = int (*)();

constinit thread_local int scopes = 0;

// Looks after this library first, then before it.
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
  ThreadPool::Run(WithinThreadLimit(asked), most, [&](int) { region(data); });
}

}  // namespace

OwnThreadsScope::OwnThreadsScope() { ++scopes; }
OwnThreadsScope::~OwnThreadsScope() { --scopes; }

bool IsInLibgompRegion() {
  return ThreadPool::ThisRun() == nullptr && Theirs().in_parallel() != 0;
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
  const bool ours = partita::ThreadPool::ThisRun() != nullptr ||
                    (partita::scopes > 0 && !partita::IsInLibgompRegion());
  if (ours) return partita::RunOnOurs(region, data, num_threads);
  partita::Theirs().parallel(region, data, num_threads, flags);
}

[[gnu::visibility("default")]] void GOMP_barrier() {
  const auto* run = partita::ThreadPool::ThisRun();
  if (run == nullptr) return partita::Theirs().barrier();
  if (run->pool != nullptr) run->pool->Barrier();
}

[[gnu::visibility("default")]] int omp_get_thread_num() {
  const auto* run = partita::ThreadPool::ThisRun();
  return run == nullptr ? partita::Theirs().thread_num() : run->thread;
}

[[gnu::visibility("default")]] int omp_get_num_threads() {
  const auto* run = partita::ThreadPool::ThisRun();
  return run == nullptr ? partita::Theirs().num_threads() : run->size;
}

[[gnu::visibility("default")]] int omp_get_max_threads() {
  const auto* run = partita::ThreadPool::ThisRun();
  return run == nullptr ? partita::Theirs().max_threads() : run->most;
}

[[gnu::visibility("default")]] int omp_in_parallel() {
  const auto* run = partita::ThreadPool::ThisRun();
  return run == nullptr ? partita::Theirs().in_parallel() : 1;
}

}  // extern "C"
