// exp, log, sin and other functions of one number, with their measured accuracy.
#pragma once

/// Mathematical functions that give the same bits on every machine. The C library's functions are also accurate to a
/// unit in the last place, but whether they err upwards or downwards depends on the library and, in glibc, on the CPU.
/// Weights, random draws and learning rates are computed from these functions, and a run must repeat bit for bit on
/// another machine. Everything below uses only additions, multiplications, divisions and fused multiply-adds, which
/// IEEE 754 defines to the last bit.
///
/// An "ulp" is the distance between neighbouring floating-point numbers at the true result, and a correctly rounded
/// result is within 0.5 ulp. The errors of the float functions were measured against double on every 127th bit pattern.
/// The errors of the double functions were measured against long double on millions of random arguments. NaN gives NaN,
/// except in pow. No function sets errno. tests/engine/base/math_test.cpp repeats the measurement.
namespace mote::math {

/// e^x, within 1 ulp, subnormal results included. Float: infinite above 88.72, 0 below -103.97. Double: infinite above
/// 709.78, 0 below -745.13.
float exp(float x);
double exp(double x);

/// e^x - 1 without loss of digits near 0, within 1.1 ulp; -1 for -inf.
float expm1(float x);
double expm1(double x);

/// Natural logarithm, within 0.9 ulp, subnormal x included; -inf for 0 and -0, NaN for x < 0.
float log(float x);
double log(double x);

/// log(1 + x) without loss of digits near 0, within 0.9 ulp; -inf for x = -1, NaN for x < -1.
float log1p(float x);
double log1p(double x);

/// Sine and cosine of x in radians, within 0.75 ulp for every finite x, however large; NaN for infinite x.
float sin(float x);
double sin(double x);
float cos(float x);
double cos(double x);

/// x^y, within 1.2 ulp. Special cases are those of C99, F.9.4.4. x^0 and 1^y are 1, even if x or y is NaN. A negative
/// finite x gives NaN unless y is an integer, and an odd y keeps the sign of x. 0 to a negative power is infinite.
float pow(float x, float y);
double pow(double x, double y);

/// The product x * y, rounded to its type. Header code calls this function because the header may be compiled without
/// -ffp-contract=off. The compiler could then fuse a product that is written as x * y with an addition, which changes
/// bits of the result.
float product(float x, float y);
double product(double x, double y);

}  // namespace mote::math
