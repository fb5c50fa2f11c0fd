// Every row of n floats of `in` becomes exp(x - max) / sum, n a multiple of 4 and at most 64 a thread. The row is read
// once, 16 bytes a load, up to 16 loads in flight a thread, and stays in registers until it is written.
template <bool adds>
__device__ float vector_of_block(float value, float* of_warp) {  // the sum, or the maximum, over up to 8 warps
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, apart);
    value = adds ? value + other : fmaxf(value, other);
  }
  if (lane == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  value = lane < blockDim.x / 32 ? of_warp[lane] : (adds ? 0.0f : -3.4e38f);
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, apart);
    value = adds ? value + other : fmaxf(value, other);
  }
  return value;
}

extern "C" __global__ void __launch_bounds__(256)
    softmax_vector(const float* __restrict__ in, float* __restrict__ out, unsigned n) {
  __shared__ float of_warp[2][8];
  const float4* from = reinterpret_cast<const float4*>(in + static_cast<size_t>(blockIdx.x) * n);
  float4* to = reinterpret_cast<float4*>(out + static_cast<size_t>(blockIdx.x) * n);
  float4 v[16];
#pragma unroll
  for (unsigned j = 0; j < 16; ++j) {
    const unsigned i = threadIdx.x + j * blockDim.x;
    v[j] = i < n / 4 ? from[i] : make_float4(-3.4e38f, -3.4e38f, -3.4e38f, -3.4e38f);
  }
  float largest = -3.4e38f;
#pragma unroll
  for (unsigned j = 0; j < 16; ++j) largest = fmaxf(largest, fmaxf(fmaxf(v[j].x, v[j].y), fmaxf(v[j].z, v[j].w)));
  largest = vector_of_block<false>(largest, of_warp[0]);
  float sum = 0.0f;
#pragma unroll
  for (unsigned j = 0; j < 16; ++j) {
    v[j] = make_float4(expf(v[j].x - largest), expf(v[j].y - largest), expf(v[j].z - largest), expf(v[j].w - largest));
    sum += (v[j].x + v[j].y) + (v[j].z + v[j].w);
  }
  const float scale = 1.0f / vector_of_block<true>(sum, of_warp[1]);
#pragma unroll
  for (unsigned j = 0; j < 16; ++j) {
    const unsigned i = threadIdx.x + j * blockDim.x;
    if (i < n / 4) to[i] = make_float4(v[j].x * scale, v[j].y * scale, v[j].z * scale, v[j].w * scale);
  }
}
