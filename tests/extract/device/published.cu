// Kernels of which others have published times, written anew.
#ifndef N
#define N 4096
#endif

// -- vectors of doubles, as BabelStream has them -----------------------------------------------------------------------

__global__ void copy(double *c, const double *a) { int i = blockDim.x*blockIdx.x + threadIdx.x; c[i] = a[i]; }
__global__ void mul(double *b, const double *c) { int i = blockDim.x*blockIdx.x + threadIdx.x; b[i] = 0.4*c[i]; }
__global__ void add(double *c, const double *a, const double *b) {
  int i = blockDim.x*blockIdx.x + threadIdx.x;
  c[i] = a[i] + b[i];
}
__global__ void triad(double *a, const double *b, const double *c) {
  int i = blockDim.x*blockIdx.x + threadIdx.x;
  a[i] = b[i] + 0.4*c[i];
}
__global__ void dot(double *sums, const double *a, const double *b, int n) {
  __shared__ double own[1024];
  int t = threadIdx.x;
  own[t] = 0;
  for (int i = blockDim.x*blockIdx.x + threadIdx.x; i < n; i += blockDim.x*gridDim.x) own[t] += a[i]*b[i];
  for (int k = blockDim.x/2; k > 0; k /= 2) {
    __syncthreads();
    if (t < k) own[t] += own[t + k];
  }
  if (t == 0) sums[blockIdx.x] = own[0];
}
#ifndef M
#define M (1 << 25)
#endif
void vectors() {
  const int n = M;
  double *a, *b, *c;
  cudaMalloc(&a, n*sizeof(double));
  cudaMalloc(&b, n*sizeof(double));
  cudaMalloc(&c, n*sizeof(double));
  copy<<<n/1024, 1024>>>(c, a);
  mul<<<n/1024, 1024>>>(b, c);
  add<<<n/1024, 1024>>>(c, a, b);
  triad<<<n/1024, 1024>>>(a, b, c);
  dot<<<528, 1024>>>(b, a, c, n);
}

// -- grids -------------------------------------------------------------------------------------------------------------

__global__ void jacobi(float *out, const float *in, int nx, int ny) {
  int i = blockIdx.x*32 + threadIdx.x, j = blockIdx.y*8 + threadIdx.y;
  if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1)
    out[j*nx + i] = 0.25f*(in[j*nx + i + 1] + in[j*nx + i - 1] + in[(j - 1)*nx + i] + in[(j + 1)*nx + i]);
}
__global__ void copy_inside(float *out, const float *in, int nx, int ny) {
  int i = blockIdx.x*32 + threadIdx.x, j = blockIdx.y*8 + threadIdx.y;
  if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) out[j*nx + i] = in[j*nx + i];
}
__global__ void laplacian(double *f, const double *u, int nx, int ny, int nz, double a, double b, double c, double d) {
  int i = blockIdx.x*blockDim.x + threadIdx.x, j = blockIdx.y*blockDim.y + threadIdx.y;
  int k = blockIdx.z*blockDim.z + threadIdx.z;
  if (i == 0 || i >= nx - 1 || j == 0 || j >= ny - 1 || k == 0 || k >= nz - 1) return;
  int slice = nx*ny, at = i + nx*j + slice*k;
  f[at] = u[at]*d + (u[at - 1] + u[at + 1])*a + (u[at - nx] + u[at + nx])*b + (u[at - slice] + u[at + slice])*c;
}
void grids() {
  float *x, *y;
  cudaMalloc(&x, 8192*8192*sizeof(float));
  cudaMalloc(&y, 8192*8192*sizeof(float));
  jacobi<<<dim3(8192/32, 8192/8), dim3(32, 8)>>>(y, x, 8192, 8192);
  copy_inside<<<dim3(8192/32, 8192/8), dim3(32, 8)>>>(x, y, 8192, 8192);
  double *f, *u;
  cudaMalloc(&f, 512ul*512*512*sizeof(double));
  cudaMalloc(&u, 512ul*512*512*sizeof(double));
  laplacian<<<dim3(2, 512, 512), dim3(256, 1, 1)>>>(f, u, 512, 512, 512, 1, 1, 1, 1);
}

// -- matrices ----------------------------------------------------------------------------------------------------------

__global__ void transpose_rows(float *out, const float *in, int n) {
  int x = blockIdx.x*16 + threadIdx.x, y = blockIdx.y*16 + threadIdx.y;
  if (x < n && y < n) out[x*n + y] = in[y*n + x];
}
__global__ void transpose_columns(float *out, const float *in, int n) {
  int x = blockIdx.x*16 + threadIdx.x, y = blockIdx.y*16 + threadIdx.y;
  if (x < n && y < n) out[y*n + x] = in[x*n + y];
}
__global__ void product_apart(int n, const float *A, const float *B, float *C) {
  int x = blockIdx.x*blockDim.x + threadIdx.x, y = blockIdx.y*blockDim.y + threadIdx.y;
  if (x < n && y < n) {
    float sum = 0;
    for (int k = 0; k < n; k++) sum += A[x*n + k]*B[k*n + y];
    C[x*n + y] = sum + C[x*n + y];
  }
}
__global__ void product_beside(int n, const float *A, const float *B, float *C) {
  int x = blockIdx.x*32 + threadIdx.x/32, y = blockIdx.y*32 + threadIdx.x%32;
  if (x < n && y < n) {
    float sum = 0;
    for (int k = 0; k < n; k++) sum += A[x*n + k]*B[k*n + y];
    C[x*n + y] = sum + C[x*n + y];
  }
}
__global__ void product_tiled(int n, const float *A, const float *B, float *C) {
  __shared__ float a[32][32], b[32][32];
  int tx = threadIdx.x%32, ty = threadIdx.x/32, row = blockIdx.x*32 + ty, column = blockIdx.y*32 + tx;
  float sum = 0;
  for (int m = 0; m < n; m += 32) {
    a[ty][tx] = A[row*n + m + tx];
    b[ty][tx] = B[(m + ty)*n + column];
    __syncthreads();
    for (int k = 0; k < 32; k++) sum += a[ty][k]*b[k][tx];
    __syncthreads();
  }
  C[row*n + column] = sum + C[row*n + column];
}
void matrices() {
  float *x, *y, *z;
  cudaMalloc(&x, N*N*sizeof(float));
  cudaMalloc(&y, N*N*sizeof(float));
  cudaMalloc(&z, N*N*sizeof(float));
  transpose_rows<<<dim3(N/16, N/16), dim3(16, 16)>>>(y, x, N);
  transpose_columns<<<dim3(N/16, N/16), dim3(16, 16)>>>(y, x, N);
  product_apart<<<dim3(N/32, N/32), dim3(32, 32)>>>(N, x, y, z);
  product_beside<<<dim3(N/32, N/32), 32*32>>>(N, x, y, z);
  product_tiled<<<dim3(N/32, N/32), 32*32>>>(N, x, y, z);
}
