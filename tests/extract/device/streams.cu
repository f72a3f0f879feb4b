// Kernels that stream doubles with so few threads on each multiprocessor that latency decides: two blocks reside, since
// each takes nearly half of the shared memory. Of their own, in the manner of RRZE's gpu-stream.
#ifndef THREADS
#define THREADS 256
#endif
#ifndef SHARED
#define SHARED (80 << 10)
#endif

__global__ void read(double *a, const double *__restrict__ b, const double *__restrict__ c) {
  int i = blockIdx.x*THREADS + threadIdx.x;
  double value = b[i];
  if (i < 0) a[i] = value;
}
__global__ void scale(double *a, const double *__restrict__ b, const double *__restrict__ c) {
  int i = blockIdx.x*THREADS + threadIdx.x;
  a[i] = 1.2*b[i];
}
__global__ void triad(double *a, const double *__restrict__ b, const double *__restrict__ c) {
  int i = blockIdx.x*THREADS + threadIdx.x;
  a[i] = 1.2*b[i] + c[i];
}
int main() {
  const int n = 1 << 27, blocks = n/THREADS;
  double *a, *b, *c;
  cudaMalloc(&a, 1ul << 30);
  cudaMalloc(&b, 1ul << 30);
  cudaMalloc(&c, 1ul << 30);
  read<<<blocks, THREADS, SHARED>>>(a, b, c);
  scale<<<blocks, THREADS, SHARED>>>(a, b, c);
  triad<<<blocks, THREADS, SHARED>>>(a, b, c);
}
