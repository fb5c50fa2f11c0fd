// y = W x, n x n weights in INT4: 0 to 15 stands for -8 to 7, times an FP16 scale for every 128 weights of a row: 4.125
// bits a weight. 32 weights a lane and load; a warp takes four rows, so that every number of x serves four times, and
// the 8 is taken off once a load: sum (w - 8) x = sum w x - 8 sum x.
__device__ float int4_fp16(unsigned bits) {  // the value of a finite FP16
  return __uint_as_float((bits & 0x7fffu) << 13 | (bits & 0x8000u) << 16) * 0x1p112f;
}
__device__ float int4_eight(unsigned w, const float* v) {  // eight weights times eight numbers
  float sum = 0.0f;
#pragma unroll
  for (unsigned j = 0; j < 8; ++j) sum += static_cast<float>(w >> (4 * j) & 15u) * v[j];
  return sum;
}

extern "C" __global__ void __launch_bounds__(256)
    gemv_int4(const uint4* __restrict__ x, const uint4* __restrict__ weights, const unsigned short* __restrict__ scales,
              float* __restrict__ y, unsigned n) {
  const unsigned lane = threadIdx.x % 32, row = (blockIdx.x * 8 + threadIdx.x / 32) * 4;
  float sum[4] = {};
  for (unsigned i = lane; i < n / 32; i += 32) {
    uint4 w[4];
#pragma unroll
    for (unsigned r = 0; r < 4; ++r) w[r] = weights[(row + r) * (n / 32) + i];
    float v[32], all = 0.0f;
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      const uint4 eight = x[4 * i + j];
      const unsigned pairs[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        v[8 * j + 2 * k] = int4_fp16(pairs[k] & 0xffffu);
        v[8 * j + 2 * k + 1] = int4_fp16(pairs[k] >> 16);
        all += v[8 * j + 2 * k] + v[8 * j + 2 * k + 1];
      }
    }
#pragma unroll
    for (unsigned r = 0; r < 4; ++r) {  // 32 weights are a quarter of a group
      const float product = (int4_eight(w[r].x, v) + int4_eight(w[r].y, v + 8)) +
                            (int4_eight(w[r].z, v + 16) + int4_eight(w[r].w, v + 24));
      sum[r] += (product - 8.0f * all) * int4_fp16(scales[(row + r) * (n / 128) + i / 4]);
    }
  }
#pragma unroll
  for (unsigned r = 0; r < 4; ++r) {
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], apart);
    if (lane == 0) y[row + r] = sum[r];
  }
}
