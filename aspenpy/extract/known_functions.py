"""What the functions of libraries do, whose text is not at hand, by name."""

from __future__ import annotations

FREE = frozenset({"fabs", "fabsf", "abs", "labs", "copysign", "__builtin_expect", "move", "forward"})
"""Functions that cost no arithmetic."""

SQUARE_ROOTS = frozenset({"sqrt", "sqrtf"})

EXTREMES = {"min": "min", "max": "max", "fmin": "min", "fmax": "max", "fminf": "min", "fmaxf": "max"}

READING = frozenset("atoi atol atoll strtol strtoul strtoll strtoull stoi stol stoul stoll".split())
"""Functions that read a whole number from text, such as a word of the command line."""

ALLOCATIONS = frozenset({"malloc", "calloc", "aligned_alloc", "realloc", "_mm_malloc", "alloca", "__builtin_alloca"})

IGNORED = frozenset({
    *"free printf fprintf puts putchar fputs fflush fclose fopen perror".split(),
    *"exit _exit abort terminate throw assert __assert_fail".split(),
    *"time clock gettimeofday clock_gettime omp_get_wtime srand posix_memalign".split(),
    *"atoi atol atof strtol strtoul strtod strcmp strlen strncmp sscanf scanf fscanf fgets getenv".split(),
    *"sprintf snprintf".split(),
    *"resize reserve push_back emplace_back clear begin end swap fill assign iota generate endl flush".split(),
    *"operator<< operator>> operator delete".split(),
    *"omp_get_thread_num omp_get_num_threads omp_get_max_threads omp_set_num_threads".split(),
})  # fmt: skip
"""Functions whose own work is left out; what they may change is forgotten."""

WRITING = frozenset("sscanf scanf fscanf fgets fread sprintf snprintf posix_memalign swap fill iota generate".split())
"""Those of them that store to memory of the program."""

PURE = frozenset({
    *"exp expf exp2 log logf log2 log10 pow powf sin sinf cos cosf tan tanf asin acos atan".split(),
    *"atan2 sinh cosh tanh cbrt hypot floor ceil round trunc rint fmod erf tgamma expm1 log1p floorf ceilf".split(),
})  # fmt: skip
"""Functions of a mathematical library that touch no memory of the program."""

COPIES = frozenset({"memcpy", "memmove", "memset"})

SIZES = frozenset({"size", "length"})
"""Methods of containers that tell how many elements they hold."""

RESIZING = frozenset("resize assign push_back emplace_back pop_back insert erase clear".split())
"""Methods of containers that change how many elements they hold."""

KNOWN = PURE | FREE | ALLOCATIONS | SQUARE_ROOTS | IGNORED | SIZES | EXTREMES.keys()
"""Functions that store to none of the program's whole numbers."""

GROWING = frozenset({"push_back", "emplace_back", "insert", "append"})
"""Functions of a container by which it has more elements than its size said."""
