// Small plans for tests of sessions, as text.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TESTING_PLAN_TEXTS_H_
#define PARTITA_PARTITA_TESTING_PLAN_TEXTS_H_

namespace partita {

// @f: y = relu(x w), x f32[2, 3] and y f32[2, 2], the product on cpu:0 and relu
// on cpu:1.
extern const char kTwoDevices[];
// @count: every step adds the input x f32[2] to the variable v, first [10, 20],
// and returns the sum n.
extern const char kCounter[];

}  // namespace partita

#endif  // PARTITA_PARTITA_TESTING_PLAN_TEXTS_H_
