// n x n BF16 become FP8 (e4m3) with an FP32 scale a row, n a multiple of 16 and at most 64 a thread. The row is read
// once, eight numbers a load, and stays in registers; eight FP8 numbers a store. GPUs from 8.9 on round two numbers
// with one instruction; older ones do it step by step, to the same bits. The FP8 numbers are followed by n scales.
__device__ float vector_low(unsigned pair) { return __uint_as_float(pair << 16); }  // BF16 is the upper half of FP32
__device__ float vector_high(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
__device__ unsigned vector_two(float low, float high) {
  unsigned short two;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(two) : "f"(high), "f"(low));
  return two;
}
#else
__device__ unsigned vector_e4m3(float x) {  // the nearest, ties to the even one
  const unsigned sign = __float_as_uint(x) >> 24 & 0x80u;
  const float size = fminf(fabsf(x), 448.0f);
  if (size < 0x1p-6f) return sign | static_cast<unsigned>(rintf(size * 512.0f));  // whole steps of 2^-9
  unsigned bits = __float_as_uint(size);
  bits += 0x7ffffu + (bits >> 20 & 1u);
  return sign | ((bits >> 20) - (120u << 3));
}
__device__ unsigned vector_two(float low, float high) { return vector_e4m3(low) | vector_e4m3(high) << 8; }
#endif

__device__ unsigned vector_four(unsigned first, unsigned second, float inverse) {
  return vector_two(vector_low(first) * inverse, vector_high(first) * inverse) |
         vector_two(vector_low(second) * inverse, vector_high(second) * inverse) << 16;
}

extern "C" __global__ void __launch_bounds__(256)
    fp8_vector(const unsigned short* __restrict__ in, unsigned char* __restrict__ out, float* __restrict__ scales,
               unsigned n) {
  __shared__ float of_warp[8];
  const uint4* from = reinterpret_cast<const uint4*>(in + static_cast<size_t>(blockIdx.x) * n);
  uint2* to = reinterpret_cast<uint2*>(out + static_cast<size_t>(blockIdx.x) * n);
  uint4 v[8];
#pragma unroll
  for (unsigned j = 0; j < 8; ++j) {
    const unsigned i = threadIdx.x + j * blockDim.x;
    v[j] = i < n / 8 ? from[i] : make_uint4(0, 0, 0, 0);
  }
  // Without their signs BF16 numbers are ordered as whole numbers are.
  unsigned low = 0, high = 0;
#pragma unroll
  for (unsigned j = 0; j < 8; ++j) {
    low = max(max(low, v[j].x << 16 & 0x7fffffffu), max(v[j].y << 16 & 0x7fffffffu, v[j].z << 16 & 0x7fffffffu));
    high = max(max(high, v[j].x & 0x7fffffffu), max(v[j].y & 0x7fffffffu, v[j].z & 0x7fffffffu));
    low = max(low, v[j].w << 16 & 0x7fffffffu);
    high = max(high, v[j].w & 0x7fffffffu);
  }
  float largest = __uint_as_float(max(low, high) & 0x7fff0000u);
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, apart));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = largest;
  __syncthreads();
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) largest = fmaxf(largest, of_warp[warp]);
  const float scale = largest > 0.0f ? largest / 448.0f : 1.0f, inverse = 1.0f / scale;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
#pragma unroll
  for (unsigned j = 0; j < 8; ++j) {
    const unsigned i = threadIdx.x + j * blockDim.x;
    if (i < n / 8) to[i] = make_uint2(vector_four(v[j].x, v[j].y, inverse), vector_four(v[j].z, v[j].w, inverse));
  }
}
