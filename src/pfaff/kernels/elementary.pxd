cdef extern from "bits.h" nogil:
    long long bits_of(double x)
    double of_bits(long long i)

cdef double sine(double x) noexcept nogil
cdef double cosine(double x) noexcept nogil
cdef double tangent(double x) noexcept nogil
cdef double exponential(double x) noexcept nogil
cdef double logarithm(double x) noexcept nogil
cdef double sinh(double x) noexcept nogil
cdef double cosh(double x) noexcept nogil
cdef double tanh(double x) noexcept nogil
cdef double asinh(double x) noexcept nogil
cdef double acosh(double x) noexcept nogil
cdef double atanh(double x) noexcept nogil
cdef double atan(double x) noexcept nogil
cdef double atan2(double y, double x) noexcept nogil
cdef double asin(double x) noexcept nogil
cdef double acos(double x) noexcept nogil

cdef void sine_and_cosine(double x, double *s, double *c) noexcept nogil

cdef void sines_and_cosines(const double *x, double *s, double *c) noexcept nogil
cdef void exponentials(const double *x, double *y) noexcept nogil
cdef void logarithms(const double *x, double *y) noexcept nogil
