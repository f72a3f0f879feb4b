// Kernels that others timed on an L4 ("CUDA Kernel Engineering", rtferraz), written anew from what is said of them: sizes,
// tiles of 32, four rows a thread with 256 threads. Blocks of 16 x 16 and of 256 threads are assumed where none are said.

#ifndef N
#define N 2048
#endif
#define SUMMED 50000000

__global__ void add_fours(float4 *out, const float4 *a, const float4 *b) {
  int i = blockIdx.x*256 + threadIdx.x;
  if (i < SUMMED/4) {
    float4 x = a[i], y = b[i];
    out[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }
}

__global__ void product(const float *A, const float *B, float *C) {
  int column = blockIdx.x*16 + threadIdx.x, row = blockIdx.y*16 + threadIdx.y;
  if (row < N && column < N) {
    float sum = 0;
    for (int k = 0; k < N; k++) sum += A[row*N + k]*B[k*N + column];
    C[row*N + column] = sum;
  }
}

__global__ void product_tiled(const float *A, const float *B, float *C) {
  __shared__ float a[32][32], b[32][32];
  int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x*32 + x, row = blockIdx.y*32 + y;
  float sum = 0;
  for (int tile = 0; tile < N/32; tile++) {
    a[y][x] = A[row*N + tile*32 + x];
    b[y][x] = B[(tile*32 + y)*N + column];
    __syncthreads();
    for (int k = 0; k < 32; k++) sum += a[y][k]*b[k][x];
    __syncthreads();
  }
  C[row*N + column] = sum;
}

__global__ void product_rows(const float *A, const float *B, float *C) {
  __shared__ float a[32][32], b[32][32];
  int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x*32 + x, row = blockIdx.y*32 + y;
  float sums[4] = {0, 0, 0, 0};
  for (int tile = 0; tile < N/32; tile++) {
    for (int r = 0; r < 4; r++) {
      a[y + 8*r][x] = A[(row + 8*r)*N + tile*32 + x];
      b[y + 8*r][x] = B[(tile*32 + y + 8*r)*N + column];
    }
    __syncthreads();
    for (int k = 0; k < 32; k++) {
      float value = b[k][x];
      for (int r = 0; r < 4; r++) sums[r] += a[y + 8*r][k]*value;
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; r++) C[(row + 8*r)*N + column] = sums[r];
}

__global__ void sum_shared(float *sums, const float *in) {
  __shared__ float own[256];
  int t = threadIdx.x, i = blockIdx.x*256 + t;
  own[t] = i < SUMMED ? in[i] : 0;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) own[t] += own[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = own[0];
}

__device__ float sum_of_warp(float value) {
  for (int s = 16; s > 0; s /= 2) value += __shfl_xor_sync(0xffffffffu, value, s);
  return value;
}
__global__ void sum_warps(float *sums, const float *in) {
  __shared__ float own[8];
  int t = threadIdx.x, i = blockIdx.x*256 + t;
  float value = sum_of_warp(i < SUMMED ? in[i] : 0);
  if (t % 32 == 0) own[t/32] = value;
  __syncthreads();
  if (t < 32) {
    value = sum_of_warp(t < 8 ? own[t] : 0);
    if (t == 0) sums[blockIdx.x] = value;
  }
}

void all() {
  float *x, *y, *z;
  float4 *a, *b, *c;
  cudaMalloc(&x, 200000000);
  cudaMalloc(&y, 200000000);
  cudaMalloc(&z, 200000000);
  cudaMalloc(&a, 200000000);
  cudaMalloc(&b, 200000000);
  cudaMalloc(&c, 200000000);
  add_fours<<<(SUMMED/4 + 255)/256, 256>>>(c, a, b);
  product<<<dim3(N/16, N/16), dim3(16, 16)>>>(x, y, z);
  product_tiled<<<dim3(N/32, N/32), dim3(32, 32)>>>(x, y, z);
  product_rows<<<dim3(N/32, N/32), dim3(32, 8)>>>(x, y, z);
  sum_shared<<<(SUMMED + 255)/256, 256>>>(y, x);
  sum_warps<<<(SUMMED + 255)/256, 256>>>(y, x);
}
