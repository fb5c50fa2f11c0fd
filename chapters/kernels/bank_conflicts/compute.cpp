#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "chapters/kernels/bank_conflicts/lab.h"

namespace chapters::kernels::bank_conflicts {
namespace {

using models::gpu::LaneAddresses, models::gpu::RowSwizzle, models::gpu::SharedAccess, models::gpu::SharedTile,
    models::gpu::TileWalk;

using Access32 = models::Result<SharedAccess>;

/// A tile and the two ways of placing it otherwise.
struct Setting {
  SharedTile tile;
  std::int64_t pad_bytes = 0;
  RowSwizzle swizzle;
};

LaneAddresses padded(const SharedTile& tile, std::int64_t pad_bytes, LaneAddresses lanes) {
  for (std::int64_t& a : lanes)
    if (a != models::gpu::inactive_lane) a = models::gpu::padded_address(tile, pad_bytes, a);
  return lanes;
}

LaneAddresses swizzled(const Setting& s, LaneAddresses lanes) {
  for (std::int64_t& a : lanes)
    if (a != models::gpu::inactive_lane) a = models::gpu::swizzled_address(s.tile, s.swizzle, a);
  return lanes;
}

/// The padded access; the sentence of a misaligned one speaks of rows, not of lanes.
Access32 padded_access(const Setting& s, const LaneAddresses& logical, std::int64_t width) {
  const LaneAddresses lanes = padded(s.tile, s.pad_bytes, logical);
  const bool misaligned = std::any_of(
      lanes.begin(), lanes.end(), [&](std::int64_t a) { return a != models::gpu::inactive_lane && a % width != 0; });
  if (!misaligned) return models::gpu::shared_access(lanes, width);
  return Access32::fail("Padded rows begin every " + std::to_string(s.tile.row_bytes() + s.pad_bytes) +
                        " B, and a lane moves " + std::to_string(width) +
                        " B, which must be aligned: pad by a multiple of " + std::to_string(width) + " B.");
}

Access32 swizzled_access(const Setting& s, const LaneAddresses& logical, std::int64_t width) {
  if (const auto fits = models::gpu::check_swizzle(s.tile, s.swizzle, width); !fits) return Access32::fail(fits.error);
  return models::gpu::shared_access(swizzled(s, logical), width);
}

PlacementFacts facts_of(const Access32& access) {
  PlacementFacts out;
  out.reason = access.error;
  if (!access) return out;
  out.wavefronts = access->wavefronts;
  for (int i = 0; i < access->phases; ++i) out.phases.push_back(access->phase_wavefronts[static_cast<std::size_t>(i)]);
  out.ways = *std::max_element(out.phases.begin(), out.phases.end());
  return out;
}

/// Which lanes want what in the tile as it is written.
models::Result<LaneAddresses> logical_addresses(const Inputs& in, const SharedTile& tile) {
  const std::int64_t width = bytes_of(in.width);
  if (walks(in.access)) return models::gpu::walk_tile(tile, walk_of(in.access), width, in.row, in.column);
  if (in.access == Access::expression) {
    const auto index = models::gpu::read_index(in.expression);
    if (!index) return models::Result<LaneAddresses>::fail(index.error);
    return models::gpu::lane_addresses(*index, {in.block_width, (1024 + in.block_width - 1) / in.block_width}, 0,
                                       in.warp_index, bytes_of(in.index_unit, width));
  }
  std::string list = in.addresses;
  for (char& c : list)
    if (c == '[' || c == ']') c = ' ';
  return models::gpu::read_addresses(list);
}

/// What the walk's phases take side by side, where a row holds whole ones.
std::int64_t fitted_unit(const Inputs& in, const SharedTile& tile, std::int64_t width) {
  const std::int64_t unit = walks(in.access) ? models::gpu::walk_unit_bytes(walk_of(in.access), width)
                                             : std::max(models::gpu::bank_bytes, width);
  return std::min(unit, models::gpu::row_alignment(tile.row_bytes()));
}

/// The XOR as set, or the best for this access; `searched`: the one that fits most accesses left this one conflicts.
RowSwizzle swizzle_of(const Inputs& in, const SharedTile& tile, const LaneAddresses& logical, std::int64_t width,
                      bool& searched) {
  if (in.swizzle == SwizzleKind::own)
    return {
        .unit_bytes = bytes_of(in.swizzle_unit), .shift = static_cast<int>(in.swizzle_shift), .mask = in.swizzle_mask};
  const std::int64_t unit = fitted_unit(in, tile, width);
  const auto fit = models::gpu::fit_swizzle(tile, logical, width, unit);
  searched = fit && fit->searched;
  return fit ? fit->swizzle : models::gpu::fitted_swizzle(tile, unit);
}

/// What became of the fit.
std::string fit_words(const Inputs& in, const PlacementFacts& swizzled, std::int64_t ideal, bool searched) {
  if (in.swizzle == SwizzleKind::own) return "bits of your own";
  if (!swizzled.reason.empty()) return "no XOR fits this access";
  if (swizzled.wavefronts > static_cast<double>(ideal)) return "no XOR of whole units takes fewer wavefronts";
  return searched ? "free of conflicts, found by trying all" : "free of conflicts";
}

/// "c ^ (r >> 1 & 3)".
std::string flip_text(const RowSwizzle& s) {
  if (s.mask == 0) return "c";
  return "c ^ (r" + (s.shift > 0 ? " >> " + std::to_string(s.shift) : "") + " & " + std::to_string(s.mask) + ")";
}

void add_swizzle(const Setting& s, Outputs& out) {
  out.unit_bytes = s.swizzle.unit_bytes;
  out.flip_shift = s.swizzle.shift;
  out.flip_mask = s.swizzle.mask;
  out.flip = flip_text(s.swizzle);
  if (const auto cute = models::gpu::cute_swizzle(s.tile, s.swizzle))
    out.cute = "Swizzle<" + std::to_string(cute->bits) + "," + std::to_string(cute->base) + "," +
               std::to_string(cute->shift) + ">";
}

void add_sizes(const Inputs& in, const Setting& s, Outputs& out) {
  out.row_bytes = s.tile.row_bytes();
  out.pitch_bytes = s.tile.row_bytes() + s.pad_bytes;
  out.row_alignment_bytes = models::gpu::row_alignment(out.row_bytes);
  out.alignment_bytes = models::gpu::row_alignment(out.pitch_bytes);
  out.tile_bytes = static_cast<double>(s.tile.bytes());
  out.padding_bytes = static_cast<double>(s.tile.rows * s.pad_bytes);
  out.padded_tile_bytes = out.tile_bytes + out.padding_bytes;
  out.padding_share = 100 * out.padding_bytes / out.tile_bytes;
  out.tiles = static_cast<std::int64_t>(in.shared_memory_bytes / out.tile_bytes);
  out.tiles_padded = static_cast<std::int64_t>(in.shared_memory_bytes / out.padded_tile_bytes);
}

/// The least padding without conflicts, and the wavefronts over all of them where somebody looks.
std::vector<double> over_padding(const Setting& s, const LaneAddresses& logical, std::int64_t width, bool facts_alone,
                                 Outputs& out) {
  std::vector<double> all;
  for (std::int64_t n = 0; n <= max_padding; ++n) {
    const auto count = models::gpu::count_wavefronts(padded(s.tile, n * s.tile.element_bytes, logical), width);
    all.push_back(count ? count->wavefronts : missing);
    if (!std::isnan(out.best_padding) || !count || count->wavefronts > count->ideal) continue;
    out.best_padding = static_cast<double>(n);
    out.best_padding_bytes = static_cast<double>(n * s.tile.element_bytes * s.tile.rows);
    if (facts_alone) break;
  }
  return all;
}

struct KnownAccess {
  std::string_view name;
  TileWalk walk;
  std::int64_t width;
};
constexpr KnownAccess known_accesses[] = {{"row, 4 B per lane", TileWalk::row, 4},
                                          {"row, 16 B per lane", TileWalk::row, 16},
                                          {"column, 4 B per lane", TileWalk::column, 4},
                                          {"column, 8 B per lane", TileWalk::column, 8},
                                          {"column, 16 B per lane", TileWalk::column, 16},
                                          {"ldmatrix.x4", TileWalk::ldmatrix, 16},
                                          {"mma A, 4 B per lane", TileWalk::mma_rows, 4},
                                          {"mma C, 8 B per lane", TileWalk::mma_rows, 8},
                                          {"mma B [k][n], 4 B per lane", TileWalk::mma_columns, 4}};

void add_accesses(const Setting& s, Outputs& out) {
  using Count = std::optional<models::gpu::SharedCount>;
  const auto wavefronts = [](const Count& count) { return count ? count->wavefronts : missing; };
  for (const KnownAccess& known : known_accesses) {
    const auto logical = models::gpu::walk_tile(s.tile, known.walk, known.width, 0, 0);
    if (!logical) continue;
    const Count plain = models::gpu::count_wavefronts(*logical, known.width);
    const bool fits = static_cast<bool>(models::gpu::check_swizzle(s.tile, s.swizzle, known.width));
    const Count with_xor = fits ? models::gpu::count_wavefronts(swizzled(s, *logical), known.width) : std::nullopt;
    out.accesses.push_back({
        .name = std::string(known.name),
        .ideal = plain ? plain->ideal : missing,
        .plain = wavefronts(plain),
        .padded = wavefronts(models::gpu::count_wavefronts(padded(s.tile, s.pad_bytes, *logical), known.width)),
        .swizzled = wavefronts(with_xor),
    });
  }
}

void add_plain(const SharedAccess& a, std::int64_t width, Outputs& out) {
  out.wavefronts = a.wavefronts;
  out.ideal = a.ideal;
  out.excess = a.excess();
  out.active = a.active;
  out.words = a.word_count;
  out.bytes_per_lane = width;
  out.ways = *std::max_element(a.phase_wavefronts.begin(), a.phase_wavefronts.end());
  std::uint32_t banks = 0;
  for (int i = 0; i < a.word_count; ++i)
    banks |= std::uint32_t{1} << static_cast<unsigned>(a.words[static_cast<std::size_t>(i)].bank);
  out.banks = std::popcount(banks);
  if (a.wavefronts > 0) out.bytes_per_wavefront = 4.0 * a.word_count / a.wavefronts;
}

/// What lies at a physical address: row and column, -1 in padding, -2 outside of the tile.
struct CellPlace {
  std::int16_t row = -2, column = -2;
};
CellPlace place_at(const Setting& s, std::size_t placement, std::int64_t physical) {
  std::int64_t logical = physical;
  if (placement == 1) {
    const auto in_row = models::gpu::logical_of_padded(s.tile, s.pad_bytes, physical);
    const std::int64_t row = physical / (s.tile.row_bytes() + s.pad_bytes);
    if (row >= s.tile.rows) return {};
    if (!in_row) return {static_cast<std::int16_t>(row), -1};
    logical = *in_row;
  }
  if (placement == 2) logical = models::gpu::swizzled_address(s.tile, s.swizzle, physical);  // its own inverse
  const std::int64_t row = logical / s.tile.row_bytes();
  if (row >= s.tile.rows) return {};
  return {static_cast<std::int16_t>(row),
          static_cast<std::int16_t>(logical % s.tile.row_bytes() / s.tile.element_bytes)};
}

/// The lines of memory that are drawn: all of the tile where they are few, else those that the warp touches.
void add_lines(const Setting& s, std::size_t placement, Placement& out) {
  constexpr std::int64_t line_bytes = 128, words = models::gpu::shared_banks, few = 36;
  const std::int64_t size = s.tile.bytes() + (placement == 1 ? s.tile.rows * s.pad_bytes : 0);
  std::vector<std::int64_t> numbers;
  for (const std::int64_t a : out.addresses)
    if (a != models::gpu::inactive_lane) numbers.push_back(a / line_bytes);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  const std::int64_t tile_lines = (size + line_bytes - 1) / line_bytes;
  if (tile_lines <= few && (numbers.empty() || numbers.back() < tile_lines)) {
    numbers.clear();
    for (std::int64_t i = 0; i < tile_lines; ++i) numbers.push_back(i);
  }
  for (const std::int64_t number : numbers) {
    MemoryLine line{.line = number, .follows = out.lines.empty() || out.lines.back().line + 1 == number};
    for (std::int64_t bank = 0; bank < words; ++bank) {
      const CellPlace place = place_at(s, placement, number * line_bytes + bank * models::gpu::bank_bytes);
      line.rows[static_cast<std::size_t>(bank)] = place.row;
      line.columns[static_cast<std::size_t>(bank)] = place.column;
    }
    out.lines.push_back(line);
  }
  for (int i = 0; i < out.access.word_count; ++i) {
    const std::int64_t line = out.access.words[static_cast<std::size_t>(i)].word / words;
    const auto at = std::lower_bound(numbers.begin(), numbers.end(), line);
    out.line_of_word[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(at - numbers.begin());
  }
}

Placement place(const Setting& s, std::size_t placement, const Access32& access, const LaneAddresses& addresses) {
  Placement out{.possible = static_cast<bool>(access), .addresses = addresses};
  if (access) out.access = *access;
  add_lines(s, placement, out);
  return out;
}

}  // namespace

std::int64_t bytes_of(Width width) { return std::int64_t{1} << static_cast<int>(width); }
std::int64_t bytes_of(Unit unit) { return std::int64_t{2} << static_cast<int>(unit); }
Unit unit_of(std::int64_t bytes) { return static_cast<Unit>(std::countr_zero(static_cast<std::uint64_t>(bytes)) - 1); }
std::int64_t bytes_of(Element element) { return std::int64_t{1} << static_cast<int>(element); }
std::int64_t bytes_of(IndexUnit unit, std::int64_t width_bytes) {
  constexpr std::int64_t sizes[] = {0, 1, 2, 4, 8, 12, 16};
  return unit == IndexUnit::access ? width_bytes : sizes[static_cast<int>(unit)];
}
models::gpu::TileWalk walk_of(Access access) { return static_cast<TileWalk>(access); }
static_assert(static_cast<int>(Access::mma_columns) == static_cast<int>(TileWalk::mma_columns));

Inputs::Inputs() {
  for (int i = 0; i < 32; ++i) addresses += (i > 0 ? ", " : "") + std::to_string(16 * i);
}

Computed compute(const Inputs& in, Progress& progress) {
  Setting s{.tile = {in.rows, in.columns, bytes_of(in.element)}};
  s.pad_bytes = in.padding * s.tile.element_bytes;
  const std::int64_t width = in.access == Access::ldmatrix ? 16 : bytes_of(in.width);
  const auto logical = logical_addresses(in, s.tile);
  if (!logical) return infeasible<Computed>(logical.error);
  bool searched = false;
  s.swizzle = swizzle_of(in, s.tile, *logical, width, searched);
  const auto plain = models::gpu::shared_access(*logical, width);
  if (!plain) return infeasible<Computed>(plain.error);
  if (plain->active == 0)
    return infeasible<Computed>(
        "No lane takes part: give at least one an address, or choose a warp that the block has.");
  const auto with_padding = padded_access(s, *logical, width), with_xor = swizzled_access(s, *logical, width);
  Outputs out;
  out.plain = facts_of(plain);
  out.padded = facts_of(with_padding);
  out.swizzled = facts_of(with_xor);
  add_plain(*plain, width, out);
  add_sizes(in, s, out);
  add_swizzle(s, out);
  out.fit = fit_words(in, out.swizzled, out.ideal, searched);
  auto wavefronts = over_padding(s, *logical, width, progress.facts_alone, out);
  add_accesses(s, out);
  if (progress.facts_alone) return {std::move(out), nullptr};
  Run run{.tile = s.tile, .swizzle = s.swizzle, .width_bytes = width, .logical = *logical};
  run.placements[0] = place(s, 0, plain, *logical);
  run.placements[1] = place(s, 1, with_padding, padded(s.tile, s.pad_bytes, *logical));
  run.placements[2] = place(s, 2, with_xor, swizzled(s, *logical));
  run.wavefronts_over_padding = std::move(wavefronts);
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::kernels::bank_conflicts
