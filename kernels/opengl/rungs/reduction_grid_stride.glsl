// out[group] = the sum of the group's share of n floats, n a multiple of 4. Each invocation adds vectors of four as it
// walks the array and takes part in one tree at its end. Groups of 256.
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { vec4 a[]; };
layout(std430, binding = 2) writeonly buffer Out { float c[]; };
uniform uint n;

shared float part[256];

void main() {
  uint t = gl_LocalInvocationID.x;
  uint stride = gl_NumWorkGroups.x * 256u;
  vec4 sum = vec4(0.0);
  for (uint i = gl_GlobalInvocationID.x; i < n / 4u; i += stride) sum += a[i];
  part[t] = (sum.x + sum.y) + (sum.z + sum.w);
  for (uint half_of = 128u; half_of > 0u; half_of /= 2u) {
    barrier();
    if (t < half_of) part[t] += part[t + half_of];
  }
  if (t == 0u) c[gl_WorkGroupID.x] = part[0];
}
