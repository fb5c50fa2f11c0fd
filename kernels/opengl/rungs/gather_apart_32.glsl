// out[i] = in[j]: every float is read once, and neighbours read 32 floats, 128 bytes, apart. Each load of a neighbour
// is a sector of its own; the other 28 bytes of it are wanted much later, when a cache has dropped them. Groups of 256.
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { float a[]; };
layout(std430, binding = 2) writeonly buffer Out { float c[]; };
uniform uint n;

const uint apart = 32u;

void main() {
  uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  uint i = group * 256u + gl_LocalInvocationID.x;
  uint rows = n / apart;
  if (i < n) c[i] = a[i % rows * apart + i / rows];
}
