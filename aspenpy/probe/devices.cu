/* Measures the first GPU. Prints lines `name value`: counts, bytes, hertz, seconds, operations and bytes a second; each
   measured one several times. Ends with status 3 where there is no device. */
#include <cstdio>
#include <cstdlib>

enum { CHAINS = 8, STEPS = 2048, THREADS = 256, TIMES = 10, LAUNCHES = 200, SMALL = 64 };
static const size_t BYTES = 192u << 20; /* of each of two arrays: beyond the caches of today's devices */
static const size_t SENT = 32u << 20;

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    cudaError_t error = (call);                                                                                        \
    if (error != cudaSuccess) {                                                                                        \
      fprintf(stderr, "%s\n", cudaGetErrorString(error));                                                              \
      exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 3 : 1);                                \
    }                                                                                                                  \
  } while (0)

/* Fused multiply-adds: eight chains a thread. */
template <typename number> __global__ void fma_chains(number near, number small, number *result)
{
  number x[CHAINS];
  for (int chain = 0; chain < CHAINS; chain++)
    x[chain] = near + (number)chain;
  for (int i = 0; i < STEPS; i++)
#pragma unroll
    for (int chain = 0; chain < CHAINS; chain++)
      x[chain] = x[chain] * near + small;
  number sum = 0;
  for (int chain = 0; chain < CHAINS; chain++)
    sum += x[chain];
  if (sum == (number)-1) /* never: keeps what is computed */
    *result = sum;
}

__global__ void load(const double2 *from, size_t count, double *result)
{
  double sum = 0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (size_t)blockDim.x)
    sum += from[i].x + from[i].y;
  if (sum == -1)
    *result = sum;
}

__global__ void copy(const double2 *from, double2 *to, size_t count)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (size_t)blockDim.x)
    to[i] = from[i];
}

__global__ void nothing() {}

/* Prints a rate, or seconds where `amount` is 0, of several runs; the first, which loads the code, is left out. */
template <typename action> static void timed(const char *name, double amount, int repeats, action act)
{
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  for (int run = 0; run <= TIMES; run++) {
    float milliseconds;
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < repeats; i++)
      act();
    CHECK(cudaEventRecord(end));
    CHECK(cudaGetLastError());
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    double seconds = milliseconds / 1e3 / repeats;
    if (run)
      printf("%s %.9g\n", name, amount > 0 ? amount / seconds : seconds);
  }
}

static void transfers(char *host, char *device)
{
  timed("link_bandwidth", (double)SENT, 1, [&] { CHECK(cudaMemcpyAsync(device, host, SENT, cudaMemcpyHostToDevice)); });
  timed("link_latency", 0, 20, [&] { CHECK(cudaMemcpyAsync(device, host, SMALL, cudaMemcpyHostToDevice)); });
}

int main()
{
  int devices = 0, clock = 0;
  cudaDeviceProp found;
  CHECK(cudaGetDeviceCount(&devices));
  if (!devices)
    return 3;
  CHECK(cudaGetDeviceProperties(&found, 0));
  CHECK(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0));
  printf("devices %d\nmultiprocessors %d\ncapacity %.9g\nclock %.9g\n", devices, found.multiProcessorCount,
         (double)found.totalGlobalMem, clock * 1e3);
  char *from, *to, *host;
  CHECK(cudaMalloc((void **)&from, BYTES));
  CHECK(cudaMalloc((void **)&to, BYTES));
  CHECK(cudaMallocHost((void **)&host, SENT));
  CHECK(cudaMemset(from, 0, BYTES));
  int blocks = 16 * found.multiProcessorCount;
  size_t count = BYTES / sizeof(double2);
  double flops = 2.0 * CHAINS * STEPS * THREADS * blocks;
  timed("fma_sp", flops, 1, [&] { fma_chains<float><<<blocks, THREADS>>>(1.0f, 1e-6f, (float *)to); });
  timed("fma_dp", flops, 1, [&] { fma_chains<double><<<blocks, THREADS>>>(1.0, 1e-6, (double *)to); });
  timed("load_bandwidth", (double)BYTES, 1, [&] { load<<<blocks, THREADS>>>((double2 *)from, count, (double *)to); });
  timed("copy_bandwidth", 2.0 * BYTES, 1, [&] { copy<<<blocks, THREADS>>>((double2 *)from, (double2 *)to, count); });
  timed("launch_latency", 0, LAUNCHES, [] { nothing<<<1, 1>>>(); });
  transfers(host, from);
  return 0;
}
