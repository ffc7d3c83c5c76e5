cdef struct Code:  # what readers need of a tape
    const int *rows
    const int *runs
    const int *outputs
    const double *numbers
    long prologue_runs
    long main_runs
    long n
    long p
    long many_numbers
    long size
    long many_outputs

cdef void run(const int *rows, const int *runs, Py_ssize_t first, Py_ssize_t last, double *w) noexcept nogil
cdef void run_lanes(const int *rows, const int *runs, Py_ssize_t first, Py_ssize_t last, double *w) noexcept nogil
