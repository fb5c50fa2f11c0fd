// What the measurement itself launches: operands, a wait, roofs, and a counter.

// out[i] = lo + scale u, u uniform in [0, 1) with 24 bits, from a hash of seed + i. input_value() in element.cpp is
// its twin on the host.
extern "C" __global__ void fill_uniform(float* out, unsigned long long n, unsigned seed, float lo, float scale) {
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = blockIdx.x * 1ull * blockDim.x + threadIdx.x; i < n; i += stride) {
    unsigned h = static_cast<unsigned>(i) * 0x9e3779b9u + seed;
    h = (h ^ (h >> 16)) * 0x7feb352du;
    h = (h ^ (h >> 15)) * 0x846ca68bu;
    h ^= h >> 16;
    out[i] = lo + scale * (static_cast<float>(h >> 8) * 0x1p-24f);
  }
}

// n 16-bit floats: what fill_uniform would write, rounded to the nearest bf16 (brain != 0) or f16, ties to the even
// one.
extern "C" __global__ void fill_halves(unsigned short* out, unsigned long long n, unsigned seed, float lo, float scale,
                                       unsigned brain) {
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = blockIdx.x * 1ull * blockDim.x + threadIdx.x; i < n; i += stride) {
    unsigned h = static_cast<unsigned>(i) * 0x9e3779b9u + seed;
    h = (h ^ (h >> 16)) * 0x7feb352du;
    h = (h ^ (h >> 15)) * 0x846ca68bu;
    h ^= h >> 16;
    const unsigned bits = __float_as_uint(lo + scale * (static_cast<float>(h >> 8) * 0x1p-24f));
    const unsigned sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (brain)
      out[i] = static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
    else if (magnitude < 0x38800000u)  // below 2^-14: a whole number of steps of 2^-24
      out[i] = static_cast<unsigned short>(sign | static_cast<unsigned>(rintf(__uint_as_float(magnitude) * 0x1p24f)));
    else
      out[i] = static_cast<unsigned short>(sign | ((magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13));
  }
}

// Four random bytes a word; without = 1: no -128, 2: no NaN of FP8 e4m3 (448 stands in its place).
extern "C" __global__ void fill_bytes(unsigned* out, unsigned long long words, unsigned seed, unsigned without) {
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = blockIdx.x * 1ull * blockDim.x + threadIdx.x; i < words; i += stride) {
    unsigned h = static_cast<unsigned>(i) * 0x9e3779b9u + seed;
    h = (h ^ (h >> 16)) * 0x7feb352du;
    h = (h ^ (h >> 15)) * 0x846ca68bu;
    h ^= h >> 16;
    for (unsigned shift = 0; shift < 32; shift += 8) {
      const unsigned byte = h >> shift & 0xffu;
      if (without == 1 && byte == 0x80u) h ^= 1u << shift;
      if (without == 2 && (byte & 0x7fu) == 0x7fu) h ^= 1u << shift;
    }
    out[i] = h;
  }
}

// n whole numbers in [0, below).
extern "C" __global__ void fill_below(unsigned* out, unsigned long long n, unsigned seed, unsigned below) {
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = blockIdx.x * 1ull * blockDim.x + threadIdx.x; i < n; i += stride) {
    unsigned h = static_cast<unsigned>(i) * 0x9e3779b9u + seed;
    h = (h ^ (h >> 16)) * 0x7feb352du;
    h = (h ^ (h >> 15)) * 0x846ca68bu;
    out[i] = (h ^ (h >> 16)) % below;
  }
}

// Two bf16 a word, each of magnitude 0.5 to 1 with a random sign and mantissa: multipliers see random bits, as in
// training.
extern "C" __global__ void fill_bf16(unsigned* out, unsigned long long words, unsigned seed) {
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = blockIdx.x * 1ull * blockDim.x + threadIdx.x; i < words; i += stride) {
    unsigned h = static_cast<unsigned>(i) * 0x9e3779b9u + seed;
    h = (h ^ (h >> 16)) * 0x7feb352du;
    h = (h ^ (h >> 15)) * 0x846ca68bu;
    out[i] = (h & 0x807f807fu) | 0x3f003f00u;
  }
}

// Holds the stream for `cycles` of the multiprocessor's clock, so that the host has queued all that is timed before the
// first of it starts.
extern "C" __global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

// Reads n floats (a multiple of 4), eight float4 in flight a thread; the sum is stored only if it is a value that does
// not occur.
extern "C" __global__ void __launch_bounds__(256) read_roof(const float4* in, float* out, unsigned long long n) {
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * 256, vectors = n / 4;
  float sum = 0.0f;
  unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
  for (; i + 7 * stride < vectors; i += 8 * stride) {
    float4 v[8];
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) v[j] = in[i + j * stride];
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) sum += (v[j].x + v[j].y) + (v[j].z + v[j].w);
  }
  for (; i < vectors; i += stride) sum += in[i].x + in[i].y + in[i].z + in[i].w;
  if (sum == -1.0f) out[0] = sum;  // inputs are in [0, 1)
}

// 16 independent chains of `rounds` x 16 fused multiply-adds a thread: 512 flops a round.
extern "C" __global__ void __launch_bounds__(256) fma_roof(float* out, unsigned rounds, float factor, float term) {
  float x[16];
#pragma unroll
  for (unsigned j = 0; j < 16; ++j) x[j] = static_cast<float>(threadIdx.x + j);
  for (unsigned r = 0; r < rounds; ++r)
#pragma unroll
    for (unsigned u = 0; u < 16; ++u)
#pragma unroll
      for (unsigned j = 0; j < 16; ++j) x[j] = fmaf(x[j], factor, term);
  float sum = 0.0f;
#pragma unroll
  for (unsigned j = 0; j < 16; ++j) sum += x[j];
  if (sum == -1.0f) out[0] = sum;
}

// Reads the first `vectors` float4 of `in` `passes` times, past L1; stored as in read_roof.
extern "C" __global__ void __launch_bounds__(256)
    l2_roof(const float4* in, float* out, unsigned vectors, unsigned passes) {
  const unsigned stride = gridDim.x * 256;
  float sum = 0.0f;
  for (unsigned pass = 0; pass < passes; ++pass)
#pragma unroll 8
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < vectors; i += stride) {
      const float4 v = __ldcg(in + i);
      sum += (v.x + v.y) + (v.z + v.w);
    }
  if (sum == -1.0f) out[0] = sum;
}

// Reads `rounds` x 8 float4 of shared memory a thread, neighbours by neighbours: no bank conflicts.
extern "C" __global__ void __launch_bounds__(256) shared_roof(float* out, unsigned rounds) {
  __shared__ float4 tile[480];
  for (unsigned i = threadIdx.x; i < 480; i += 256) tile[i] = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
  __syncthreads();
  float sum = 0.0f;
  for (unsigned r = 0; r < rounds; ++r) {
    const float4* at = tile + (threadIdx.x + r) % 256;
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) sum += (at[32 * j].x + at[32 * j].y) + (at[32 * j].z + at[32 * j].w);
  }
  if (sum == -1.0f) out[0] = sum;
}

// out[i] = out[i - 1] + 1, and out[0] = 1: launches in their order leave 1, 2, 3, ...
extern "C" __global__ void count_up(unsigned* out, unsigned i) { out[i] = i == 0 ? 1u : out[i - 1] + 1u; }
