// out[i] = the sum of 16 chains of n steps x = x * factor + term, four at a time: four steps never wait for each other.
// Groups of 256.
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { float a[]; };
layout(std430, binding = 2) writeonly buffer Out { float c[]; };
uniform uint n;

const float factor = 0.9990234375, term = 0.0009765625;  // 1 - 2^-10 and 2^-10

void main() {
  uint i = gl_GlobalInvocationID.x;
  float sum = 0.0;
  for (int chain = 0; chain < 16; chain += 4) {
    float x = a[i] + float(chain), y = x + 1.0, z = x + 2.0, w = x + 3.0;
    for (uint step = 0u; step < n; ++step) {
      x = fma(x, factor, term);
      y = fma(y, factor, term);
      z = fma(z, factor, term);
      w = fma(w, factor, term);
    }
    sum += (x + y) + (z + w);
  }
  c[i] = sum;
}
