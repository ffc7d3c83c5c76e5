cpdef double sine(double x) noexcept nogil
