// C = A B, n x n floats by rows. One thread an element, neighbouring lanes take neighbouring *columns*: B and C are
// read and written along rows, and a warp's load of A is one word for all lanes. Only the roles of x and y changed.
// Block 32 x 32.
extern "C" __global__ void __launch_bounds__(1024)
    sgemm_coalesced(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned n) {
  const unsigned row = blockIdx.y * 32 + threadIdx.y;
  const unsigned col = blockIdx.x * 32 + threadIdx.x;
  float sum = 0.0f;
  for (unsigned k = 0; k < n; ++k) sum += a[size_t(row) * n + k] * b[size_t(k) * n + col];
  c[size_t(row) * n + col] = sum;
}
