"""Functions of libraries, whose text is not at hand, and their effects by name; and which calls of MPI send what.

Sizes of messages are those of one rank (MPI: A Message-Passing Interface Standard 4.0, chapters 3 and 6); the names of
algorithms and what the size of each means are those of docs/networks.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from aspenpy.record import Record

FREE = frozenset({"fabs", "fabsf", "abs", "labs", "copysign", "__builtin_expect", "move", "forward"})
"""Functions that cost no arithmetic."""

SQUARE_ROOTS = frozenset({"sqrt", "sqrtf"})

EXTREMES = {"min": "min", "max": "max", "fmin": "min", "fmax": "max", "fminf": "min", "fmaxf": "max"}

READING = frozenset("atoi atol atoll strtol strtoul strtoll strtoull stoi stol stoul stoll".split())
"""Functions that read a whole number from text, such as a word of the command line."""

INPUT = "input of Fortran"
"""The call that stores to the items of a `read`, and to those that library procedures return values in, alone."""

ALLOCATIONS = frozenset({"malloc", "calloc", "aligned_alloc", "realloc", "_mm_malloc", "alloca", "__builtin_alloca"})

TEXT_OF_FORTRAN = "text of Fortran"
"""The call that stands for functions of Fortran that give whole numbers of texts, such as `len_trim` and `scan`."""

IGNORED = frozenset({
    *"free printf fprintf puts putchar fputs fflush fclose fopen perror".split(),
    *"exit _exit abort terminate throw assert __assert_fail".split(),
    *"time clock gettimeofday clock_gettime omp_get_wtime srand posix_memalign".split(),
    *"atoi atol atof strtol strtoul strtod strcmp strlen strncmp sscanf scanf fscanf fgets getenv".split(),
    *"sprintf snprintf".split(),
    *"resize reserve push_back emplace_back clear begin end swap fill assign iota generate endl flush".split(),
    *"operator<< operator>> operator delete".split(),
    *"now duration_cast time_since_epoch count setw setprecision setfill fixed scientific left right boolalpha".split(),
    *"compare substr rfind c_str to_string getline getopt getopt_long strcpy strcat strncpy strdup strtok".split(),
    *"strchr strstr memcmp strerror signal rand random rand_r srandom difftime localtime strftime isdigit".split(),
    *"isspace isalpha isalnum toupper tolower __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc".split(),
    *"gethostname getpid sleep usleep".split(),
    *"omp_get_thread_num omp_get_num_threads omp_get_max_threads omp_set_num_threads".split(),
})  # fmt: skip
"""Functions whose own work is left out; what they may change is forgotten."""

WRITING = frozenset("sscanf scanf fscanf fgets fread sprintf snprintf posix_memalign swap fill iota generate".split())
"""Functions that store to memory of the program."""

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

COMPARING = frozenset(
    "qsort bsearch sort stable_sort partial_sort nth_element is_sorted lower_bound upper_bound binary_search merge "
    "equal_range max_element min_element inplace_merge".split()
)
"""Functions that call one of their arguments with two elements, as often as they compare."""

COARRAY = "coarray"
"""How the keys of calls begin that stand for what Fortran's coarrays do."""

COARRAYS = frozenset(f"{COARRAY} {word}".strip() for word in ("", "barrier", "allreduce", "reduce", "broadcast"))

KNOWN = PURE | FREE | ALLOCATIONS | SQUARE_ROOTS | IGNORED | SIZES | EXTREMES.keys()
KNOWN |= COARRAYS | {INPUT, TEXT_OF_FORTRAN}
"""Functions that store to none of the program's whole numbers."""

GROWING = frozenset({"push_back", "emplace_back", "insert", "append"})
"""Functions of a container by which it has more elements than its size said."""

APPENDING = frozenset({"push_back", "emplace_back"})
"""Those of them that have it behind all others."""


def is_left_out(name: str, key: str) -> bool:
    """Whether the own work of a call of a library is left out, by its name and what it stands for."""
    return name in IGNORED or key == TEXT_OF_FORTRAN


# -- MPI -------------------------------------------------------------------------------------------


class Sending(Record):
    """A function of MPI: where the number of elements and their type stand among its arguments, and the exchange that
    all ranks take part in, if it is one. `note` says what the language has no word for."""

    count: int | None
    type: int | None
    exchange: str = ""
    note: str = ""


_POINT = Sending(1, 2)
_ROOTED = "to or from one rank, as messages of the others"

SENDING = {
    **dict.fromkeys(("Send", "Isend", "Ssend", "Rsend", "Bsend", "Issend", "Send_init", "Sendrecv"), _POINT),
    "Sendrecv_replace": _POINT,
    "Put": _POINT,
    "Get": _POINT,
    "Accumulate": _POINT,
    "Bcast": Sending(1, 2, "broadcast"),
    "Reduce": Sending(2, 3, "reduce"),
    "Allreduce": Sending(2, 3, "allreduce"),
    "Reduce_scatter_block": Sending(2, 3, "reduce_scatter"),
    "Allgather": Sending(1, 2, "allgather"),
    "Allgatherv": Sending(1, 2, "allgather"),
    "Alltoall": Sending(1, 2, "alltoall"),
    "Gather": Sending(1, 2, note=_ROOTED),
    "Gatherv": Sending(1, 2, note=_ROOTED),
    "Scatter": Sending(1, 2, note=_ROOTED),
    "Scan": Sending(2, 3, note="from each rank to the next"),
    "Exscan": Sending(2, 3, note="from each rank to the next"),
    "Barrier": Sending(None, None, "barrier"),
}
"""By the name without `MPI_`; collectives that do not wait begin with `I`. What is received is counted where it is
sent."""

TYPE_BYTES = {
    "MPI_CHAR": 1, "MPI_BYTE": 1, "MPI_SIGNED_CHAR": 1, "MPI_UNSIGNED_CHAR": 1, "MPI_INT8_T": 1, "MPI_UINT8_T": 1,
    "MPI_C_BOOL": 1, "MPI_SHORT": 2, "MPI_UNSIGNED_SHORT": 2, "MPI_INT16_T": 2, "MPI_UINT16_T": 2, "MPI_INT": 4,
    "MPI_UNSIGNED": 4, "MPI_INT32_T": 4, "MPI_UINT32_T": 4, "MPI_FLOAT": 4, "MPI_LONG": 8, "MPI_UNSIGNED_LONG": 8,
    "MPI_LONG_LONG": 8, "MPI_LONG_LONG_INT": 8, "MPI_UNSIGNED_LONG_LONG": 8, "MPI_INT64_T": 8, "MPI_UINT64_T": 8,
    "MPI_DOUBLE": 8, "MPI_C_FLOAT_COMPLEX": 8, "MPI_FLOAT_INT": 8, "MPI_2INT": 8, "MPI_LONG_DOUBLE": 16,
    "MPI_DOUBLE_INT": 16, "MPI_C_DOUBLE_COMPLEX": 16, "MPI_CXX_DOUBLE_COMPLEX": 16, "MPI_CHARACTER": 1,
    "MPI_INTEGER": 4, "MPI_INTEGER4": 4, "MPI_INTEGER8": 8, "MPI_LOGICAL": 4, "MPI_REAL": 4, "MPI_REAL4": 4,
    "MPI_REAL8": 8, "MPI_DOUBLE_PRECISION": 8, "MPI_COMPLEX": 8, "MPI_DOUBLE_COMPLEX": 16, "MPI_2INTEGER": 8,
    "MPI_2REAL": 8, "MPI_2DOUBLE_PRECISION": 16,
}  # fmt: skip
"""Bytes of the types of MPI on machines of 64 bits."""


def find_message(name: str) -> Sending | None:
    """The message that a call of MPI sends; None for other calls."""
    word = name.removeprefix("MPI_")
    if word == name:
        return None
    plain = word[1:].capitalize() if word.startswith("I") and word not in SENDING else word
    return SENDING.get(plain)


def _write_header() -> Iterator[str]:
    """A header for programs whose MPI is not installed where they are read: functions take any arguments."""
    yield "typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Group, MPI_Win, MPI_Info, MPI_File;"
    yield "typedef long MPI_Aint, MPI_Offset;"
    yield "typedef struct { int MPI_SOURCE, MPI_TAG, MPI_ERROR; } MPI_Status;"
    for index, name in enumerate(TYPE_BYTES):
        yield f"#define {name} ((MPI_Datatype){index + 1})"
    operations = "MAX MIN SUM PROD LAND BAND LOR BOR LXOR BXOR MAXLOC MINLOC REPLACE".split()
    for index, name in enumerate(("COMM_WORLD", "COMM_SELF", "COMM_NULL", "ANY_SOURCE", "ANY_TAG", "PROC_NULL")):
        yield f"#define MPI_{name} ({-index - 1})"
    for index, name in enumerate(operations):
        yield f"#define MPI_{name} ((MPI_Op){index + 1})"
    yield "#define MPI_STATUS_IGNORE ((MPI_Status*)0)\n#define MPI_STATUSES_IGNORE ((MPI_Status*)0)"
    yield "#define MPI_IN_PLACE ((void*)-1)\n#define MPI_SUCCESS 0\n#define MPI_REQUEST_NULL 0"
    yield "#define MPI_MAX_PROCESSOR_NAME 256\n#define MPI_INFO_NULL 0"
    yield "#define MPI_THREAD_SINGLE 0\n#define MPI_THREAD_FUNNELED 1\n#define MPI_THREAD_MULTIPLE 3"
    yield '#ifdef __cplusplus\nextern "C" {\n#define ANY_ARGUMENTS ...\n#else\n#define ANY_ARGUMENTS\n#endif'
    yield "double MPI_Wtime(void);"
    nonblocking = [f"I{name.lower()}" for name, kind in SENDING.items() if kind is not _POINT]
    others = "Init Init_thread Finalize Abort Comm_rank Comm_size Comm_split Comm_dup Comm_free Recv Irecv Recv_init "
    others += "Wait Waitall Waitany Waitsome Test Testall Start Startall Request_free Probe Iprobe Get_count "
    others += (
        "Type_contiguous Type_vector Type_commit Type_free Cart_create Cart_coords Cart_shift Cart_rank Dims_create "
    )
    others += "Get_processor_name Op_create Op_free Type_create_struct Type_size Alltoallv Reduce_scatter Scatterv "
    others += "Cart_sub Error_string Comm_group Group_incl Comm_create Win_create Win_fence Win_free Address"
    for name in (*SENDING, *nonblocking, *others.split()):
        yield f"int MPI_{name}(ANY_ARGUMENTS);"
    yield "#ifdef __cplusplus\n}\n#endif\n"


HEADER = "\n".join(_write_header())
