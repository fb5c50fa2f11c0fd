// out[group] = the sum of 256 floats. Half of the invocations that still work stop at each step, and all wait at its
// barrier: eight barriers for 256 additions. Groups of 256.
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { float a[]; };
layout(std430, binding = 2) writeonly buffer Out { float c[]; };
uniform uint n;

shared float part[256];

void main() {
  uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  uint t = gl_LocalInvocationID.x;
  uint i = group * 256u + t;
  part[t] = i < n ? a[i] : 0.0;
  for (uint half_of = 128u; half_of > 0u; half_of /= 2u) {
    barrier();
    if (t < half_of) part[t] += part[t + half_of];
  }
  if (t == 0u && group * 256u < n) c[group] = part[0];
}
