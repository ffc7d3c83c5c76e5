from pfaff.kernels.condensation cimport Orbit, Scheme
from pfaff.kernels.metrics cimport Metric
from pfaff.kernels.orbit_steps cimport Measures, Place, Workspace

cdef struct Note:  # of a point: offsets of its mesh and orbit in the store, and of both as the next step takes them
    Py_ssize_t mesh
    Py_ssize_t orbit
    Py_ssize_t intervals
    Py_ssize_t next_mesh
    Py_ssize_t next_orbit
    Py_ssize_t next_intervals
    Py_ssize_t steps
    Py_ssize_t unstable
    double length
    double turned
    double determinant
    double error
    double residual
    double margin
    double period
    double amplitude
    double value
    double[4] tests

cdef struct Known:  # of a branch so far
    bint earlier
    bint finer
    Py_ssize_t age
    Py_ssize_t passed
    double gone
    double rate
    double shortest
    double greatest
    double farthest

cdef struct Terms:  # of a walk
    double enough  # last change of Newton's method, in a step ...
    double converged  # ... and on a finer mesh
    Py_ssize_t ones
    bint level
    double mirrored
    double clear
    double scale
    double longest
    double lower
    double upper
    double period
    double amplitude
    double value

cpdef Py_ssize_t step_room(Py_ssize_t N, Py_ssize_t n, Py_ssize_t slopes, Py_ssize_t nb) noexcept nogil
cpdef Py_ssize_t record_length(Py_ssize_t N, Py_ssize_t n, Py_ssize_t slopes, Py_ssize_t nb) noexcept nogil

cdef class Walker:
    cdef object _workspaces
    cdef object _kept
    cdef Workspace _room
    cdef Workspace _spare
    cdef Measures _measures
    cdef Terms _terms
    cdef Known known
    cdef Note *_notes
    cdef Py_ssize_t _n
    cdef Py_ssize_t _slopes
    cdef Py_ssize_t _nb
    cdef Py_ssize_t _capacity
    cdef Py_ssize_t _most
    cdef double *_signs
    cdef double *_store
    cdef double *_spectra
    cdef double *_meshes  # lengths of intervals and weights of mesh points, of three meshes
    cdef double *_values
    cdef double *_covered
    cdef Workspace _for(self, Py_ssize_t N)
    cdef double *_record(self, Py_ssize_t at, Py_ssize_t N, Orbit *orbit, Orbit *tangent) noexcept
    cdef void _put_mesh(self, Py_ssize_t which, Place *place, Py_ssize_t at, Py_ssize_t N) noexcept
    cdef Py_ssize_t _place(self, Place *place, Py_ssize_t which, Py_ssize_t mesh, Py_ssize_t N, Py_ssize_t at) noexcept
    cdef bint _solve(
        self, Workspace room, Place *place, Metric *metric, double *basis, Orbit *stages, double length, double enough,
        Note *note) except? -1
    cdef bint _happens(
        self, Workspace room, Note *before, Note *here, Note *note, Metric *metric, Orbit *stages, Place *place
    ) noexcept
    cdef bint _noticed(self, Note *note) noexcept
    cdef Py_ssize_t _remesh(
        self, Workspace room, Place *place, double *shares, Py_ssize_t M, Py_ssize_t free) noexcept
    cdef double _spread(self, Workspace room, Place *place, double ahead, double *shares) noexcept
    cdef int _take_earlier(self, Workspace room, Note *before, Note *here, Place *place, Orbit *stages) except -1
    cdef Py_ssize_t _refine(self, Place *place, Note *note, Py_ssize_t free) except? -1
    cdef Py_ssize_t _renew(self, Place *place, Note *note, Note *here, bint finer, Py_ssize_t free) except? -1
