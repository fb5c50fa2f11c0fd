// out[group] = the sum of 512 floats: each invocation adds two as it loads them, so that half as many groups walk the
// same tree. Groups of 256.
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { float a[]; };
layout(std430, binding = 2) writeonly buffer Out { float c[]; };
uniform uint n;

shared float part[256];

void main() {
  uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  uint t = gl_LocalInvocationID.x;
  uint i = group * 512u + t;
  part[t] = (i < n ? a[i] : 0.0) + (i + 256u < n ? a[i + 256u] : 0.0);
  for (uint half_of = 128u; half_of > 0u; half_of /= 2u) {
    barrier();
    if (t < half_of) part[t] += part[t + half_of];
  }
  if (t == 0u && group * 512u < n) c[group] = part[0];
}
