// C = A B, n x n floats, n a multiple of 16. A group loads a tile of A and one of B into shared memory and uses each
// number 16 times. Groups of 16 x 16.
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer C { float c[]; };
uniform uint n;

shared float tile_a[16][16];
shared float tile_b[16][16];

void main() {
  uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
  uint column = gl_GlobalInvocationID.x, row = gl_GlobalInvocationID.y;
  float sum = 0.0;
  for (uint from = 0u; from < n; from += 16u) {
    tile_a[y][x] = a[row * n + from + x];
    tile_b[y][x] = b[(from + y) * n + column];
    barrier();
    for (uint k = 0u; k < 16u; ++k) sum += tile_a[y][k] * tile_b[k][x];
    barrier();
  }
  c[row * n + column] = sum;
}
