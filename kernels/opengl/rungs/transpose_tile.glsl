// out[column][row] = in[row][column], n x n floats, n a multiple of 32. A group turns a tile in shared memory, so that
// memory is read and written along rows. The words of a column of the tile are 32 apart: one bank. Groups of 32 x 8.
layout(local_size_x = 32, local_size_y = 8) in;
layout(std430, binding = 0) readonly buffer In { float a[]; };
layout(std430, binding = 2) writeonly buffer Out { float c[]; };
uniform uint n;

shared float tile[32][32];

void main() {
  uint x = gl_LocalInvocationID.x;
  uint from_row = gl_WorkGroupID.y * 32u, from_column = gl_WorkGroupID.x * 32u;
  for (uint y = gl_LocalInvocationID.y; y < 32u; y += 8u) tile[y][x] = a[(from_row + y) * n + from_column + x];
  barrier();
  for (uint y = gl_LocalInvocationID.y; y < 32u; y += 8u) c[(from_column + y) * n + from_row + x] = tile[x][y];
}
