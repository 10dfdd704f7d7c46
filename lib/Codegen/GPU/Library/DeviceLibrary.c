/* The mathematical functions of the GPU that LLVM has no instruction for: f64 to about one unit in the last place (pow:
 * 1e-13), f32 by way of f64. Compiled for NVPTX when Strata is built, linked into the kernels that call them.
 *
 * Only + - * / fma sqrt and roundings, so that the emulator computes the same bits as a GPU. */

typedef unsigned long long u64;
typedef long long i64;
typedef unsigned int u32;

#define INF __builtin_inf()
#define NAN __builtin_nan("")
#define FMA __builtin_fma
#define ABS __builtin_fabs

static u64 bits_of(double x) {
  u64 bits;
  __builtin_memcpy(&bits, &x, 8);
  return bits;
}
static double from_bits(u64 bits) {
  double x;
  __builtin_memcpy(&x, &bits, 8);
  return x;
}
/* 2^k for -1022 <= k <= 1023. */
static double power_of_two(int k) { return from_bits((u64)(1023 + k) << 52); }
static double scale(double x, int k) {
  int half = k / 2;
  return x * power_of_two(half) * power_of_two(k - half);
}

static const double ln2_high = 0x1.62e42fefa39efp-1, ln2_low = 0x1.abc9e3b39803fp-56, log2e = 0x1.71547652b82fep+0;
static const double half_pi = 0x1.921fb54442d18p+0, pi = 0x1.921fb54442d18p+1, pi_low = 0x1.1a62633145c07p-53;

/* e^r for |r| <= ln2 / 2: Taylor's series. */
static double exp_series(double r) {
  double sum = 1.0 / 6227020800.0;
  static const double factorials[] = {479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0,
                                      720.0,       120.0,      24.0,      6.0,      2.0,     1.0};
  for (int i = 0; i < 12; ++i)
    sum = FMA(sum, r, 1.0 / factorials[i]);
  return FMA(sum, r, 1.0);
}

double strata_exp(double x) {
  if (x != x)
    return x;
  if (x > 709.8)
    return INF;
  if (x < -745.2)
    return 0;
  double k = __builtin_rint(x * log2e);
  return scale(exp_series(FMA(-k, ln2_low, FMA(-k, ln2_high, x))), (int)k);
}

double strata_exp2(double x) {
  if (x != x)
    return x;
  if (x >= 1024)
    return INF;
  if (x < -1075)
    return 0;
  double k = __builtin_rint(x);
  return scale(exp_series((x - k) * ln2_high), (int)k);
}

double strata_expm1(double x) {
  if (ABS(x) > 0.5)
    return strata_exp(x) - 1;
  double sum = 0;
  for (int i = 17; i >= 2; --i)
    sum = (sum + 1) * x / i;
  return FMA(sum, x, x);
}

/* log(1 + f) where s = f / (2 + f), |s| <= 0.18. */
static double log_series(double s) {
  double z = s * s, sum = 0;
  for (int i = 25; i >= 3; i -= 2)
    sum = FMA(sum, z, 2.0 / i);
  return FMA(s * z, sum, 2 * s);
}

/* x = m * 2^e, m in [sqrt(1/2), sqrt(2)), for positive finite x. */
static double split(double x, int *exponent) {
  int e = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    e = -54;
  }
  u64 bits = bits_of(x);
  e += (int)(bits >> 52) - 1023;
  double m = from_bits((bits & 0xfffffffffffffull) | 0x3ff0000000000000ull);
  if (m > 0x1.6a09e667f3bcdp+0) {
    m *= 0.5;
    ++e;
  }
  *exponent = e;
  return m;
}

static int log_special(double x, double *result) {
  if (x > 0 && x < INF)
    return 0;
  *result = x == 0 ? -INF : x > 0 ? INF : NAN;
  return 1;
}

double strata_log(double x) {
  double result;
  if (log_special(x, &result))
    return result;
  int e;
  double f = split(x, &e) - 1;
  return FMA(e, ln2_high, FMA(e, ln2_low, log_series(f / (2 + f))));
}

double strata_log2(double x) {
  double result;
  if (log_special(x, &result))
    return result;
  int e;
  double f = split(x, &e) - 1;
  return FMA(log_series(f / (2 + f)), log2e, e);
}

double strata_log10(double x) { return strata_log(x) * 0x1.bcb7b1526e50ep-2; }

double strata_log1p(double x) {
  if (ABS(x) < 0x1p-60)
    return x;
  if (ABS(x) < 0.4)
    return log_series(x / (2 + x));
  double u = 1 + x;
  if (!(u > 0) || u == INF)
    return strata_log(u);
  return strata_log(u) + (x - (u - 1)) / u;
}

/* --- Sine and cosine */

/* 2 / pi in binary: the first word is bits 2^-1 to 2^-32. */
static const u32 two_over_pi[] = {
    0xA2F9836Eu, 0x4E441529u, 0xFC2757D1u, 0xF534DDC0u, 0xDB629599u, 0x3C439041u, 0xFE5163ABu, 0xDEBBC561u,
    0xB7246E3Au, 0x424DD2E0u, 0x06492EEAu, 0x09D1921Cu, 0xFE1DEB1Cu, 0xB129A73Eu, 0xE88235F5u, 0x2EBB4484u,
    0xE99C7026u, 0xB45F7E41u, 0x3991D639u, 0x835339F4u, 0x9C845F8Bu, 0xBDF9283Bu, 0x1FF897FFu, 0xDE05980Fu,
    0xEF2F118Bu, 0x5A0A6D1Fu, 0x6D367ECFu, 0x27CB09B7u, 0x4F463F66u, 0x9E5FEA2Du, 0x7527BAC7u, 0xEBE5F17Bu,
    0x3D0739F7u, 0x8A5292EAu, 0x6BFB5FB1u, 0x1F8D5D08u, 0x56033046u, 0xFC7B6BABu, 0xF0CFBC20u, 0x9AF4361Du};

/* x - q * pi / 2, |result| <= pi / 4; q modulo 4. */
static double reduce(double x, int *quadrant) {
  static const double first = 0x1.921fb54442d18p+0, second = 0x1.1a62633145c07p-54, third = -0x1.f1976b7ed8fbcp-110;
  if (ABS(x) < 1e6) {
    double k = __builtin_rint(x * (2 / pi));
    *quadrant = (int)k & 3;
    return FMA(-k, third, FMA(-k, second, FMA(-k, first, x)));
  }
  /* Payne and Hanek: only those bits of 2 / pi count whose product with the mantissa is below 4. */
  u64 bits = bits_of(x), mantissa = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  int exponent = (int)(bits >> 52 & 0x7ff) - 1075; /* |x| = mantissa * 2^exponent */
  /* The first bit that counts has weight 2^-b with exponent - b = 1, or is the first one of all. */
  int start = exponent > 2 ? exponent - 2 : 0;
  /* 192 bits from there on: times 2^-(start + 192). */
  u32 part[6];
  for (int i = 0; i < 6; ++i) {
    int word = (start >> 5) + i, shift = start & 31;
    part[i] = shift ? two_over_pi[word] << shift | two_over_pi[word + 1] >> (32 - shift) : two_over_pi[word];
  }
  /* product = mantissa * part, least word last. */
  u32 product[8] = {0};
  u32 low = (u32)mantissa, high = (u32)(mantissa >> 32);
  u64 carry = 0;
  for (int i = 5; i >= 0; --i) {
    u64 sum = (u64)part[i] * low + product[i + 2] + carry;
    product[i + 2] = (u32)sum;
    carry = sum >> 32;
  }
  product[1] = (u32)carry;
  carry = 0;
  for (int i = 5; i >= 0; --i) {
    u64 sum = (u64)part[i] * high + product[i + 1] + carry;
    product[i + 1] = (u32)sum;
    carry = sum >> 32;
  }
  product[0] = (u32)carry;
  /* Units are at bit 192 + start - exponent of the 256 from below. */
  int point = 256 - (192 + start - exponent); /* bits before the point, from above */
  u64 top = 0, next = 0;
  /* 128 bits from two before the point on. */
  for (int i = 0; i < 128; ++i) {
    int at = point - 2 + i;
    u64 bit = at >= 0 && at < 256 ? product[at >> 5] >> (31 - (at & 31)) & 1 : 0;
    if (i < 64)
      top = top << 1 | bit;
    else
      next = next << 1 | bit;
  }
  int q = (int)(top >> 62);
  top = top << 2 | next >> 62;
  next <<= 2;
  /* The fraction in [0, 1), to [-1/2, 1/2). */
  double sign = 1;
  if (top >> 63) {
    ++q;
    top = ~top;
    next = ~next;
    sign = -1;
  }
  double fraction = (double)top * 0x1p-64 + (double)next * 0x1p-128;
  double r = sign * fraction * half_pi;
  if (x < 0) {
    r = -r;
    q = -q;
  }
  *quadrant = q & 3;
  return r;
}

static double sin_series(double r) {
  double z = r * r, sum = 0;
  for (int i = 19; i >= 3; i -= 2)
    sum = (sum + 1) * -z / (i * (i - 1));
  return FMA(r, sum, r);
}
static double cos_series(double r) {
  double z = r * r, sum = 0;
  for (int i = 20; i >= 4; i -= 2)
    sum = (sum + 1) * -z / (i * (i - 1));
  return FMA(sum + 1, -0.5 * z, 1.0);
}

static double sine(double x, int shift) {
  if (!(ABS(x) < INF))
    return NAN;
  int q;
  double r = reduce(x, &q);
  q = (q + shift) & 3;
  double value = q & 1 ? cos_series(r) : sin_series(r);
  return q & 2 ? -value : value;
}
double strata_sin(double x) { return x == 0 ? x : sine(x, 0); }
double strata_cos(double x) { return sine(x, 1); }
double strata_tan(double x) { return x == 0 ? x : sine(x, 0) / sine(x, 1); }

/* --- Inverse functions */

double strata_atan(double x) {
  if (x != x)
    return x;
  double t = ABS(x), high = 0, low = 0;
  int invert = t > 1;
  if (invert)
    t = 1 / t;
  int shifted = t > 0.41421356237309503;
  if (shifted)
    t = (t - 1) / (t + 1);
  double z = t * t, sum = 0;
  for (int i = 45; i >= 3; i -= 2)
    sum = FMA(sum, -z, 1.0 / i);
  double value = FMA(t, -z * sum, t);
  if (shifted) {
    high = half_pi / 2;
    low = pi_low / 4;
  }
  value = high + (value + low);
  if (invert)
    value = half_pi - (value - pi_low / 2);
  return __builtin_copysign(value, x);
}
double strata_asin(double x) {
  if (!(ABS(x) <= 1))
    return NAN;
  return ABS(x) == 1 ? __builtin_copysign(half_pi, x) : strata_atan(x / __builtin_sqrt((1 - x) * (1 + x)));
}
double strata_acos(double x) {
  if (!(ABS(x) <= 1))
    return NAN;
  return x == -1 ? pi : 2 * strata_atan(__builtin_sqrt((1 - x) / (1 + x)));
}
double strata_atan2(double y, double x) {
  if (x != x || y != y)
    return NAN;
  int left = bits_of(x) >> 63;
  double angle;
  if (y == 0)
    angle = left ? pi : 0;
  else if (x == 0)
    angle = half_pi;
  else if (ABS(x) == INF && ABS(y) == INF)
    angle = left ? 3 * (half_pi / 2) : half_pi / 2;
  else {
    angle = strata_atan(ABS(y / x));
    if (left)
      angle = pi - (angle - pi_low);
  }
  return __builtin_copysign(angle, y);
}

/* --- Hyperbolic functions */

double strata_sinh(double x) {
  double a = ABS(x);
  if (a < 1) {
    double z = x * x, sum = 0;
    for (int i = 21; i >= 3; i -= 2)
      sum = (sum + 1) * z / (i * (i - 1));
    return FMA(x, sum, x);
  }
  double h = strata_exp(a / 2);
  double value = a > 40 ? h / 2 * h : (h * h - 1 / (h * h)) / 2;
  if (a <= 40) {
    double e = strata_exp(a);
    value = (e - 1 / e) / 2;
  }
  return __builtin_copysign(value, x);
}
double strata_cosh(double x) {
  double a = ABS(x);
  if (a > 40) {
    double h = strata_exp(a / 2);
    return h / 2 * h;
  }
  double e = strata_exp(a);
  return (e + 1 / e) / 2;
}
double strata_tanh(double x) {
  double a = ABS(x);
  if (a > 22)
    return x != x ? x : __builtin_copysign(1.0, x);
  double t = strata_expm1(2 * a);
  return x != x ? x : __builtin_copysign(t / (t + 2), x);
}
double strata_asinh(double x) {
  double a = ABS(x), value;
  if (!(a < INF))
    return x;
  value = a > 0x1p28 ? strata_log(a) + ln2_high : strata_log1p(a + a * a / (1 + __builtin_sqrt(a * a + 1)));
  return __builtin_copysign(value, x);
}
double strata_acosh(double x) {
  if (!(x >= 1))
    return NAN;
  if (x > 0x1p28)
    return strata_log(x) + ln2_high;
  return strata_log1p((x - 1) + __builtin_sqrt((x - 1) * (x + 1)));
}
double strata_atanh(double x) {
  double a = ABS(x);
  if (!(a <= 1))
    return NAN;
  return __builtin_copysign(0.5 * strata_log1p(2 * a / (1 - a)), x);
}

/* --- Powers, roots, remainders, the error function */

double strata_pow(double x, double y) {
  if (y == 0 || x == 1)
    return 1;
  if (x != x || y != y)
    return NAN;
  double a = ABS(x);
  int whole = __builtin_trunc(y) == y;
  int odd = whole && ABS(y) < 0x1p53 && ((i64)y & 1);
  double sign = x < 0 || bits_of(x) >> 63 ? (odd ? -1 : 1) : 1;
  if (ABS(y) == INF)
    return a == 1 ? 1 : (a > 1) == (y > 0) ? INF : 0;
  if (a == 0 || a == INF)
    return sign * ((a == 0) == (y > 0) ? 0 : INF);
  if (x < 0 && !whole)
    return NAN;
  if (whole && ABS(y) <= 64) {
    double result = 1, base = a;
    for (int n = (int)ABS(y); n; n >>= 1, base *= base)
      if (n & 1)
        result *= base;
    if (result > 0 && result < INF)
      return sign * (y < 0 ? 1 / result : result);
  }
  return sign * strata_exp(y * strata_log(a));
}

double strata_cbrt(double x) {
  if (x == 0 || !(ABS(x) < INF))
    return x;
  double a = ABS(x), root = strata_exp(strata_log(a) / 3);
  root -= (root - a / (root * root)) / 3;
  return __builtin_copysign(root, x);
}

double strata_fmod(double x, double y) {
  double a = ABS(x), b = ABS(y);
  if (!(a < INF) || b != b || b == 0)
    return NAN;
  while (a >= b) {
    /* The largest b * 2^k that is not above a: exact, as is the difference. */
    int k = (int)(bits_of(a) >> 52) - (int)(bits_of(b) >> 52);
    double d = bits_of(b) >> 52 == 0 || k <= 0 ? b : from_bits(bits_of(b) + ((u64)k << 52));
    if (bits_of(b) >> 52 == 0)
      while (d * 2 <= a)
        d *= 2;
    if (d > a)
      d *= 0.5;
    a -= d;
  }
  return __builtin_copysign(a, x);
}

double strata_erf(double x) {
  double a = ABS(x), value;
  if (x != x)
    return x;
  if (a > 6) {
    value = 1;
  } else if (a < 3) {
    double term = a, sum = a, z = 2 * a * a;
    for (int i = 3; i < 130; i += 2) {
      term *= z / i;
      sum += term;
    }
    value = 0x1.20dd750429b6dp+0 * strata_exp(-a * a) * sum;
  } else {
    /* 1 - erfc by its continued fraction. */
    double fraction = a;
    for (int i = 60; i >= 1; --i)
      fraction = a + 0.5 * i / fraction;
    value = 1 - 0x1.20dd750429b6dp-1 * strata_exp(-a * a) / fraction;
  }
  return __builtin_copysign(value, x);
}

#define SINGLE(name)                                                                                                   \
  float strata_##name##f(float x) { return (float)strata_##name(x); }
SINGLE(exp)
SINGLE(exp2)
SINGLE(expm1)
SINGLE(log)
SINGLE(log2)
SINGLE(log10)
SINGLE(log1p)
SINGLE(sin)
SINGLE(cos)
SINGLE(tan)
SINGLE(asin)
SINGLE(acos)
SINGLE(atan)
SINGLE(sinh)
SINGLE(cosh)
SINGLE(tanh)
SINGLE(asinh)
SINGLE(acosh)
SINGLE(atanh)
SINGLE(cbrt)
SINGLE(erf)
float strata_powf(float x, float y) { return (float)strata_pow(x, y); }
float strata_atan2f(float y, float x) { return (float)strata_atan2(y, x); }
float strata_fmodf(float x, float y) { return (float)strata_fmod(x, y); }
