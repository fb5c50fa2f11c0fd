// out[i] = in[j]: neighbours read 8 floats, 32 bytes, apart. That is one sector each, as many as 32 floats apart.
// Groups of 256.
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { float a[]; };
layout(std430, binding = 2) writeonly buffer Out { float c[]; };
uniform uint n;

const uint apart = 8u;

void main() {
  uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  uint i = group * 256u + gl_LocalInvocationID.x;
  uint rows = n / apart;
  if (i < n) c[i] = a[i % rows * apart + i / rows];
}
