// out[thread] = sum of 256 of its block's 32,768 words (128 KiB), four loads before the first sum: a thread has
// sixteen bytes under way. The loop is not unrolled, so that no more are under way than are written here.
extern "C" __global__ void __launch_bounds__(128)
    ilp_4(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned) {
  constexpr unsigned loads = 4;
  const unsigned* from = in + blockIdx.x * 32768u + threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned i = 0; i < 256; i += loads) {
    unsigned value[loads];
#pragma unroll
    for (unsigned j = 0; j < loads; ++j) value[j] = from[(i + j) * 128];
#pragma unroll
    for (unsigned j = 0; j < loads; ++j) sum += value[j];
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
}
