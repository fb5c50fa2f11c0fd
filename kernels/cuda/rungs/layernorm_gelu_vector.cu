// out = GELU(LayerNorm(in)) for rows of n floats, n a multiple of 4 and at most 64 a thread. The row is read once, 16
// bytes a load, up to 16 loads in flight a thread, and stays in registers until it is written.
__device__ float vector_sum_of_block(float value, float* of_warp) {  // over up to 8 warps
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
  if (lane == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  value = lane < blockDim.x / 32 ? of_warp[lane] : 0.0f;
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
  return value;
}

__device__ float vector_gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }

extern "C" __global__ void __launch_bounds__(256)
    layernorm_gelu_vector(const float* __restrict__ in, const float* __restrict__ weight,
                          const float* __restrict__ bias, float* __restrict__ out, unsigned n) {
  __shared__ float of_warp[2][8];
  const float4* from = reinterpret_cast<const float4*>(in + static_cast<size_t>(blockIdx.x) * n);
  float4* to = reinterpret_cast<float4*>(out + static_cast<size_t>(blockIdx.x) * n);
  float4 v[16];
#pragma unroll
  for (unsigned j = 0; j < 16; ++j) {
    const unsigned i = threadIdx.x + j * blockDim.x;
    v[j] = i < n / 4 ? from[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
  float sum = 0.0f;
#pragma unroll
  for (unsigned j = 0; j < 16; ++j) sum += (v[j].x + v[j].y) + (v[j].z + v[j].w);
  const float mean = vector_sum_of_block(sum, of_warp[0]) / static_cast<float>(n);
  float squares = 0.0f;
#pragma unroll
  for (unsigned j = 0; j < 16; ++j) {
    v[j] = make_float4(v[j].x - mean, v[j].y - mean, v[j].z - mean, v[j].w - mean);
    if (threadIdx.x + j * blockDim.x < n / 4)
      squares += (v[j].x * v[j].x + v[j].y * v[j].y) + (v[j].z * v[j].z + v[j].w * v[j].w);
  }
  const float scale = rsqrtf(vector_sum_of_block(squares, of_warp[1]) / static_cast<float>(n) + 1e-5f);
#pragma unroll
  for (unsigned j = 0; j < 16; ++j) {
    const unsigned i = threadIdx.x + j * blockDim.x;
    if (i < n / 4) {
      const float4 w = reinterpret_cast<const float4*>(weight)[i], b = reinterpret_cast<const float4*>(bias)[i];
      to[i] = make_float4(vector_gelu(v[j].x * scale * w.x + b.x), vector_gelu(v[j].y * scale * w.y + b.y),
                          vector_gelu(v[j].z * scale * w.z + b.z), vector_gelu(v[j].w * scale * w.w + b.w));
    }
  }
}
