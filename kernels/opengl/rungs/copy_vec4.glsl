// out[i] = in[i], n floats, n a multiple of 4: each invocation moves 16 bytes with one load and one store. Groups of
// 256.
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { vec4 a[]; };
layout(std430, binding = 2) writeonly buffer Out { vec4 c[]; };
uniform uint n;

void main() {
  uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  uint i = group * 256u + gl_LocalInvocationID.x;
  if (i < n / 4u) c[i] = a[i];
}
