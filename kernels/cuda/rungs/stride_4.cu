// The sum of all n words, in 4 passes over the array: out[thread] adds its share of a chunk of 65,536 words. Words
// four apart: sixteen sectors a load, a quarter of each used, and four passes that fetch each sector anew.
extern "C" __global__ void __launch_bounds__(256)
    stride_4(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned n) {
  constexpr unsigned stride = 4;
  const unsigned chunks = n / 65536, chunk = blockIdx.x % chunks, pass = blockIdx.x / chunks;
  const unsigned* from = in + chunk * 65536 + pass + threadIdx.x * stride;
  unsigned sum = 0;
#pragma unroll 8
  for (unsigned i = 0; i < 256 / stride; ++i) sum += from[i * 256 * stride];
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}
