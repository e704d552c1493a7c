// Hyperbolic functions and their inverses, and inverses of trigonometric ones.
// Coefficients for f32 are those of Cephes (Moshier 1992).
// SPDX-License-Identifier: Apache-2.0

#include <limits>

#include "kernels/codegen/double_functions.h"
#include "kernels/codegen/float_functions.h"
#include "kernels/codegen/polynomial.h"

namespace partita {
namespace {

constexpr double kLn2 = 0.6931471805599453;
constexpr double kPi = 3.141592653589793;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// From here on e^-2x, and 1 / x^2, are nothing beside 1, in f64 too.
constexpr double kFarExponent = 22;
constexpr double kFarSquare = 0x1p28;

Register Abs(Register x) { return Unary(Opcode::kAbs, x); }
Register Root(Register x) { return Unary(Opcode::kSqrt, x); }
Register NaN(Register x) {
  return Like(x, std::numeric_limits<double>::quiet_NaN());
}

// e^z / 2, which is finite where e^z is not any more.
Register HalfExp(Register z) {
  const Register root = Exp(z * 0.5);
  return root * 0.5 * root;
}

// log(2 z), for z that may be infinite.
Register LogOfTwice(Register z) { return Log(z) + kLn2; }

// asin(s) for s in [0, sqrt(1/2)], with z = s^2.
Register ArcOf(Register s, Register z) {
  const Register series =
      Polynomial(z, {4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2,
                     7.4953002686e-2, 1.6666752422e-1});
  return Fma(series * z, s, s);
}

// asin(sqrt((1 - |x|) / 2)), half the angle whose cosine is |x|.
Register HalfAngle(Register magnitude) {
  const Register z = (1 - magnitude) * 0.5;
  return ArcOf(Root(z), z);
}

Register ArcOfSmall(Register magnitude) {
  return ArcOf(magnitude, magnitude * magnitude);
}

}  // namespace

Register Sinh(Register x) {
  const Register z = Abs(x);
  const Register t = Expm1(z);
  const Register near = (t + t / (t + 1)) * 0.5;
  const Register magnitude =
      Select(Like(z, kFarExponent) < z, HalfExp(z), near);
  return WithSign(magnitude, x);
}

Register Cosh(Register x) {
  const Register z = Abs(x);
  const Register e = Exp(z);
  return Select(Like(z, kFarExponent) < z, HalfExp(z), (e + 1.0 / e) * 0.5);
}

Register Asinh(Register x) {
  const Register z = Abs(x);
  const Register square = z * z;
  const Register near = Log1p(z + square / (Root(square + 1) + 1));
  return WithSign(Select(Like(z, kFarSquare) < z, LogOfTwice(z), near), x);
}

Register Acosh(Register x) {
  const Register t = x - 1;
  const Register near = Log1p(t + Root(t * 2 + t * t));
  const Register value = Select(Like(x, kFarSquare) < x, LogOfTwice(x), near);
  return Select(x < 1.0, NaN(x), value);
}

Register Atanh(Register x) {
  const Register z = Abs(x);
  const Register finite = Log1p(z * 2 / (1 - z)) * 0.5;
  return WithSign(Select(Equal(z, Like(z, 1)), Like(z, kInfinity), finite), x);
}

Register Asin(Register x) {
  const Register z = Abs(x);
  if (x.type == ScalarType::kF64) {
    const Register cosine = Root((1 - z) * (z + 1));
    return WithSign(AtanInF64(z / (cosine + 1)) * 2, x);
  }
  const Register far = kPi / 2 - HalfAngle(z) * 2;
  return WithSign(Select(Like(z, 0.5) < z, far, ArcOfSmall(z)), x);
}

Register Acos(Register x) {
  if (x.type == ScalarType::kF64) {
    return AtanInF64(Root((1 - x) / (x + 1))) * 2;
  }
  const Register z = Abs(x);
  const Register twice = HalfAngle(z) * 2;
  const Register far = Select(x < 0.0, kPi - twice, twice);
  const Register near = kPi / 2 - WithSign(ArcOfSmall(z), x);
  return Select(Like(z, 0.5) < z, far, near);
}

Register Atan(Register x) {
  constexpr double kTanOfEighth = 0.4142135623730950;       // of pi / 8
  constexpr double kTanOfThreeEighths = 2.414213562373095;  // of 3 pi / 8
  const Register z = Abs(x);
  if (x.type == ScalarType::kF64) return WithSign(AtanInF64(z), x);
  const Register is_far = Like(z, kTanOfThreeEighths) < z;
  const Register is_middle = Like(z, kTanOfEighth) < z;
  // atan z is pi / 2 + atan(-1 / z), or pi / 4 + atan((z - 1) / (z + 1)).
  const auto choose = [&](Register far, Register middle, Register near) {
    return Select(is_far, far, Select(is_middle, middle, near));
  };
  const Register quotient =
      choose(Like(z, -1), z - 1, z) / choose(z, z + 1, Like(z, 1));
  const Register square = quotient * quotient;
  const Register series =
      Polynomial(square, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1,
                          -3.33329491539e-1});
  const Register rest = Fma(series * square, quotient, quotient);
  const Register whole = choose(Like(z, kPi / 2), Like(z, kPi / 4), Like(z, 0));
  return WithSign(whole + rest, x);
}

}  // namespace partita
