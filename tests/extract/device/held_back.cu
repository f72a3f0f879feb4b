// Kernels of which others have published times that no law was made with, written anew.

// -- vectors that indices permute --------------------------------------------------------------------------------------

#ifndef M
#define M (1 << 28)
#endif
__global__ void copy(double *out, const double *in) { int i = blockDim.x*blockIdx.x + threadIdx.x; out[i] = in[i]; }
__global__ void gather(double *out, const double *in, const int *where) {
  int i = blockDim.x*blockIdx.x + threadIdx.x;
  out[i] = in[where[i]];
}
__global__ void scatter(double *out, const double *in, const int *where) {
  int i = blockDim.x*blockIdx.x + threadIdx.x;
  out[where[i]] = in[i];
}
void vectors() {
  double *in, *out;
  int *where;
  cudaMalloc(&in, M*sizeof(double));
  cudaMalloc(&out, M*sizeof(double));
  cudaMalloc(&where, M*sizeof(int));
  copy<<<M/256, 256>>>(out, in);
  gather<<<M/256, 256>>>(out, in, where);
  scatter<<<M/256, 256>>>(out, in, where);
}

// -- bodies, each against all (GPU Gems 3, chapter 31) -----------------------------------------------------------------

#ifndef BODIES
#define BODIES (1 << 17)
#endif
template <class T> struct Body { T x, y, z, w; };
__device__ float inverse_root(float a) { return rsqrtf(a); }
__device__ double inverse_root(double a) { return rsqrt(a); }
template <class T> __device__ void interact(Body<T> *force, const Body<T> *bodies) {
  __shared__ Body<T> tile[256];
  int i = blockIdx.x*256 + threadIdx.x;
  T px = bodies[i].x, py = bodies[i].y, pz = bodies[i].z, ax = 0, ay = 0, az = 0;
  for (int t = 0; t < BODIES/256; t++) {
    tile[threadIdx.x].x = bodies[t*256 + threadIdx.x].x;
    tile[threadIdx.x].y = bodies[t*256 + threadIdx.x].y;
    tile[threadIdx.x].z = bodies[t*256 + threadIdx.x].z;
    tile[threadIdx.x].w = bodies[t*256 + threadIdx.x].w;
    __syncthreads();
    for (int k = 0; k < 256; k++) {
      T dx = tile[k].x - px, dy = tile[k].y - py, dz = tile[k].z - pz;
      T inverse = inverse_root(dx*dx + dy*dy + dz*dz + (T)1e-3);
      T scale = tile[k].w*inverse*inverse*inverse;
      ax += dx*scale;
      ay += dy*scale;
      az += dz*scale;
    }
    __syncthreads();
  }
  force[i].x = ax;
  force[i].y = ay;
  force[i].z = az;
}
__global__ void bodies_single(Body<float> *force, const Body<float> *bodies) { interact(force, bodies); }
__global__ void bodies_double(Body<double> *force, const Body<double> *bodies) { interact(force, bodies); }
void bodies() {
  Body<float> *f, *b;
  Body<double> *g, *c;
  cudaMalloc(&f, BODIES*sizeof(Body<float>));
  cudaMalloc(&b, BODIES*sizeof(Body<float>));
  cudaMalloc(&g, BODIES*sizeof(Body<double>));
  cudaMalloc(&c, BODIES*sizeof(Body<double>));
  bodies_single<<<BODIES/256, 256>>>(f, b);
  bodies_double<<<BODIES/256, 256>>>(g, c);
}

// -- sums of 2^25 doubles by blocks of 256, in Harris's steps ----------------------------------------------------------

#define SUMMED (1 << 25)
__global__ void sum_interleaved(double *sums, const double *in) {
  __shared__ double own[256];
  int t = threadIdx.x;
  own[t] = in[blockIdx.x*256 + t];
  __syncthreads();
  for (int s = 1; s < 256; s *= 2) {
    if (t % (2*s) == 0) own[t] += own[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = own[0];
}
__global__ void sum_strided(double *sums, const double *in) {
  __shared__ double own[256];
  int t = threadIdx.x;
  own[t] = in[blockIdx.x*256 + t];
  __syncthreads();
  for (int s = 1; s < 256; s *= 2) {
    if (t < 128/s) own[2*s*t] += own[2*s*t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = own[0];
}
__global__ void sum_sequential(double *sums, const double *in) {
  __shared__ double own[256];
  int t = threadIdx.x;
  own[t] = in[blockIdx.x*256 + t];
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) own[t] += own[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = own[0];
}
__global__ void sum_several(double *sums, const double *in) {
  __shared__ double own[256];
  int t = threadIdx.x, first = blockIdx.x*1024 + t;
  own[t] = in[first] + in[first + 256] + in[first + 512] + in[first + 768];
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) own[t] += own[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = own[0];
}
void doubles() {
  double *in, *sums;
  cudaMalloc(&in, SUMMED*sizeof(double));
  cudaMalloc(&sums, SUMMED/256*sizeof(double));
  sum_interleaved<<<SUMMED/256, 256>>>(sums, in);
  sum_strided<<<SUMMED/256, 256>>>(sums, in);
  sum_sequential<<<SUMMED/256, 256>>>(sums, in);
  sum_several<<<SUMMED/1024, 256>>>(sums, in);
}

// -- sums of 2^30 whole numbers by blocks of 512 -----------------------------------------------------------------------

#define WHOLE (1 << 30)
__global__ void sum_tree(int *sums, const int *in) {
  __shared__ int own[512];
  int t = threadIdx.x;
  own[t] = in[blockIdx.x*512 + t];
  __syncthreads();
  for (int s = 256; s > 0; s /= 2) {
    if (t < s) own[t] += own[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = own[0];
}
__device__ int sum_warp(int value) {
  for (int s = 16; s > 0; s /= 2) value += __shfl_down_sync(0xffffffffu, value, s);
  return value;
}
__global__ void sum_shuffled(int *sums, const int *in) {
  __shared__ int own[512];
  int t = threadIdx.x;
  own[t] = in[blockIdx.x*512 + t];
  __syncthreads();
  for (int s = 256; s > 16; s /= 2) {
    if (t < s) own[t] += own[t + s];
    __syncthreads();
  }
  if (t < 32) {
    int value = sum_warp(own[t]);
    if (t == 0) sums[blockIdx.x] = value;
  }
}
__global__ void sum_atomic(int *sum, const int *in) {
  __shared__ int own[512];
  int t = threadIdx.x;
  own[t] = in[blockIdx.x*512 + t];
  __syncthreads();
  for (int s = 256; s > 16; s /= 2) {
    if (t < s) own[t] += own[t + s];
    __syncthreads();
  }
  if (t < 32) {
    int value = sum_warp(own[t]);
    if (t == 0) atomicAdd(sum, value);
  }
}
__global__ void sum_six(int *sum, const int *in) {
  __shared__ int own[512];
  int t = threadIdx.x, first = 6*(blockIdx.x*512 + t);
  int value = 0;
  for (int j = 0; j < 6; j++) value += in[first + j];
  own[t] = value;
  __syncthreads();
  for (int s = 256; s > 16; s /= 2) {
    if (t < s) own[t] += own[t + s];
    __syncthreads();
  }
  if (t < 32) {
    int whole = sum_warp(own[t]);
    if (t == 0) atomicAdd(sum, whole);
  }
}
__device__ int sum_block(int value) {
  __shared__ int own[32];
  int t = threadIdx.x;
  value = sum_warp(value);
  if (t % 32 == 0) own[t/32] = value;
  __syncthreads();
  return t < 32 ? sum_warp(own[t]) : 0;
}
__global__ void sum_words(int *sums, const int *__restrict__ in) {
  int value = 0;
  for (int i = blockIdx.x*512 + threadIdx.x; i < WHOLE; i += 512*1024) value += in[i];
  value = sum_block(value);
  if (threadIdx.x == 0) sums[blockIdx.x] = value;
}
__global__ void sum_pairs(int *sums, const int2 *__restrict__ in) {
  int value = 0;
  for (int i = blockIdx.x*512 + threadIdx.x; i < WHOLE/2; i += 512*1024) {
    int2 words = in[i];
    value += words.x + words.y;
  }
  value = sum_block(value);
  if (threadIdx.x == 0) sums[blockIdx.x] = value;
}
__global__ void sum_fours(int *sums, const int4 *__restrict__ in) {
  int value = 0;
  for (int i = blockIdx.x*512 + threadIdx.x; i < WHOLE/4; i += 512*1024) {
    int4 words = in[i];
    value += words.x + words.y + words.z + words.w;
  }
  value = sum_block(value);
  if (threadIdx.x == 0) sums[blockIdx.x] = value;
}
void whole_numbers() {
  int *in, *sums;
  int2 *pairs;
  int4 *fours;
  cudaMalloc(&in, WHOLE*sizeof(int));
  cudaMalloc(&pairs, WHOLE*sizeof(int));
  cudaMalloc(&fours, WHOLE*sizeof(int));
  cudaMalloc(&sums, WHOLE/512*sizeof(int));
  sum_tree<<<WHOLE/512, 512>>>(sums, in);
  sum_shuffled<<<WHOLE/512, 512>>>(sums, in);
  sum_atomic<<<WHOLE/512, 512>>>(sums, in);
  sum_six<<<WHOLE/512/6, 512>>>(sums, in);
  sum_words<<<1024, 512>>>(sums, in);
  sum_pairs<<<1024, 512>>>(sums, pairs);
  sum_fours<<<1024, 512>>>(sums, fours);
}

// -- scans of 2^30 whole numbers: blocks of 512, then what stands before each block ------------------------------------

__global__ void scan_blocks(int *out, int *sums, const int *in) {
  __shared__ int own[2][512];
  int t = threadIdx.x, from = 0;
  own[0][t] = in[blockIdx.x*512 + t];
  __syncthreads();
  for (int s = 1; s < 512; s *= 2) {
    own[1 - from][t] = own[from][t] + (t >= s ? own[from][t - s] : 0);
    from = 1 - from;
    __syncthreads();
  }
  out[blockIdx.x*512 + t] = own[from][t];
  if (t == 511) sums[blockIdx.x] = own[from][t];
}
__device__ int scan_warp(int value) {
  for (int s = 1; s < 32; s *= 2) {
    int before = __shfl_up_sync(0xffffffffu, value, s);
    if (threadIdx.x % 32 >= s) value += before;
  }
  return value;
}
__global__ void scan_shuffled(int *out, int *sums, const int *in) {
  __shared__ int own[16];
  int t = threadIdx.x, value = scan_warp(in[blockIdx.x*512 + t]);
  if (t % 32 == 31) own[t/32] = value;
  __syncthreads();
  if (t < 32) {
    int whole = scan_warp(t < 16 ? own[t] : 0);
    if (t < 16) own[t] = whole;
  }
  __syncthreads();
  if (t >= 32) value += own[t/32 - 1];
  out[blockIdx.x*512 + t] = value;
  if (t == 511) sums[blockIdx.x] = value;
}
__global__ void add_before(int *out, const int *before) { out[blockIdx.x*512 + threadIdx.x] += before[blockIdx.x]; }
void scans() {
  int *in, *out, *sums;
  cudaMalloc(&in, WHOLE*sizeof(int));
  cudaMalloc(&out, WHOLE*sizeof(int));
  cudaMalloc(&sums, WHOLE/512*sizeof(int));
  scan_blocks<<<WHOLE/512, 512>>>(out, sums, in);
  scan_shuffled<<<WHOLE/512, 512>>>(out, sums, in);
  add_before<<<WHOLE/512, 512>>>(out, sums);
}

// -- transposes of 8192 rows of doubles --------------------------------------------------------------------------------

#define ROWS 8192
__global__ void transpose_rows(double *out, const double *in) {
  int x = blockIdx.x*32 + threadIdx.x, y = blockIdx.y*32 + threadIdx.y;
  if (x < ROWS && y < ROWS) out[x*ROWS + y] = in[y*ROWS + x];
}
__global__ void transpose_columns(double *out, const double *in) {
  int x = blockIdx.x*32 + threadIdx.x, y = blockIdx.y*32 + threadIdx.y;
  if (x < ROWS && y < ROWS) out[y*ROWS + x] = in[x*ROWS + y];
}
__global__ void transpose_tiled(double *out, const double *in) {
  __shared__ double tile[32][33];
  int tx = threadIdx.x, ty = threadIdx.y;
  tile[ty][tx] = in[(blockIdx.y*32 + ty)*ROWS + blockIdx.x*32 + tx];
  __syncthreads();
  out[(blockIdx.x*32 + ty)*ROWS + blockIdx.y*32 + tx] = tile[tx][ty];
}
void transposes() {
  double *x, *y;
  cudaMalloc(&x, ROWS*ROWS*sizeof(double));
  cudaMalloc(&y, ROWS*ROWS*sizeof(double));
  transpose_rows<<<dim3(ROWS/32, ROWS/32), dim3(32, 32)>>>(y, x);
  transpose_columns<<<dim3(ROWS/32, ROWS/32), dim3(32, 32)>>>(y, x);
  transpose_tiled<<<dim3(ROWS/32, ROWS/32), dim3(32, 32)>>>(y, x);
}

// -- a row times a matrix of 4096 rows, by the text of a product of matrices -------------------------------------------

#define LONG 4096
__global__ void row_apart(const float *A, const float *B, float *C) {
  int x = blockIdx.x*32 + threadIdx.x, y = blockIdx.y*32 + threadIdx.y;
  if (x < 1 && y < LONG) {
    float sum = 0;
    for (int k = 0; k < LONG; k++) sum += A[x*LONG + k]*B[k*LONG + y];
    C[x*LONG + y] = sum + C[x*LONG + y];
  }
}
__global__ void row_beside(const float *A, const float *B, float *C) {
  int x = blockIdx.x*32 + threadIdx.x/32, y = blockIdx.y*32 + threadIdx.x%32;
  if (x < 1 && y < LONG) {
    float sum = 0;
    for (int k = 0; k < LONG; k++) sum += A[x*LONG + k]*B[k*LONG + y];
    C[x*LONG + y] = sum + C[x*LONG + y];
  }
}
void rows() {
  float *x, *y, *z;
  cudaMalloc(&x, LONG*sizeof(float));
  cudaMalloc(&y, LONG*LONG*sizeof(float));
  cudaMalloc(&z, LONG*sizeof(float));
  row_apart<<<dim3(1, LONG/32), dim3(32, 32)>>>(x, y, z);
  row_beside<<<dim3(1, LONG/32), 32*32>>>(x, y, z);
}

// -- copies by few threads ---------------------------------------------------------------------------------------------

__global__ void copy_by_block(float4 *__restrict__ out, const float4 *__restrict__ in) {
  for (int i = threadIdx.x; i < (1 << 24); i += 4096) {
    float4 a = in[i], b = in[i + 1024], c = in[i + 2048], d = in[i + 3072];
    out[i] = a;
    out[i + 1024] = b;
    out[i + 2048] = c;
    out[i + 3072] = d;
  }
}
void few() {
  float4 *in, *out;
  cudaMalloc(&in, 256 << 20);
  cudaMalloc(&out, 256 << 20);
  copy_by_block<<<1, 1024>>>(out, in);
}
