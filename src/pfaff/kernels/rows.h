/* Rows of entries of eight lanes each, one lane for each interval; or of eight neighbouring numbers. Many rows are taken
   off two others at once, so that these are read and written once, and those half as often. */
#include "lanes.h"
#define TILE 4 /* entries of two rows that stay in registers meanwhile */
typedef long long Marks __attribute__((vector_size(8 * TOGETHER), aligned(8), may_alias));

#define TILE_OFF(WIDE) \
    EACH { \
        Lanes x[WIDE], y[WIDE]; \
        for (int k = 0; k < WIDE; k++) { x[k] = a[(t + k) * PARTS + n]; y[k] = b[(t + k) * PARTS + n]; } \
        for (long p = 0; p < many; p++) { \
            const Lanes f = by_a[p * PARTS + n], g = by_b[p * PARTS + n], *r = c + (p * apart + t) * PARTS + n; \
            for (int k = 0; k < WIDE; k++) { x[k] -= f * r[k * PARTS]; y[k] -= g * r[k * PARTS]; } \
        } \
        for (int k = 0; k < WIDE; k++) { a[(t + k) * PARTS + n] = x[k]; b[(t + k) * PARTS + n] = y[k]; } \
    }

/* Take many rows, at a distance of so many entries, off two rows, each times its factors, which follow one another. */
static inline void take_rows_off(double *one, double *two, const double *others, const double *by_one,
                                 const double *by_two, long apart, long many, long count) {
    Lanes *a = (Lanes *)one, *b = (Lanes *)two;
    const Lanes *c = (const Lanes *)others, *by_a = (const Lanes *)by_one, *by_b = (const Lanes *)by_two;
    long t = 0;
    for (; t + TILE <= count; t += TILE) TILE_OFF(TILE)
    for (; t < count; t++) TILE_OFF(1)
}

/* Take another row off, each lane times its factor. */
static inline void take_row_off(double *row, const double *other, const double *factor, long count) {
    Lanes *a = (Lanes *)row, f[PARTS];
    const Lanes *b = (const Lanes *)other;
    EACH f[n] = ((const Lanes *)factor)[n];
    for (long t = 0; t < count; t++, a += PARTS, b += PARTS) EACH a[n] -= f[n] * b[n];
}

/* Reduce a row by a pivot row, both from there on, with so many entries beyond; the factor is left in the row, and lanes
   in which it exceeds a limit are marked. */
static inline void reduce_row(double *row, const double *pivot, const double *inverse, double *marks, double most,
                              long count) {
    Lanes *a = (Lanes *)row, limit = (Lanes){0} + most;
    EACH a[n] *= ((const Lanes *)inverse)[n];
    EACH ((Marks *)marks)[n] |= ~((a[n] <= limit) & (a[n] >= -limit));
    take_row_off(row + 8, pivot + 8, row, count);
}

static inline int marked(const double *marks, long lanes) {
    for (long l = 0; l < lanes; l++) if (((const long long *)marks)[l]) return 1;
    return 0;
}

/* The reciprocals of an entry. */
static inline void invert_entry(double *out, const double *entry) {
    EACH ((Lanes *)out)[n] = 1.0 / ((const Lanes *)entry)[n];
}

/* A row, each lane times its factor. */
static inline void scale_row(double *out, const double *row, const double *factor, long count) {
    Lanes *a = (Lanes *)out, f[PARTS];
    const Lanes *b = (const Lanes *)row;
    EACH f[n] = ((const Lanes *)factor)[n];
    for (long t = 0; t < count; t++, a += PARTS, b += PARTS) EACH a[n] = b[n] * f[n];
}

/* The sum of two rows, each times a number. */
static inline void combine_rows(double *out, const double *first, const double *second, double by_first, double by_second,
                                long count) {
    Lanes *a = (Lanes *)out;
    const Lanes *b = (const Lanes *)first, *c = (const Lanes *)second;
    for (long t = 0; t < count * PARTS; t++) a[t] = by_first * b[t] + by_second * c[t];
}

/* The sum of products of entries at given distances, in every lane. */
static inline void sum_products(double *out, const double *one, const double *other, long apart, long other_apart,
                                long count) {
    const Lanes *a = (const Lanes *)one, *b = (const Lanes *)other;
    Lanes s[PARTS];
    EACH s[n] = (Lanes){0};
    for (long t = 0; t < count; t++, a += PARTS * apart, b += PARTS * other_apart) EACH s[n] += a[n] * b[n];
    EACH ((Lanes *)out)[n] = s[n];
}

/* Rows of so many vectors of eight neighbours: */

static inline void add_row(double *row, const double *other, double factor, long vectors) {
    Lanes *a = (Lanes *)row;
    const Lanes *b = (const Lanes *)other;
    for (long t = 0; t < vectors * PARTS; t++) a[t] += factor * b[t];
}

static inline void exchange_rows(double *row, double *other, long vectors) {
    Lanes *a = (Lanes *)row, *b = (Lanes *)other;
    for (long t = 0; t < vectors * PARTS; t++) { Lanes x = a[t]; a[t] = b[t]; b[t] = x; }
}

/* The sum of many rows, at a distance of so many vectors, each times a number. */
static inline void sum_rows(double *out, const double *rows, const double *factors, long apart, long many, long vectors) {
    for (long t = 0; t < vectors; t++, out += 8, rows += 8) {
        Lanes s[PARTS];
        EACH s[n] = (Lanes){0};
        for (long p = 0; p < many; p++) EACH s[n] += factors[p] * ((const Lanes *)(rows + 8 * p * apart))[n];
        EACH ((Lanes *)out)[n] = s[n];
    }
}
