cdef extern from "bits.h" nogil:
    long long bits_of(double x)
    double of_bits(long long i)

cpdef double sine(double x) noexcept nogil
cpdef double cosine(double x) noexcept nogil
cpdef double tangent(double x) noexcept nogil
cpdef double exponential(double x) noexcept nogil
cpdef double exponential_less_one(double x) noexcept nogil
cpdef double logarithm(double x) noexcept nogil
cpdef double logarithm_of_one_more(double x) noexcept nogil
cpdef double sinh(double x) noexcept nogil
cpdef double cosh(double x) noexcept nogil
cpdef double tanh(double x) noexcept nogil
cpdef double asinh(double x) noexcept nogil
cpdef double acosh(double x) noexcept nogil
cpdef double atanh(double x) noexcept nogil
cpdef double atan(double x) noexcept nogil
cpdef double atan2(double y, double x) noexcept nogil
cpdef double asin(double x) noexcept nogil
cpdef double acos(double x) noexcept nogil

cdef void sine_and_cosine(double x, double *s, double *c) noexcept nogil

cdef void sines_and_cosines(const double *x, double *s, double *c) noexcept nogil
cdef void exponentials(const double *x, double *y) noexcept nogil
cdef void logarithms(const double *x, double *y) noexcept nogil
