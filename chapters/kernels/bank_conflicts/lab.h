#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/published_panel.h"
#include "models/gpu/access/tile_access.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"
#include "widgets/table/table.h"

/// A tile in shared memory, one access of a warp to it, and the wavefronts that it takes: as written, padded, swizzled.
namespace chapters::kernels::bank_conflicts {

/// What the warp reads; the first are models::gpu::TileWalk.
enum class Access : std::uint8_t { row, column, ldmatrix, mma_rows, mma_columns, expression, addresses };
enum class SwizzleKind : std::uint8_t { fitted, own };
enum class Element : std::uint8_t { int8, half, float32, double64 };
enum class Width : std::uint8_t { one, two, four, eight, sixteen };
/// What an index of one's own counts.
enum class IndexUnit : std::uint8_t { access, one, two, four, eight, twelve, sixteen };
enum class Unit : std::uint8_t { two, four, eight, sixteen, thirty_two, sixty_four };

/// Defaults: the transpose of everybody's first course, a column of 32 x 32 floats.
struct Inputs {
  Access access = Access::column;
  Width width = Width::four;
  std::int64_t row = 5, column = 11;
  std::string expression = "32 * threadIdx.x + threadIdx.y";
  IndexUnit index_unit = IndexUnit::access;
  std::int64_t block_width = 32, warp_index = 0;
  std::string addresses;
  std::int64_t rows = 32, columns = 32;
  Element element = Element::float32;
  std::int64_t padding = 1;
  SwizzleKind swizzle = SwizzleKind::fitted;
  Unit swizzle_unit = Unit::four;
  std::int64_t swizzle_shift = 0, swizzle_mask = 31;
  double shared_memory_bytes = 227.0 * 1024;
  Inputs();
  bool operator==(const Inputs&) const = default;
};

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// What one way of placing the tile makes of the access.
struct PlacementFacts {
  double wavefronts = missing, ways = missing;  ///< over all phases; in the worst phase
  std::vector<double> phases;
  std::string reason;  ///< why it has none
};

/// An access that kernels make to such a tile; NaN where it faults or the XOR tears it apart.
struct AccessRow {
  std::string name;
  double ideal = missing, plain = missing, padded = missing, swizzled = missing;
};

struct Outputs {
  std::string reason;
  PlacementFacts plain, padded, swizzled;
  std::int64_t wavefronts = 0, ideal = 0, excess = 0, ways = 0, banks = 0, active = 0, words = 0, bytes_per_lane = 0;
  double bytes_per_wavefront = 0;
  std::int64_t row_bytes = 0, row_alignment_bytes = 0, pitch_bytes = 0, alignment_bytes = 0, unit_bytes = 0;
  double tile_bytes = 0, padded_tile_bytes = 0, padding_bytes = 0, padding_share = 0;
  double best_padding = missing, best_padding_bytes = missing;
  std::int64_t tiles = 0, tiles_padded = 0;
  std::int64_t flip_shift = 0, flip_mask = 0;
  std::string flip, cute;  ///< "c ^ (r & 31)", "Swizzle<5,2,5>"
  std::string fit;         ///< whether the XOR that was fitted leaves conflicts
  std::vector<AccessRow> accesses;
};

void describe(Fields& f, AccessRow& row);

/// 128 bytes of shared memory: what lies in its 32 banks.
struct MemoryLine {
  std::int64_t line = 0;
  bool follows = true;  ///< the line before it is drawn right above
  /// Column of the element in the word's low half, -1 padding, -2 outside of the tile; and its row.
  std::array<std::int16_t, models::gpu::shared_banks> columns{}, rows{};
};

/// One way of placing the tile, drawn.
struct Placement {
  bool possible = false;
  models::gpu::LaneAddresses addresses{};
  models::gpu::SharedAccess access;
  std::vector<MemoryLine> lines;
  std::array<std::int16_t, 4 * models::gpu::warp_lanes> line_of_word{};  ///< index in `lines`
};

struct Run {
  models::gpu::SharedTile tile;
  models::gpu::RowSwizzle swizzle;
  std::int64_t width_bytes = 4;
  models::gpu::LaneAddresses logical{};
  std::array<Placement, 3> placements;          ///< as written, padded, swizzled
  std::vector<double> wavefronts_over_padding;  ///< by elements of padding; NaN where the access faults
};
inline constexpr std::int64_t max_padding = 64;  ///< elements per row
using Computed = chapters::Computed<Outputs, Run>;

/// The words over and under one of the three.
struct PlacementWords {
  std::string title, formula, cost, count, unit, story;
  std::string bytes, aligned;  ///< "4,224 B per tile", "rows every 132 B: 16-byte loads fault"
  float share = 1, used = 1;   ///< its bytes over the largest tile's of the three; the part that is no padding
  bool vectors = true;         ///< 16-byte loads are possible
};

/// A lane of the warp as a row of a table.
struct LaneRow {
  std::string lane, row, column;
  std::array<std::string, 3> places;  ///< "11, 3": bank and wavefront
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  LabDoors doors;
  std::string answer;
  std::array<PlacementWords, 3> words;
  std::string given;   ///< under the veil
  std::string source;  ///< the expression in one line, or what else lanes read
  PublishedMarks published;
  bool counted = false;  ///< a profiler counted this access
  widgets::Curve over_padding;
  double plot_top = 32;
  std::string code, padded_code;
  std::vector<std::string> code_lines;
  std::vector<LaneRow> lanes;
  int swap_bits = 5;      ///< buttons of the XOR
  double track_end = 32;  ///< elements of padding at the end of the track
  int hang_rows = 32, grid_rows = 32;
};

struct View {
  Requests requests;
  std::uint32_t lanes = 0;  ///< under the pointer, a bit each
  int lanes_frame = -1;
  widgets::PlotView over_padding;
  DescribedTable<AccessRow> accesses;
  std::vector<widgets::PlacedLegend> legend;
  widgets::TableView lane_table;
  std::uint32_t lit() const;  ///< those of this frame or the one before
};

Computed compute(const Inputs& inputs, Progress& progress);
LabDoors doors_of(const Run& run);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

/// The banks: three tiles with what hangs under them.
void draw_banks(Inputs& inputs, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// Wavefronts over the padding.
void draw_paddings(Inputs& inputs, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// The tile as C++, with buttons that copy it.
void draw_code(const Picture& picture, ImVec2 size);

/// The answer in one or two sentences.
std::string answer_of(const Inputs& inputs, const Outputs& out);
/// The tile as C++: swizzled, or padded.
std::string swizzled_code(const Inputs& inputs, const Outputs& out);
std::string padded_code(const Inputs& inputs, const Outputs& out);

std::int64_t bytes_of(Width width);
std::int64_t bytes_of(Unit unit);
Unit unit_of(std::int64_t bytes);
std::int64_t bytes_of(Element element);
/// Bytes from one index to the next where a lane moves `width_bytes`.
std::int64_t bytes_of(IndexUnit unit, std::int64_t width_bytes);
std::string_view name_of(Element element);
/// The tile walk of an access; only of the first five.
models::gpu::TileWalk walk_of(Access access);
inline bool walks(Access access) { return access < Access::expression; }

}  // namespace chapters::kernels::bank_conflicts
