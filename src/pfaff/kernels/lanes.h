/* A sum of a recurrence in eight lanes, for the vectors that the processor has: GCC's and clang's extension. */
#ifdef __AVX2__
#define TOGETHER 4
#else
#define TOGETHER 2
#endif
#define PARTS (8 / TOGETHER)
#define EACH for (int n = 0; n < PARTS; n++)
typedef double Lanes __attribute__((vector_size(8 * TOGETHER), aligned(8), may_alias));

/* Add (or take off) the sum of left[j] right[count - 1 - j]. */
#define CONVOLVED(SIGN, left, right) { \
    const Lanes *f = (const Lanes *)(left), *g = (const Lanes *)(right) + PARTS * (count - 1); \
    for (long m = 0; m < count; m++, f += PARTS, g -= PARTS) EACH s[n] SIGN f[n] * g[n]; }

/* w[c] u[x] + … + convolutions − convolutions, by what the code says, times or over a factor if there is one. */
static inline void lane_sum(double *out, const int *code, long linear, long plus, long minus, const double *w,
                            const double *u, const double *left, const double *right, long count, const double *factor, int over) {
    Lanes s[PARTS];
    EACH s[n] = (Lanes){0};
    const int *pair = code + 2 * linear; /* first what does not wait for coefficients of this order */
    for (long i = 0; i < plus; i++, pair += 4) CONVOLVED(+=, left + pair[2], right + pair[3])
    for (long i = 0; i < minus; i++, pair += 4) CONVOLVED(-=, left + pair[2], right + pair[3])
    for (long i = 0; i < linear; i++, code += 2) {
        const Lanes *c = (const Lanes *)(w + 8L * code[0]), *x = (const Lanes *)(u + 8L * code[1]);
        EACH s[n] += c[n] * x[n];
    }
    if (minus) EACH ((Lanes *)out)[n] = (Lanes){0}; /* a quotient's own coefficient is not yet known */
    for (long i = 0; i < plus + minus; i++, code += 4) {
        const Lanes *a = (const Lanes *)(w + 8L * code[0]), *b = (const Lanes *)(u + 8L * code[1]);
        const Lanes *c = (const Lanes *)(u + 8L * code[0]), *d = (const Lanes *)(w + 8L * code[1]);
        if (i < plus) EACH s[n] += a[n] * b[n] + c[n] * d[n];
        else EACH s[n] -= a[n] * b[n] + c[n] * d[n];
    }
    if (over) EACH s[n] /= ((const Lanes *)factor)[n];
    else if (factor) EACH s[n] *= ((const Lanes *)factor)[n];
    EACH ((Lanes *)out)[n] = s[n];
}

/* ± (u w + the sum of left[j] right[count - 1 - j] over the order). */
static inline void lane_function(double *out, double sign, const double *u, const double *w, const double *left,
                                 const double *right, long count, double order) {
    Lanes s[PARTS];
    EACH s[n] = (Lanes){0};
    CONVOLVED(+=, left, right)
    EACH s[n] = (s[n] / order + ((const Lanes *)u)[n] * ((const Lanes *)w)[n]) * sign;
    EACH ((Lanes *)out)[n] = s[n];
}

static inline void lane_copy(double *out, const double *x) { EACH ((Lanes *)out)[n] = ((const Lanes *)x)[n]; }
static inline void lane_times(double *out, const double *x, double factor) { EACH ((Lanes *)out)[n] = ((const Lanes *)x)[n] * factor; }
static inline void lane_over(double *out, const double *x, double by) { EACH ((Lanes *)out)[n] = ((const Lanes *)x)[n] / by; }
