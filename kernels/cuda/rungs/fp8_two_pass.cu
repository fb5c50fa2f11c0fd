// n x n BF16 become FP8 (e4m3) with an FP32 scale a row, in two kernels: the largest magnitude of each row gives the
// scale that makes it 448, the largest e4m3; then every number is multiplied by the reciprocal of its row's scale and
// rounded to the nearest, ties to the even one. The matrix is read twice. The FP8 numbers are followed by n scales.
__device__ unsigned two_pass_e4m3(float x) {
  const unsigned sign = __float_as_uint(x) >> 24 & 0x80u;
  const float size = fminf(fabsf(x), 448.0f);
  if (size < 0x1p-6f) return sign | static_cast<unsigned>(rintf(size * 512.0f));  // whole steps of 2^-9
  unsigned bits = __float_as_uint(size);
  bits += 0x7ffffu + (bits >> 20 & 1u);        // 20 of 23 bits of the mantissa go
  return sign | ((bits >> 20) - (120u << 3));  // the exponent is counted from 7 instead of 127
}

extern "C" __global__ void __launch_bounds__(256)
    fp8_two_pass_scale(const unsigned short* __restrict__ in, float* __restrict__ scales, unsigned n) {
  __shared__ float of_warp[8];
  const size_t row = static_cast<size_t>(blockIdx.x) * n;
  float largest = 0.0f;
  for (unsigned i = threadIdx.x; i < n; i += 256)
    largest = fmaxf(largest, fabsf(__uint_as_float(static_cast<unsigned>(in[row + i]) << 16)));
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, apart));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = largest;
  __syncthreads();
  for (unsigned warp = 0; warp < 8; ++warp) largest = fmaxf(largest, of_warp[warp]);
  if (threadIdx.x == 0) scales[blockIdx.x] = largest > 0.0f ? largest / 448.0f : 1.0f;
}

extern "C" __global__ void __launch_bounds__(256)
    fp8_two_pass(const unsigned short* __restrict__ in, const float* __restrict__ scales,
                 unsigned char* __restrict__ out, unsigned n) {
  const size_t row = static_cast<size_t>(blockIdx.x) * n;
  const float inverse = 1.0f / scales[blockIdx.x];
  for (unsigned i = threadIdx.x; i < n; i += 256)
    out[row + i] =
        static_cast<unsigned char>(two_pass_e4m3(__uint_as_float(static_cast<unsigned>(in[row + i]) << 16) * inverse));
}
