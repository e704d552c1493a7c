// Says where a process died: the signal, and the library that it was in.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_GPU_DRIVER_FACTS_CRASH_REPORT_H_
#define PARTITA_TESTING_GPU_DRIVER_FACTS_CRASH_REPORT_H_

namespace partita {

// What a line of the report begins with.
inline constexpr char kCrashLine[] = "crash: ";

// From now on, a signal that ends this process first writes a line to the
// standard output: "crash: signal 11 in libcuda.so.1".
void ReportCrashes();

}  // namespace partita

#endif  // PARTITA_TESTING_GPU_DRIVER_FACTS_CRASH_REPORT_H_
