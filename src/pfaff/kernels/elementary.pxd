cdef extern from "bits.h" nogil:
    long long bits_of(double x)
    double of_bits(long long i)

cdef double sine(double x) noexcept nogil
cdef double cosine(double x) noexcept nogil
cdef double tangent(double x) noexcept nogil
cdef double exponential(double x) noexcept nogil
cdef double logarithm(double x) noexcept nogil

cdef double infinite() noexcept nogil
cdef double undefined() noexcept nogil
cdef double exponential_less_one(double x) noexcept nogil
cdef double logarithm_of_one_more(double x) noexcept nogil

cdef void sine_and_cosine(double x, double *s, double *c) noexcept nogil

cdef void sines_and_cosines(const double *x, double *s, double *c) noexcept nogil
cdef void exponentials(const double *x, double *y) noexcept nogil
cdef void logarithms(const double *x, double *y) noexcept nogil

# inside
cdef double _multiple(double x) noexcept nogil
cdef double _left(double a, double b) noexcept nogil
cdef double _near(double x, double k) noexcept nogil
cdef double _near_rest(double x, double k) noexcept nogil
cdef double _sine(double r, double t) noexcept nogil
cdef double _cosine(double r, double t) noexcept nogil
cdef double _quadrant(double k) noexcept nogil
cdef double _far(double x, double *r, double *t) noexcept nogil
cdef unsigned long long _word(unsigned long long *word, int at) noexcept nogil
cdef unsigned long long _lowest(unsigned long long x, int many) noexcept nogil
cdef double _sine_of(double k, double r, double t) noexcept nogil
cdef double _cosine_of(double k, double r, double t) noexcept nogil
cdef double _curved(double r) noexcept nogil
cdef double _doublings(double x) noexcept nogil
cdef double _two_to(double k) noexcept nogil
cdef double _exponential(double x) noexcept nogil
cdef double _logarithm(double x, double before) noexcept nogil
