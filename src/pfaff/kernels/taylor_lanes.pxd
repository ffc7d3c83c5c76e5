cdef extern from "lanes.h" nogil:
    void lane_sum(
        double *out, const int *code, long linear, long plus, long minus, const double *w, const double *u,
        const double *left, const double *right, long count, const double *factor, bint over
    )
    void lane_function(
        double *out, double sign, const double *u, const double *w, const double *left, const double *right, long count,
        double order
    )
    void lane_copy(double *out, const double *x)
    void lane_times(double *out, const double *x, double factor)
    void lane_over(double *out, const double *x, double by)
