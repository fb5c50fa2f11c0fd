// C = A B, n x n floats, n a multiple of 64. Each invocation makes 4 x 4 elements, 16 apart, and keeps their sums in
// registers: four words of A and four of B feed 16 multiply-adds. Groups of 16 x 16, tiles of 64 x 64.
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer C { float c[]; };
uniform uint n;

shared float tile_a[16][65];  // [k][row]; one unused word, so that the stores of a row of A lie in 16 banks
shared float tile_b[16][64];  // [k][column]

void main() {
  uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
  uint from_row = gl_WorkGroupID.y * 64u, from_column = gl_WorkGroupID.x * 64u;
  float sum[4][4];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) sum[i][j] = 0.0;
  for (uint from = 0u; from < n; from += 16u) {
    for (uint i = 0u; i < 4u; ++i) {
      tile_a[x][y + 16u * i] = a[(from_row + y + 16u * i) * n + from + x];
      tile_b[y][x + 16u * i] = b[(from + y) * n + from_column + x + 16u * i];
    }
    barrier();
    for (uint k = 0u; k < 16u; ++k) {
      float left[4], right[4];
      for (int i = 0; i < 4; ++i) left[i] = tile_a[k][y + 16u * uint(i)];
      for (int j = 0; j < 4; ++j) right[j] = tile_b[k][x + 16u * uint(j)];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += left[i] * right[j];
    }
    barrier();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      c[(from_row + y + 16u * uint(i)) * n + from_column + x + 16u * uint(j)] = sum[i][j];
}
