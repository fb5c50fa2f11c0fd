// C = A B, n x n floats. Each invocation makes one element: two loads for each multiply-add. Neighbours stand in a row
// of C, so that they share the word of A and read a row of B together. Groups of 32 x 8.
layout(local_size_x = 32, local_size_y = 8) in;
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer C { float c[]; };
uniform uint n;

void main() {
  uint column = gl_GlobalInvocationID.x, row = gl_GlobalInvocationID.y;
  float sum = 0.0;
  for (uint k = 0u; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
