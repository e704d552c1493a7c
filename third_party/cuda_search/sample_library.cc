// A library for the test of the search path.
// SPDX-License-Identifier: Apache-2.0

extern "C" int partita_sample() { return 1; }
