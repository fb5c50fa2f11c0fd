#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "models/gpu/fragments.h"
#include "models/gpu/layout/layout_operation.h"
#include "models/gpu/layout/layout_parts.h"
#include "widgets/base/parts.h"

/// The same cells under three maps: by rows, in a layout of your own, and with a swizzle on it.
namespace chapters::kernels::layouts {

enum class CellBytes { b2, b4, b8, b16 };
inline constexpr int cell_bytes_count = 4;
enum class FragmentChoice {
  mma_a16,
  mma_b16,
  mma_c,
  mma_a_tf32,
  mma_b_tf32,
  mma_a8,
  mma_b8,
  mma_a4,
  mma_c_f64,
  wgmma_a16,
  wgmma_d64,
  ldmatrix_x4,
  ldmatrix_x4_trans,
  tcgen05_load,
  wmma_c
};
inline constexpr int fragment_choice_count = 15;

/// Defaults: 8 x 8 cells of 16 bytes, what one phase of ldmatrix asks for, in tiles of 4 x 4 with the swizzle that the
/// 128-byte mode is in such cells.
struct Inputs {
  models::gpu::LayoutOperation operation = models::gpu::LayoutOperation::swizzled_layout;
  std::string a = "((4,2),(4,2)):((4,16),(1,32))";
  std::string b = "(8,8):(8,1)";
  std::int64_t n = 2;
  std::string shape = "(16,16)";
  std::string coordinate = "(_,3)";
  std::int64_t index = 42;
  std::int64_t swizzle_bits = 3, swizzle_base = 0, swizzle_shift = 3;
  std::int64_t column = 2;
  CellBytes cell_bytes = CellBytes::b16;
  FragmentChoice fragment = FragmentChoice::mma_a16;
  std::int64_t lane = 5;
  bool operator==(const Inputs&) const = default;
};

/// One element of the result.
struct ElementRow {
  std::int64_t element = 0;
  std::string coordinate;
  double place = 0;
  double promised = std::nan("");  ///< what the definition of the operation asks for
};

struct Outputs {
  std::string reason;
  models::gpu::LayoutStatus status = models::gpu::LayoutStatus::ok;
  std::string result, why;
  double size = std::nan(""), cosize = std::nan("");
  std::vector<double> indices;
  double wrong_at = std::nan(""), gives = std::nan(""), promised_place = std::nan("");
  double offset = std::nan("");
  bool over_covers = false, compared = false;
  std::int64_t rows = 0, columns = 0, held_column = 0;
  std::int64_t column_by_rows = 0, column_in_layout = 0, column_swizzled = 0, column_ideal = 0, column_cells = 0;
  std::int64_t row_in_layout = 0, row_swizzled = 0;  ///< the row that takes most
  std::int64_t contiguous = 0;                       ///< elements in a run of a row
  std::string cpp;
  std::vector<ElementRow> elements;
  std::int64_t fragment_rows = 0, fragment_columns = 0, fragment_registers = 0, fragment_values = 0;
  std::string held_elements;
};

/// Where the drawn cells lie under one map.
struct CellMap {
  std::vector<std::int64_t> places;  ///< row by row; -1: there is no cell
  std::vector<std::int8_t> banks;    ///< the first one of each cell
  std::vector<int> wavefront;        ///< in which each held cell is served
  std::int64_t wavefronts = 0;
};
/// Who holds each element of a fragment.
struct Holder {
  std::int16_t thread = -1, reg = -1;  ///< the first 32-bit register
};
/// A, or what an operation made of it: where each cell lies and to which part of A it belongs.
struct PartsMap {
  int rows = 0, columns = 0;
  std::vector<std::int64_t> places, parts;  ///< row by row; place -1: there is no cell; part -1: of none
};
struct Run {
  models::gpu::PartKind parts = models::gpu::PartKind::none;
  std::array<PartsMap, 2> sides;        ///< A and the result; empty where nothing is done to A
  int rows = 0, columns = 0, held = 0;  ///< what is drawn of the cells
  std::array<CellMap, 3> maps;          ///< by rows, the layout, the swizzle on it
  const models::gpu::Fragment* fragment = nullptr;
  int fragment_rows = 0, fragment_columns = 0, lane = 0;
  std::vector<Holder> holders;  ///< row by row; the matrices of ldmatrix stand side by side
};
using Computed = chapters::Computed<Outputs, Run>;

inline constexpr int max_drawn = 32;

struct MapWords {
  std::string name, text, cost;
  std::string brief;  ///< in place of text where that is wider than its map
};
struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  LabDoors doors;
  std::string answer;
  std::array<MapWords, 3> maps;
  std::vector<std::int32_t> walk;  ///< cells in the order of their places, map after map
  int banks_wide = 4;              ///< how many banks a cell is wide
  std::string given_story;
  std::string fragment_story, holder_story;
  std::string a_line, b_line, result_line, verdict_line;
  std::array<std::string, 2> side_names;
  std::string parts_words;  ///< what a tint says
};

struct View {
  Requests requests;
  DescribedTable<ElementRow> elements;
  std::vector<widgets::PlacedLegend> legend;
};

int bytes_of(CellBytes cell);
const models::gpu::Fragment* fragment_of(FragmentChoice choice);
void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, ElementRow& row);
Computed compute(const Inputs& inputs);
LabDoors doors_of(const Inputs& in, const Run& run);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

}  // namespace chapters::kernels::layouts
