// out[i] = in[i], n floats, n a multiple of 4. 1,024 groups walk the whole array: each starts once and moves many
// vectors, and neighbours stay neighbours at every step. Groups of 256.
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { vec4 a[]; };
layout(std430, binding = 2) writeonly buffer Out { vec4 c[]; };
uniform uint n;

void main() {
  uint stride = gl_NumWorkGroups.x * 256u;
  for (uint i = gl_GlobalInvocationID.x; i < n / 4u; i += stride) c[i] = a[i];
}
