#include <algorithm>
#include <numeric>

#include "chapters/kernels/layouts/lab.h"
#include "widgets/number/number.h"

namespace chapters::kernels::layouts {
namespace {

namespace gpu = models::gpu;
using gpu::LayoutOperation, gpu::LayoutStatus, widgets::figure;

std::string whole_figure(std::int64_t n) { return figure(static_cast<double>(n), "", 12); }
std::string wavefronts_figure(std::int64_t n) { return whole_figure(n) + (n == 1 ? " wavefront" : " wavefronts"); }
std::string wavefronts_words(std::int64_t n) { return std::to_string(n) + (n == 1 ? " wavefront" : " wavefronts"); }
std::string swizzle_name(const Inputs& in) {
  return "Swizzle<" + std::to_string(in.swizzle_bits) + "," + std::to_string(in.swizzle_base) + "," +
         std::to_string(in.swizzle_shift) + ">";
}
bool of_a(const Inputs& in) {
  return in.operation == LayoutOperation::eval || in.operation == LayoutOperation::swizzled_layout;
}
/// "zipped divide": by a tiler or not, it is one operation.
std::string name_of(LayoutOperation op) {
  if (op == LayoutOperation::composition_tiler) return "composition";
  if (op == LayoutOperation::logical_divide_tiler) return "logical divide";
  if (op == LayoutOperation::coalesce_profile) return "coalesced layout";
  if (op >= LayoutOperation::logical_product && op <= LayoutOperation::raked_product) return "repeated layout";
  std::string name(gpu::layout_operation_names[static_cast<std::size_t>(op)]);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// What the column costs, map after map.
std::string cost_words(const Inputs& in, const Outputs& out) {
  const std::string by_rows = wavefronts_figure(out.column_by_rows) + " by rows";
  const std::string where = of_a(in) ? " in this layout" : " in the result";
  if (in.swizzle_bits == 0)
    return by_rows + " and " + whole_figure(out.column_in_layout) + where + ", without a swizzle.";
  return by_rows + ", " + whole_figure(out.column_in_layout) + where + " and " + whole_figure(out.column_swizzled) +
         " with the swizzle.";
}

std::string cause_words(const Inputs& in, const Outputs& out) {
  const bool best = out.column_swizzled <= out.column_ideal;
  if (in.swizzle_bits > 0 && best && out.column_in_layout > out.column_ideal) {
    return "Nothing moved in the matrix: bits of the row now choose the bank, and rows still read in " +
           wavefronts_figure(out.row_swizzled) + ".";
  }
  if (best && out.column_cells == 1 && out.rows > 1)
    return "All lanes of the column read the same cell, which is given to all of them at once.";
  if (best)
    return "The column lies in different banks as it is; a row of the matrix costs " +
           wavefronts_figure(out.row_swizzled) + ".";
  if (in.swizzle_bits == 0) {
    return "At best it is " + wavefronts_figure(out.column_ideal) + ": raise the swizzle's bits, or pad the rows.";
  }
  if (out.column_in_layout <= out.column_ideal)
    return "The layout alone is at its best: this swizzle spoils it. Take its bits away.";
  return "At best it is " + wavefronts_figure(out.column_ideal) +
         ": the swizzle does not read all bits that change along the column.";
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string name = name_of(in.operation);
  if (out.status == LayoutStatus::refused) return "C++ CuTe refuses the operation on what is typed.\n" + out.why;
  if (out.status == LayoutStatus::non_functional) {
    return "C++ CuTe returns a layout that breaks its promise: at index " + figure(out.wrong_at, "", 16) +
           " it gives " + figure(out.gives, "", 16) + ", not " + figure(out.promised_place, "", 16) + ".\n" +
           (out.over_covers ? "It also has more elements than A: pad A, or choose a tile that divides its modes."
                            : "The steps of B cross a mode of A: choose sizes and strides that divide it.");
  }
  if (of_a(in)) return "The held column takes " + cost_words(in, out) + "\n" + cause_words(in, out);
  const std::string column = "The held column takes " + cost_words(in, out);
  constexpr std::size_t most = 60;
  if (out.result.size() > most)
    return "The result of " + name + " has " + figure(out.size, "", 16) + " elements.\n" + column;
  const std::string takes = in.operation == LayoutOperation::idx2crd   ? "The coordinate of the index is "
                            : in.operation == LayoutOperation::swizzle ? "The swizzle alone is "
                                                                       : "The " + name + " is ";
  return takes + figure(out.result) + ".\n" + column;
}

/// Cells of each map in the order of their places.
void arrange_walk(const Run& run, Picture& pic) {
  const auto cells = static_cast<std::size_t>(run.rows * run.columns);
  for (const auto& map : run.maps) {
    const auto first = pic.walk.size();
    pic.walk.resize(first + cells);
    const auto from = pic.walk.begin() + static_cast<std::ptrdiff_t>(first);
    std::iota(from, pic.walk.end(), 0);
    std::stable_sort(from, pic.walk.end(), [&](std::int32_t a, std::int32_t b) {
      return map.places[static_cast<std::size_t>(a)] < map.places[static_cast<std::size_t>(b)];
    });
  }
}

void write_maps(const Inputs& in, const Outputs& out, const Run& run, Picture& pic) {
  const std::string sizes = std::to_string(out.rows) + "," + std::to_string(out.columns);
  const bool typed = of_a(in) || out.status == LayoutStatus::refused;
  const bool whole = out.rows == run.rows && out.columns == run.columns;
  const std::string drawn = whole ? "" : ", drawn to " + std::to_string(run.rows) + " × " + std::to_string(run.columns);
  pic.maps[0] = {"by rows", "(" + sizes + "):(" + std::to_string(out.columns) + ",1)" + drawn,
                 wavefronts_words(out.column_by_rows), "(" + sizes + ")" + drawn};
  const std::string& layout = typed ? in.a : out.result;
  const std::string letter = typed ? "A" : "R";
  pic.maps[1] = {typed ? "A" : name_of(in.operation), letter + " = " + layout, wavefronts_words(out.column_in_layout),
                 letter + "'s shape " + layout.substr(0, layout.find(':'))};
  const std::string swizzled = in.swizzle_bits > 0 ? swizzle_name(in) + " on it" : "no swizzle";
  pic.maps[2] = {"swizzled", swizzled, wavefronts_words(out.column_swizzled), swizzled};
}

/// What the two sides are, and what a tint on them says.
void write_sides(const Inputs& in, const Run& run, Picture& pic) {
  static constexpr std::array<std::string_view, gpu::part_kind_count> words{
      "The same places, element by element.",
      "Tint: the tile that a cell belongs to, on both sides.",
      "Tint: the copy of A that a cell belongs to.",
      "Tinted in A: what R reaches.",
      "Tint: A, moved to each place of R; together they fill the memory.",
      "Tint: cells that are one element on the other side."};
  pic.parts_words = words[static_cast<std::size_t>(run.parts)];
  pic.side_names = {"A = " + in.a,
                    run.parts == gpu::PartKind::room ? "memory, filled by A and R" : "R, the " + name_of(in.operation)};
}

std::string verdict_of(const Outputs& out) {
  if (out.status == LayoutStatus::refused) return out.why;
  if (out.status == LayoutStatus::non_functional) {
    return "Compared with the definition: the marked element is the first that is wrong.";
  }
  if (out.compared) return "Compared with the definition, up to 4,096 elements: it holds.";
  return "Computed as C++ CuTe does; there is no other definition to compare with.";
}

void write_panels(const Inputs& in, const Outputs& out, const Run& run, Picture& pic) {
  pic.given_story = "cells of " + std::to_string(bytes_of(in.cell_bytes)) +
                    " B over 32 banks of 4 B; a lane per row, and each reads its cell of the column";
  pic.fragment_story = std::string(run.fragment->instruction) + ", " + std::string(run.fragment->operand) + ": " +
                       std::to_string(out.fragment_rows) + " × " + std::to_string(out.fragment_columns) + ", " +
                       std::to_string(out.fragment_values) + (out.fragment_values == 1 ? " element" : " elements") +
                       " a thread";
  pic.holder_story = "thread " + std::to_string(run.lane) + " holds " + out.held_elements;
  const auto needs = gpu::layout_needs(in.operation);
  if (needs.a) pic.a_line = "A = " + in.a;
  if (needs.b) pic.b_line = "B = " + in.b;
  if (needs.shape) pic.b_line = "shape = " + in.shape;
  if (needs.coordinate) pic.b_line = "coordinate = " + in.coordinate;
  if (needs.n) pic.b_line = "N = " + std::to_string(in.n);
  if (needs.swizzle) pic.b_line = swizzle_name(in);
  pic.result_line = out.result.empty() ? "R: refused" : "R = " + out.result;
  pic.verdict_line = verdict_of(out);
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture pic;
  if (run.fragment == nullptr) return pic;
  pic.answer = answer_of(in, out);
  pic.banks_wide = std::max(1, bytes_of(in.cell_bytes) / 4);
  write_maps(in, out, run, pic);
  write_panels(in, out, run, pic);
  if (run.sides[0].rows > 0) write_sides(in, run, pic);
  arrange_walk(run, pic);
  pic.doors = doors_of(in, run);
  return pic;
}

}  // namespace chapters::kernels::layouts
