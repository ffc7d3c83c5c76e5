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

# inside
cdef double _atan(double r) noexcept nogil
