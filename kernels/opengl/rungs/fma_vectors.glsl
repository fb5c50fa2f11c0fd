// out[i] = the sum of 16 chains of n steps x = x * factor + term, all at a time as four vectors of four. Groups of 256.
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { float a[]; };
layout(std430, binding = 2) writeonly buffer Out { float c[]; };
uniform uint n;

const float factor = 0.9990234375, term = 0.0009765625;  // 1 - 2^-10 and 2^-10

void main() {
  uint i = gl_GlobalInvocationID.x;
  const vec4 factors = vec4(factor), terms = vec4(term);
  vec4 x = a[i] + vec4(0.0, 1.0, 2.0, 3.0), y = x + 4.0, z = x + 8.0, w = x + 12.0;
  for (uint step = 0u; step < n; ++step) {
    x = fma(x, factors, terms);
    y = fma(y, factors, terms);
    z = fma(z, factors, terms);
    w = fma(w, factors, terms);
  }
  vec4 sum = (x + y) + (z + w);
  c[i] = (sum.x + sum.y) + (sum.z + sum.w);
}
