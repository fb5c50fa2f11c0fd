// out = in, n floats, a multiple of 4: four float4 a thread, all four loads before the first store. By Little's law the
// bytes in flight are bandwidth x latency; a thread that waits for one load before it asks for the next keeps too few.
extern "C" __global__ void __launch_bounds__(256)
    copy_in_flight(const float* __restrict__ in, float* __restrict__ out, unsigned n) {
  const unsigned first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  const unsigned vectors = n / 4;
  const float4* from = reinterpret_cast<const float4*>(in);
  float4* to = reinterpret_cast<float4*>(out);
  float4 value[4];
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) {
    const unsigned i = first + j * blockDim.x;
    if (i < vectors) value[j] = from[i];
  }
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) {
    const unsigned i = first + j * blockDim.x;
    if (i < vectors) to[i] = value[j];
  }
}
