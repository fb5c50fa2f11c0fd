// y = W x, n x n weights in INT8 with an FP32 scale a row, x in FP16: half the bytes of FP16. 16 weights a lane and
// load; a warp takes two rows, so that every number of x that it turns into FP32 serves both.
__device__ float int8_fp16(unsigned bits) {  // the value of a finite FP16
  return __uint_as_float((bits & 0x7fffu) << 13 | (bits & 0x8000u) << 16) * 0x1p112f;
}
__device__ float int8_four(unsigned w, const float* v) {  // four weights times four numbers
  return (static_cast<float>(static_cast<signed char>(w)) * v[0] +
          static_cast<float>(static_cast<signed char>(w >> 8)) * v[1]) +
         (static_cast<float>(static_cast<signed char>(w >> 16)) * v[2] +
          static_cast<float>(static_cast<signed char>(w >> 24)) * v[3]);
}

extern "C" __global__ void __launch_bounds__(256)
    gemv_int8(const uint4* __restrict__ x, const uint4* __restrict__ weights, const float* __restrict__ scales,
              float* __restrict__ y, unsigned n) {
  const unsigned lane = threadIdx.x % 32, row = (blockIdx.x * 8 + threadIdx.x / 32) * 2;
  float sum[2] = {};
#pragma unroll 2
  for (unsigned i = lane; i < n / 16; i += 32) {
    const uint4 w[2] = {weights[row * (n / 16) + i], weights[(row + 1) * (n / 16) + i]};
    const uint4 low = x[2 * i], high = x[2 * i + 1];
    const unsigned pairs[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    float v[16];
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) {
      v[2 * j] = int8_fp16(pairs[j] & 0xffffu);
      v[2 * j + 1] = int8_fp16(pairs[j] >> 16);
    }
#pragma unroll
    for (unsigned r = 0; r < 2; ++r)
      sum[r] +=
          (int8_four(w[r].x, v) + int8_four(w[r].y, v + 4)) + (int8_four(w[r].z, v + 8) + int8_four(w[r].w, v + 12));
  }
#pragma unroll
  for (unsigned r = 0; r < 2; ++r) {
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], apart);
    if (lane == 0) y[row + r] = sum[r] * scales[row + r];
  }
}
