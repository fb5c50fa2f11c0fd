// C = A B, n x n floats by rows. One thread an element, and neighbouring lanes take neighbouring *rows*: each load of A
// and each store of C touches 32 rows, 32 sectors for 128 useful bytes. Block 32 x 32.
extern "C" __global__ void __launch_bounds__(1024)
    sgemm_uncoalesced(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned n) {
  const unsigned row = blockIdx.x * 32 + threadIdx.x;
  const unsigned col = blockIdx.y * 32 + threadIdx.y;
  float sum = 0.0f;
  for (unsigned k = 0; k < n; ++k) sum += a[size_t(row) * n + k] * b[size_t(k) * n + col];
  c[size_t(row) * n + col] = sum;
}
