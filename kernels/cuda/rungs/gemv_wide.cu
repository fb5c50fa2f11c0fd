// y = W x, n x n weights in FP16. A warp a row, and 16 bytes a lane and load: eight weights and eight numbers of x. A
// quarter of the loads keep four times the bytes in flight.
__device__ float wide_value(unsigned bits) {  // the value of a finite FP16
  return __uint_as_float((bits & 0x7fffu) << 13 | (bits & 0x8000u) << 16) * 0x1p112f;
}
__device__ float wide_pair(unsigned w, unsigned v) {
  return wide_value(w & 0xffffu) * wide_value(v & 0xffffu) + wide_value(w >> 16) * wide_value(v >> 16);
}

extern "C" __global__ void __launch_bounds__(256)
    gemv_wide(const uint4* __restrict__ x, const uint4* __restrict__ weights, float* __restrict__ y, unsigned n) {
  const unsigned lane = threadIdx.x % 32, row = blockIdx.x * 8 + threadIdx.x / 32;
  float sum = 0.0f;
#pragma unroll 4
  for (unsigned i = lane; i < n / 8; i += 32) {
    const uint4 w = weights[row * (n / 8) + i], v = x[i];
    sum += (wide_pair(w.x, v.x) + wide_pair(w.y, v.y)) + (wide_pair(w.z, v.z) + wide_pair(w.w, v.w));
  }
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  if (lane == 0) y[row] = sum;
}
