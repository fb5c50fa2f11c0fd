// out[column][row] = in[row][column], n x n floats, n a multiple of 32. Neighbours read along a row and write down a
// column, n floats apart. Groups of 32 x 8.
layout(local_size_x = 32, local_size_y = 8) in;
layout(std430, binding = 0) readonly buffer In { float a[]; };
layout(std430, binding = 2) writeonly buffer Out { float c[]; };
uniform uint n;

void main() {
  uint column = gl_WorkGroupID.x * 32u + gl_LocalInvocationID.x;
  for (uint y = gl_LocalInvocationID.y; y < 32u; y += 8u) {
    uint row = gl_WorkGroupID.y * 32u + y;
    c[column * n + row] = a[row * n + column];
  }
}
