// What OpenCL C has and GNU C has not: types by their widths, and functions of the
// table of element-wise functions, which take a float or a double. Nothing is included,
// so that no name of a program means anything else.

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

_Static_assert(sizeof(long) == 8, "kernels are made for a long of 64 bits");

// How many steps of the loop behind it are put side by side.
#define as_pragma(text) _Pragma(#text)
#ifdef __clang__
#define as_unrolled(n) as_pragma(unroll n)
#else
#define as_unrolled(n) as_pragma(GCC unroll n)
#endif

#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()

// Vectors by the names of OpenCL C. Of three lanes there is room for four.
#define as_vectors(T, S, bytes)                              \
  typedef S T##2 __attribute__((vector_size(2 * (bytes))));  \
  typedef S T##3 __attribute__((vector_size(4 * (bytes))));  \
  typedef S T##4 __attribute__((vector_size(4 * (bytes))));  \
  typedef S T##8 __attribute__((vector_size(8 * (bytes))));  \
  typedef S T##16 __attribute__((vector_size(16 * (bytes))));
as_vectors(char, signed char, 1)
as_vectors(uchar, uchar, 1)
as_vectors(short, short, 2)
as_vectors(ushort, ushort, 2)
as_vectors(int, int, 4)
as_vectors(uint, uint, 4)
as_vectors(long, long, 8)
as_vectors(ulong, ulong, 8)
as_vectors(float, float, 4)
as_vectors(double, double, 8)

// The bits of a value as another type.
#define as_bits(T, x)                                   \
  ({                                                    \
    __auto_type as_from = (x);                          \
    T as_to;                                            \
    __builtin_memcpy(&as_to, &as_from, sizeof(as_to));  \
    as_to;                                              \
  })
#define as_char(x) as_bits(char, x)
#define as_uchar(x) as_bits(uchar, x)
#define as_short(x) as_bits(short, x)
#define as_ushort(x) as_bits(ushort, x)
#define as_int(x) as_bits(int, x)
#define as_uint(x) as_bits(uint, x)
#define as_long(x) as_bits(long, x)
#define as_ulong(x) as_bits(ulong, x)
#define as_float(x) as_bits(float, x)
#define as_double(x) as_bits(double, x)

// A float as an integer, truncated, within the type's limits: from the least to the
// most number, which is the last before `beyond`. NaN is not asked for.
#define convert_within(T, least, beyond, most, x)          \
  ({                                                       \
    __auto_type as_from = (x);                             \
    as_from <= (__typeof__(as_from))(least)    ? (T)(least) \
    : as_from >= (__typeof__(as_from))(beyond) ? (T)(most)  \
                                               : (T)as_from; \
  })
#define convert_char_sat_rtz(x) convert_within(char, -0x1p7, 0x1p7, 0x7f, x)
#define convert_uchar_sat_rtz(x) convert_within(uchar, 0.0, 0x1p8, 0xff, x)
#define convert_short_sat_rtz(x) convert_within(short, -0x1p15, 0x1p15, 0x7fff, x)
#define convert_ushort_sat_rtz(x) convert_within(ushort, 0.0, 0x1p16, 0xffff, x)
#define convert_int_sat_rtz(x) convert_within(int, -0x1p31, 0x1p31, 0x7fffffff, x)
#define convert_uint_sat_rtz(x) convert_within(uint, 0.0, 0x1p32, 0xffffffff, x)
#define convert_long_sat_rtz(x) \
  convert_within(long, -0x1p63, 0x1p63, 0x7fffffffffffffff, x)
#define convert_ulong_sat_rtz(x) \
  convert_within(ulong, 0.0, 0x1p64, 0xffffffffffffffff, x)
#define convert_int_sat(x) ((x) != (x) ? 0 : convert_int_sat_rtz(x))

// Values of 16 bits, held as their bits: rounded to nearest, ties to even.
#ifdef __FLT16_MAX__
#define half_to_float(x) ((float)as_bits(_Float16, x))
#define half_from_float(x) as_ushort((_Float16)(x))
#define half_from_double(x) as_ushort((_Float16)(x))
#else
#define half_to_float(x) the_compiler_has_no_16_bit_floats
#define half_from_float(x) the_compiler_has_no_16_bit_floats
#define half_from_double(x) the_compiler_has_no_16_bit_floats
#endif
static inline ushort bfloat_from_float(float x) {
  const uint bits = as_uint(x);
  const uint rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return (x == x ? rounded : bits | 0x400000u) >> 16;
}

// Functions that the compiler's library has for both types.
#define of_float(name, x) \
  _Generic((x), float: __builtin_##name##f(x), default: __builtin_##name(x))
#define of_floats(name, x, y) \
  _Generic((x), float: __builtin_##name##f(x, y), default: __builtin_##name(x, y))
#define acos(x) of_float(acos, x)
#define acosh(x) of_float(acosh, x)
#define asin(x) of_float(asin, x)
#define asinh(x) of_float(asinh, x)
#define atan(x) of_float(atan, x)
#define atan2(y, x) of_floats(atan2, y, x)
#define atanh(x) of_float(atanh, x)
#define cbrt(x) of_float(cbrt, x)
#define ceil(x) of_float(ceil, x)
#define copysign(x, y) of_floats(copysign, x, y)
#define cos(x) of_float(cos, x)
#define cosh(x) of_float(cosh, x)
#define erf(x) of_float(erf, x)
#define erfc(x) of_float(erfc, x)
#define exp(x) of_float(exp, x)
#define exp2(x) of_float(exp2, x)
#define expm1(x) of_float(expm1, x)
#define fabs(x) of_float(fabs, x)
#define floor(x) of_float(floor, x)
#define fma(x, y, z) \
  _Generic((x), float: __builtin_fmaf(x, y, z), default: __builtin_fma(x, y, z))
#define fmod(x, y) of_floats(fmod, x, y)
#define hypot(x, y) of_floats(hypot, x, y)
#define ldexp(x, y) of_floats(ldexp, x, y)
#define log(x) of_float(log, x)
#define log10(x) of_float(log10, x)
#define log1p(x) of_float(log1p, x)
#define log2(x) of_float(log2, x)
#define logb(x) of_float(logb, x)
#define pow(x, y) of_floats(pow, x, y)
#define remainder(x, y) of_floats(remainder, x, y)
#define rint(x) of_float(rint, x)
#define sin(x) of_float(sin, x)
#define sinh(x) of_float(sinh, x)
#define sqrt(x) of_float(sqrt, x)
#define tan(x) of_float(tan, x)
#define tanh(x) of_float(tanh, x)
#define trunc(x) of_float(trunc, x)
#define signbit(x) (__builtin_signbit(x) != 0)
#define sign(x) ((x) > 0 ? (__typeof__(x))1 : (x) < 0 ? (__typeof__(x))-1 : (x))

// Of a number and NaN the number. The library's give NaN where that is a signalling one.
static inline float as_fmaxf(float x, float y) { return x != x || y > x ? y : x; }
static inline float as_fminf(float x, float y) { return x != x || y < x ? y : x; }
static inline double as_fmax(double x, double y) { return x != x || y > x ? y : x; }
static inline double as_fmin(double x, double y) { return x != x || y < x ? y : x; }
#define fmax(x, y) _Generic((x), float: as_fmaxf(x, y), default: as_fmax(x, y))
#define fmin(x, y) _Generic((x), float: as_fminf(x, y), default: as_fmin(x, y))

// Functions that it lacks, computed in double.
#define as_pi 3.14159265358979323846
static inline double as_sinpi(double x) {
  const double turned = x - 2 * __builtin_rint(x / 2);
  const double size = __builtin_fabs(turned);
  const double folded = size > 0.5 ? __builtin_copysign(1 - size, turned) : turned;
  return folded == 0 ? __builtin_copysign(0.0, x) : __builtin_sin(as_pi * folded);
}
static inline double as_cospi(double x) {
  const double turned = __builtin_fabs(x - 2 * __builtin_rint(x / 2));
  return __builtin_sin(as_pi * (0.5 - turned));
}
#define as_type_of(x, value) ((__typeof__((x) + 0))(value))
#define sinpi(x) as_type_of(x, as_sinpi(x))
#define cospi(x) as_type_of(x, as_cospi(x))
#define tanpi(x) as_type_of(x, as_sinpi(x) / as_cospi(x))
#define asinpi(x) as_type_of(x, __builtin_asin(x) / as_pi)
#define acospi(x) as_type_of(x, __builtin_acos(x) / as_pi)
#define atanpi(x) as_type_of(x, __builtin_atan(x) / as_pi)
#define atan2pi(y, x) as_type_of(y, __builtin_atan2(y, x) / as_pi)
#define degrees(x) as_type_of(x, (x) * (180 / as_pi))
#define radians(x) as_type_of(x, (x) * (as_pi / 180))
#define exp10(x) as_type_of(x, __builtin_pow(10.0, x))
#define rsqrt(x) as_type_of(x, 1 / __builtin_sqrt(x))
