// out[i] = in[i], n floats: each invocation moves 4 bytes. A dispatch has at most 65,535 groups in a dimension, so the
// groups lie in a grid of two. Groups of 256.
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer In { float a[]; };
layout(std430, binding = 2) writeonly buffer Out { float c[]; };
uniform uint n;

void main() {
  uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  uint i = group * 256u + gl_LocalInvocationID.x;
  if (i < n) c[i] = a[i];
}
