"""Functions of CUDA's and HIP's runtime and of their kernels, by name; and a header of our own that declares them, for
programs that are read where neither is installed.

NVIDIA, CUDA C++ Programming Guide, sections 7 (language extensions) and 13 (mathematical functions); AMD, HIP
Programming Guide. The names of HIP are those of CUDA with another first word.
"""

from __future__ import annotations

from collections.abc import Iterator

from aspenpy.extract import group_headers
from aspenpy.extract import records as r
from aspenpy.extract.matrix_units import write_header
from aspenpy.language.source import Span

INT = r.Type("integer", 4)

INDICES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
AXES = ("x", "y", "z")

WARP_MACRO = "__AMDGCN_WAVEFRONT_SIZE"
"""The macro by which Clang says how many threads a warp has, where it compiles for AMD (LLVM, "HIP Support")."""

WARPS = {".hip": 64}
"""Threads of a warp by the ending of a file, unless an option says otherwise; of others they are 32."""


def warp_option(threads: int) -> str:
    """The preprocessor's option for warps of `threads` threads."""
    return f"-D{WARP_MACRO}={threads}"


ALLOCATIONS = frozenset("Malloc MallocManaged MallocHost HostAlloc MallocAsync HostMalloc".split())
"""Functions that give memory by their first argument; the second is its bytes."""

TRANSFERS = {
    "Memcpy": (2, 3), "MemcpyAsync": (2, 3), "MemcpyToSymbol": (2, 4), "MemcpyFromSymbol": (2, 4),
    "MemPrefetchAsync": (1, None), "MemcpyHtoD": (2, None), "MemcpyDtoH": (2, None),
}  # fmt: skip
"""Functions that copy between the host and the device: where their bytes stand, and the direction."""

DIRECTIONS = ("HostToHost", "HostToDevice", "DeviceToHost", "DeviceToDevice", "Default")
HOST_TO_HOST, DEVICE_TO_DEVICE = 0, 3

SETTING = frozenset({"Memset", "MemsetAsync"})

ASKING = frozenset(
    "GetDevice GetDeviceCount GetDeviceProperties EventElapsedTime MemGetInfo DeviceGetAttribute EventCreate "
    "StreamCreate EventCreateWithFlags StreamCreateWithFlags DriverGetVersion RuntimeGetVersion "
    "OccupancyMaxActiveBlocksPerMultiprocessor GetSymbolAddress".split()
)
"""Functions that answer through a pointer."""

QUIET = frozenset(
    "Free FreeHost FreeAsync HostFree DeviceSynchronize StreamSynchronize EventRecord EventSynchronize EventDestroy "
    "StreamDestroy StreamWaitEvent GetLastError PeekAtLastError SetDevice DeviceReset GetErrorString GetErrorName "
    "DeviceSetCacheConfig FuncSetCacheConfig FuncSetAttribute DeviceSetSharedMemConfig HostRegister HostUnregister "
    "MemAdvise ProfilerStart ProfilerStop DeviceSetLimit EventQuery StreamQuery GraphCreate GraphInstantiate "
    "GraphUpload GraphDestroy GraphExecDestroy GraphInstantiateWithFlags".split()
)
"""Functions without work of their own."""

UNCOUNTED = frozenset(
    "LaunchKernel LaunchCooperativeKernel GraphAddKernelNode GraphExecKernelNodeSetParams MallocPitch Memcpy2D "
    "Memcpy2DAsync Memcpy3D".split()
)
"""Functions that are declared and not counted; each is told with its line."""

GRAPHS = {
    "StreamBeginCapture": "device graph begin",
    "StreamEndCapture": "device graph end",
    "GraphLaunch": "device graph launch",
}
"""Functions between which launches go into a graph, and the one that launches it, by the keys of their calls."""

BARRIERS = frozenset({"__syncthreads", "__syncwarp", "__threadfence", "__threadfence_block", "__threadfence_system"})

ATOMICS = {
    "Add": "+", "Sub": "-", "Inc": "+", "Dec": "-", "And": "&", "Or": "|", "Xor": "^", "Exch": "", "Max": "", "Min": "",
    "CAS": "",
}  # fmt: skip
"""Atomic operations, `atomicAdd` and so on, and the operator that says what each does with the word in memory."""

LOADS = frozenset({"__ldg", "__ldcs", "__ldcg", "__ldca", "__builtin_nontemporal_load"})
SHUFFLES = frozenset("__shfl __shfl_up __shfl_down __shfl_xor".split())
COUNTING = frozenset("__popc __popcll __clz __clzll __ffs __ffsll __brev __brevll".split())
VOTES = frozenset("__ballot_sync __any_sync __all_sync __activemask __ballot __any __all".split())

_REALS = (
    "sqrt exp exp2 exp10 log log2 log10 sin cos tan asin acos atan sinh cosh tanh cbrt erf erfc tgamma lgamma expm1"
)
_REALS += " log1p floor ceil round trunc rint nearbyint fabs rsqrt rcbrt"
_PAIRS = "pow atan2 fmod hypot fmin fmax copysign fdim remainder"


SHARED = "shared@"
"""How the keys of variables in the shared memory of a device begin."""


def index_variable(name: str, axis: str, span: Span | None = None) -> r.Variable:
    """The variable that stands for `threadIdx.x` and its like in the kernels of a device."""
    return r.Variable(f"device@{name}.{axis}", f"{name}_{axis}", INT, "local", span=span)


def device_name(name: str) -> str | None:
    """The name of a function of either runtime without its first word; None for other functions."""
    return next((name[len(word) :] for word in ("cuda", "hip", "cu") if name.startswith(word) and len(name) > 4), None)


def _write_header() -> Iterator[str]:
    yield f"#pragma once\n#if {WARP_MACRO} == 64"
    yield from (f"#define {word} 1" for word in ("__HIPCC__", "__HIP__", "__HIP_PLATFORM_AMD__"))
    yield "#else\n#define __CUDACC__ 1\n#define __NVCC__ 1\n#endif"
    for name in ("stddef.h", "stdint.h", "stdlib.h", "string.h", "math.h", "time.h"):
        yield f"#if __has_include(<{name}>)\n#include <{name}>\n#endif"
    for word in ("global", "device", "host", "shared", "constant"):
        yield f"#define __{word}__ __attribute__(({word}))"
    yield "#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))\n#define __managed__"
    yield "#define __forceinline__ inline __attribute__((always_inline))"
    yield "#define __noinline__ __attribute__((noinline))"
    yield f"#define __restrict__ __restrict\n#define __grid_constant__\nenum {{ warpSize = {WARP_MACRO} }};"
    yield from _write_vectors()
    yield "struct dim3 { unsigned x, y, z; __host__ __device__ dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1)"
    yield "  : x(a), y(b), z(c) {} __host__ __device__ dim3(uint3 a) : x(a.x), y(a.y), z(a.z) {} };"
    yield "extern const uint3 threadIdx, blockIdx; extern const dim3 blockDim, gridDim;"
    yield "#define hipLaunchKernelGGL(kernel, grid, block, bytes, stream, ...) \\"
    yield "  kernel<<<(grid), (block), (bytes), (stream)>>>(__VA_ARGS__)\n#define HIP_KERNEL_NAME(...) __VA_ARGS__"
    yield "#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];"
    for first in ("cuda", "hip"):
        yield from _write_runtime(first)
    yield from _write_device()


def _write_vectors() -> Iterator[str]:
    for type, name in (("float", "float"), ("double", "double"), ("int", "int"), ("unsigned", "uint")):
        for width in (2, 3, 4):
            names = ", ".join("xyzw"[:width])
            given = ", ".join(f"{type} {axis}" for axis in "xyzw"[:width])
            yield f"struct {name}{width} {{ {type} {names}; }};"
            yield f"static inline __host__ __device__ {name}{width} make_{name}{width}({given})"
            yield f"{{ {name}{width} made = {{{names}}}; return made; }}"


def _write_runtime(first: str) -> Iterator[str]:
    """The runtime for the host, by templates that take any pointers."""
    yield f"enum {first}Error_t {{ {first}Success }}; typedef struct {first}Stream* {first}Stream_t;"
    yield f"typedef struct {first}Event* {first}Event_t;"
    yield f"enum {first}MemcpyKind {{ {', '.join(f'{first}Memcpy{name}' for name in DIRECTIONS)} }};"
    yield f"struct {first}DeviceProp {{ char name[256]; size_t totalGlobalMem, sharedMemPerBlock; int regsPerBlock,"
    yield "  warpSize, maxThreadsPerBlock, multiProcessorCount, clockRate, memoryClockRate, memoryBusWidth,"
    yield "  major, minor, maxThreadsPerMultiProcessor, l2CacheSize; };"
    yield f"typedef {first}DeviceProp {first}DeviceProp_t;"
    for name in sorted(ALLOCATIONS):
        yield f"template <class T> {first}Error_t {first}{name}(T** memory, size_t bytes, ...);"
    for word in ("Graph", "GraphExec", "GraphNode"):
        yield f"typedef struct {first}{word}* {first}{word}_t;"
    modes = ", ".join(f"{first}StreamCaptureMode{mode}" for mode in ("Global", "ThreadLocal", "Relaxed"))
    yield f"enum {first}StreamCaptureMode {{ {modes} }};"
    for name in sorted(
        (TRANSFERS.keys() | SETTING | ASKING | QUIET | UNCOUNTED | GRAPHS.keys()) - {"GetErrorString", "GetErrorName"}
    ):
        yield f"template <class... T> {first}Error_t {first}{name}(T... given);"
    for name in ("GetErrorString", "GetErrorName"):
        yield f"const char* {first}{name}({first}Error_t error);"
    yield f'extern "C" {first}Error_t {first}ConfigureCall(dim3, dim3, size_t = 0, {first}Stream_t = 0);'
    yield f'extern "C" unsigned __{first}PushCallConfiguration(dim3, dim3, size_t = 0, {first}Stream_t = 0);'
    for word, value in (("HostAllocDefault", 0), ("MemAttachGlobal", 1), ("StreamNonBlocking", 1)):
        yield f"enum {{ {first}{word} = {value} }};"


def _write_device() -> Iterator[str]:
    """Functions of kernels. The host's own have the same names: kernels see these, which are for the device alone."""
    for name in _REALS.split():
        yield f"__device__ double {name}(double); __device__ float {name}(float); __device__ float {name}f(float);"
    for name in _PAIRS.split():
        for type, last in (("double", ""), ("float", ""), ("float", "f")):
            yield f"__device__ {type} {name}{last}({type}, {type});"
    yield "__device__ double fma(double, double, double); __device__ float fma(float, float, float);"
    yield "__device__ float fmaf(float, float, float); __device__ float __fmaf_rn(float, float, float);"
    yield "__device__ int abs(int); __device__ float abs(float); __device__ double abs(double);"
    for name in ("min", "max"):
        for type in ("int", "unsigned", "long", "unsigned long", "long long", "unsigned long long", "float", "double"):
            yield f"__device__ {type} {name}({type}, {type});"
    for name in ("sinf", "cosf", "tanf", "expf", "exp10f", "logf", "log2f", "log10f"):
        yield f"__device__ float __{name}(float);"
    yield "__device__ float __powf(float, float); __device__ float __fdividef(float, float);"
    yield "__device__ int printf(const char*, ...);"
    yield 'extern "C" __device__ void __assert_fail(const char*, const char*, unsigned, const char*);'
    for name in sorted(BARRIERS - {"__syncthreads"}):
        yield (
            f"__device__ void {name}(unsigned = 0xffffffffu);" if name == "__syncwarp" else f"__device__ void {name}();"
        )
    yield "__device__ void __syncthreads();"
    for name in ATOMICS:
        third = ", T" if name == "CAS" else ""
        for last in ("", "_block", "_system"):
            yield f"template <class T, class U> __device__ T atomic{name}{last}(T*, U{third});"
    for name in sorted(LOADS):
        yield f"template <class T> __device__ T {name}(const T*);"
    for name in sorted(SHUFFLES):
        yield f"template <class T> __device__ T {name}_sync(unsigned, T, int, int = 32);"
        yield f"template <class T> __device__ T {name}(T, int, int = 32);"
    for name in sorted(COUNTING):
        yield f"__device__ int {name}(unsigned long long);"
    for name in sorted(VOTES):
        yield f"template <class... T> __device__ unsigned {name}(T...);"


HEADER = "\n".join((*_write_header(), write_header(), group_headers.HEADER)) + "\n"

NAMES = (
    "cuda_runtime.h", "cuda.h", "cuda_runtime_api.h", "device_launch_parameters.h", "cuda_profiler_api.h",
    "hip/hip_runtime.h", "hip/hip_runtime_api.h", "device_functions.h", "cuda_device_runtime_api.h", "vector_types.h",
    "math_constants.h", "sm_20_atomic_functions.h", "mma.h", "cuda_fp16.h", "cuda_bf16.h", "hip/hip_fp16.h",
    "hip/hip_bf16.h", "hip/hip_bfloat16.h", "rocwmma/rocwmma.hpp", *group_headers.HEADERS,
)  # fmt: skip
"""Headers of the toolkits that the one here stands for."""
