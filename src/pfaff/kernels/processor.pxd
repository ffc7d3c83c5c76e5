cdef extern from "processor.h" nogil:
    bint has_wide_registers()
