/* Doubles and the integers that their bits are. */
#include <stdint.h>
#include <string.h>

static inline int64_t bits_of(double x) { int64_t i; memcpy(&i, &x, 8); return i; }
static inline double of_bits(int64_t i) { double x; memcpy(&x, &i, 8); return x; }
