#include "chapters/kernels/layouts/lab.h"

namespace chapters::kernels::layouts {
namespace {

// In the order of models::gpu::LayoutOperation.
const Choices operation_choices{
    {"eval", "A itself", "Where each element of A lies, without the swizzle."},
    {"swizzled_layout", "A, swizzled", "The swizzle after A: Sw(A(i))."},
    {"composition", "A after B", "R(i) = A(B(i)); size and nesting are those of B."},
    {"composition_tiler", "A after a tiler", "B composed with A mode by mode; [4:2,8:1] is one layout per mode."},
    {"logical_divide", "logical divide", "A after (B, the complement of B): the tile first, then the tiles."},
    {"logical_divide_tiler", "logical divide by a tiler", "Each mode of A divided by its part of B."},
    {"zipped_divide", "zipped divide", "All tile modes in the first mode, all rests in the second."},
    {"tiled_divide", "tiled divide", "As zipped, with the rests as modes of their own."},
    {"flat_divide", "flat divide", "As zipped, with all of them as modes of their own."},
    {"logical_product", "logical product", "(A, copies of A placed as B says)."},
    {"zipped_product", "zipped product", "The product with blocks in the first mode and copies in the second."},
    {"tiled_product", "tiled product", "As zipped, with the copies as modes of their own."},
    {"flat_product", "flat product", "As zipped, with all of them as modes of their own."},
    {"blocked_product", "blocked product", "Each element of B becomes a block of A, mode by mode."},
    {"raked_product", "raked product", "As blocked, with the blocks interleaved."},
    {"tile_to_shape", "tile to shape", "A repeated until it has the shape."},
    {"complement", "complement", "What A leaves out of N places."},
    {"right_inverse", "right inverse", "A(R(i)) = i, as far as A is without gaps."},
    {"left_inverse", "left inverse", "A(R(A(i))) = A(i)."},
    {"nullspace", "nullspace", "The elements that A puts at place 0."},
    {"max_common_layout", "max common layout", "Elements that A and B both put in a row: what one vector copies."},
    {"coalesce", "coalesce", "The same function with as few modes as possible."},
    {"coalesce_profile", "coalesce by a profile", "Each mode of the profile coalesced for itself."},
    {"filter", "filter", "Without modes of stride 0 and of size 1."},
    {"upcast", "upcast", "Elements N times as large."},
    {"downcast", "downcast", "Elements N times as small."},
    {"slice", "slice", "A number fixes a mode, _ keeps it."},
    {"idx2crd", "coordinate of an index", "In the shape, leftmost mode fastest."},
    {"swizzle", "the swizzle alone", "What it makes of the offsets 0, 1, 2 and so on."}};
static_assert(models::gpu::layout_operation_count == 29);
const Choices status_choices{{"ok", "right", "The result does what the operation promises."},
                             {"refused", "refused", "C++ CuTe does not compile it."},
                             {"non_functional", "wrong", "C++ CuTe returns a layout that is not what is promised."}};
const Choices cell_choices{{"2", "2 B", "A half. Two share a word of a bank; 32 lanes go at once."},
                           {"4", "4 B", "A float, one bank wide; 32 lanes go at once."},
                           {"8", "8 B", "Two banks wide; 16 lanes go at once."},
                           {"16", "16 B", "Four banks wide, a row of ldmatrix or a float4; 8 lanes go at once."}};
static_assert(cell_bytes_count == 4);
const Choices fragment_choices{
    {"mma_a16", "mma m16n8k16 A, 16-bit", "FP16 or BF16, four registers."},
    {"mma_b16", "mma m16n8k16 B, 16-bit", "FP16 or BF16, two registers; rows are k."},
    {"mma_c", "mma m16n8 C, 32-bit", "The accumulator of every m16n8."},
    {"mma_a_tf32", "mma m16n8k8 A, TF32", "An element per register."},
    {"mma_b_tf32", "mma m16n8k8 B, TF32", "An element per register; rows are k."},
    {"mma_a8", "mma m16n8k32 A, 8-bit", "FP8 or INT8, four in a register."},
    {"mma_b8", "mma m16n8k32 B, 8-bit", "FP8 or INT8, four in a register; rows are k."},
    {"mma_a4", "mma m16n8k64 A, 4-bit", "Eight in a register."},
    {"mma_c_f64", "mma m8n8k4 C, FP64", "Two registers per element."},
    {"wgmma_a16", "wgmma m64k16 A, 16-bit", "Four warps, 16 rows each."},
    {"wgmma_d64", "wgmma m64n64 D", "Four warps, 16 rows each."},
    {"ldmatrix_x4", "ldmatrix.x4", "Four 8 × 8 matrices side by side."},
    {"ldmatrix_x4_trans", "ldmatrix.x4.trans", "The same, transposed on the way."},
    {"tcgen05_load", "tcgen05.ld 16x256b", "From tensor memory into one warp; the shape of the mma accumulator."},
    {"wmma_c", "wmma m16n16 accumulator", "Officially opaque: observed from sm_75 on; sm_70 differs."}};
static_assert(fragment_choice_count == 15);

constexpr std::string_view cute_source = "CUTLASS, include/cute/layout.hpp";
constexpr std::string_view bank_rule = "CUDA C++ programming guide, shared memory";
constexpr std::string_view refused_by_cute = "C++ CuTe refuses the operation.";

}  // namespace

void describe(Fields& f, Inputs& in) {
  constexpr std::string_view with_b =
      "composition|composition_tiler|logical_divide|logical_divide_tiler|zipped_divide|tiled_divide|flat_divide|"
      "logical_product|zipped_product|tiled_product|flat_product|blocked_product|raked_product|max_common_layout";
  f.group("The map");
  f.choice("operation", in.operation, operation_choices, "Operation", "What is computed of A.");
  f.text("a", in.a, "A", "A layout, shape:stride, nested as you like; without strides the leftmost mode is contiguous.",
         {.headline = true, .max_bytes = 400});
  f.text("b", in.b, "B", "A layout, or a tiler in square brackets, [3:4,8:2], with a layout or _ per mode.",
         {.when = {"operation", with_b}, .max_bytes = 400});
  f.integer("n", in.n, "N", "By how much elements grow or shrink; for a complement the places to fill, 0: A's cosize.",
            {.range = {0, 65536}, .typical = {0, 64}, .when = {"operation", "complement|upcast|downcast"}});
  f.text("shape", in.shape, "Shape", "A shape alone: (64,32), or a profile as (1,(1,1)).",
         {.when = {"operation", "tile_to_shape|coalesce_profile|idx2crd"}, .max_bytes = 400});
  f.text("coordinate", in.coordinate, "Coordinate", "Numbers nested as A is, with _ where a mode is kept.",
         {.when = {"operation", "slice"}, .max_bytes = 400});
  f.integer("index", in.index, "Index", "The index whose coordinate is asked for.",
            {.range = {0, 1e6}, .typical = {0, 255}, .when = {"operation", "idx2crd"}});
  f.group("The swizzle");
  f.integer("swizzle_bits", in.swizzle_bits, "Bits",
            "So many bits of the place are changed by an exclusive or; 0: there is no swizzle.",
            {.range = {0, 5}, .headline = true});
  f.integer("swizzle_base", in.swizzle_base, "Base", "The lowest bit that is changed.", {.range = {0, 8}});
  f.integer("swizzle_shift", in.swizzle_shift, "Shift",
            "How far above them the bits lie that change them; below 0 the other way.", {.range = {-8, 8}});
  f.group("The column you hold");
  f.integer("column", in.column, "Column", "The column that the lanes of a warp read, a row each; from 0.",
            {.range = {0, max_drawn - 1}, .typical = {0, 7}, .headline = true});
  f.choice("cell_bytes", in.cell_bytes, cell_choices, "A cell", "What a lane reads at once.");
  f.group("The fragment");
  f.choice("fragment", in.fragment, fragment_choices, "Operand", "An operand of the tensor cores in registers.");
  f.integer("lane", in.lane, "Lane", "The thread whose elements stand out; beyond the last it is the last.",
            {.range = {0, 127}, .typical = {0, 31}});
}

void describe(Fields& f, ElementRow& r) {
  f.integer("element", r.element, "Element");
  f.text("coordinate", r.coordinate, "Coordinate");
  f.real("place", r.place, "Place", "Where the result puts it.");
  f.real("promised", r.promised, "Promised", "Where the definition of the operation puts it.",
         {.absent = "The operation is not compared, or an element before it is wrong."});
}

void describe(Fields& f, Outputs& o) {
  f.group("The result");
  f.text("result", o.result, "Result", "Shape:stride as C++ CuTe returns it; empty where it refuses.",
         {.source = cute_source});
  f.choice("status", o.status, status_choices, "Status", "Whether the result is what the operation promises.");
  f.text("why", o.why, "Refused because", "Empty where it is not refused.");
  f.real("size", o.size, "Size", {.absent = refused_by_cute, .formula = "product of the shape"});
  f.real("cosize", o.cosize, "Cosize", {.absent = refused_by_cute, .formula = "greatest place + 1"});
  f.reals("indices", o.indices, "Places",
          "The places of the first 1,024 elements, swizzled where the operation swizzles.", {.max_items = 1024});
  f.real("wrong_at", o.wrong_at, "First wrong index", "The first element that is not where the operation promises it.",
         {.absent = "The result is right, or there is none."});
  f.real("gives", o.gives, "It gives there", "The place of that element in the result.",
         {.absent = "The result is right, or there is none."});
  f.real("promised_place", o.promised_place, "Promised there",
         "The place of that element by the definition, as A(B(i)).",
         {.absent = "The result is right, or there is none."});
  f.real("offset", o.offset, "Offset", "What the fixed coordinates of a slice add.",
         {.absent = "Only a slice has one."});
  f.toggle("compared", o.compared, "Compared",
           "The first 4,096 elements were held against the definition; off: there is none but the computation.");
  f.toggle("over_covers", o.over_covers, "Covers too much", "The result of a divide has more elements than A.");
  f.text("cpp", o.cpp, "As C++", "To paste: Ctrl+C over it copies it.");
  f.group("Wavefronts");
  f.integer("column_by_rows", o.column_by_rows, "Column by rows", "The held column, stored row after row.",
            {.source = bank_rule});
  f.integer("column_in_layout", o.column_in_layout, "Column in the layout", "The held column, without the swizzle.",
            {.headline = true, .source = bank_rule});
  f.integer("column_swizzled", o.column_swizzled, "Column, swizzled", "The held column, with the swizzle.",
            {.headline = true, .source = bank_rule});
  f.integer("column_cells", o.column_cells, "Cells of the column", "Places that the lanes read, each counted once.");
  f.integer("column_ideal", o.column_ideal, "Column at best", "With the words spread evenly over the 32 banks.",
            {.formula = "words / 32 in each phase, rounded up"});
  f.integer("row_in_layout", o.row_in_layout, "Row in the layout", "The row that takes most, without the swizzle.",
            {.source = bank_rule});
  f.integer("row_swizzled", o.row_swizzled, "Row, swizzled", "The row that takes most, with the swizzle.",
            {.headline = true, .source = bank_rule});
  f.integer("contiguous", o.contiguous, "Run in a row", "Most neighbours in a row at places that follow one another.",
            {.formula = "cells, swizzled"});
  f.group("The cells");
  f.integer("rows", o.rows, "Rows", {.formula = "size of the first mode; a lone mode is folded into rows of 8"});
  f.integer("columns", o.columns, "Columns", {.formula = "size / rows"});
  f.integer("held_column", o.held_column, "Held", {.formula = "min(column, last column drawn)"});
  f.table("elements", o.elements, "Elements", "The first ones, or those around the first that is wrong.");
  f.group("The fragment");
  f.integer("fragment_registers", o.fragment_registers, "Registers", "Registers of 32 bits per thread.");
  f.integer("fragment_values", o.fragment_values, "Elements per thread", {.formula = "rows x columns / threads"});
  f.integer("fragment_rows", o.fragment_rows, "Rows of the operand", {.source = "PTX ISA, matrix fragments"});
  f.integer("fragment_columns", o.fragment_columns, "Columns of the operand", {.source = "PTX ISA, matrix fragments"});
  f.text("held_elements", o.held_elements, "The lane holds", "(row,column) in the order of its registers.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"kernels/layouts", "Layouts", "One matrix, three maps: where does an element lie, and what does a column cost?"},
      compute, arrange, draw);
}

}  // namespace chapters::kernels::layouts
