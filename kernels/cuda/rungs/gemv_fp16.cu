// y = W x, n x n weights in FP16: the product of a decode step, in which every weight is read once. A warp a row, two
// weights a lane and load: 128 bytes a warp in flight for each load.
__device__ float fp16_value(unsigned bits) {  // the value of a finite FP16: its exponent moves to FP32's place
  return __uint_as_float((bits & 0x7fffu) << 13 | (bits & 0x8000u) << 16) * 0x1p112f;
}

extern "C" __global__ void __launch_bounds__(256)
    gemv_fp16(const unsigned* __restrict__ x, const unsigned* __restrict__ weights, float* __restrict__ y, unsigned n) {
  const unsigned lane = threadIdx.x % 32, row = blockIdx.x * 8 + threadIdx.x / 32;
  float sum = 0.0f;
  for (unsigned i = lane; i < n / 2; i += 32) {
    const unsigned w = weights[row * (n / 2) + i], v = x[i];
    sum += fp16_value(w & 0xffffu) * fp16_value(v & 0xffffu) + fp16_value(w >> 16) * fp16_value(v >> 16);
  }
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  if (lane == 0) y[row] = sum;
}
