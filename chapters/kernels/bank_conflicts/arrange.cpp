#include <algorithm>
#include <bit>
#include <cmath>

#include "chapters/kernels/bank_conflicts/lab.h"
#include "widgets/number/number.h"

namespace chapters::kernels::bank_conflicts {
namespace {

using models::gpu::SharedWord;

std::string whole(std::int64_t n) { return widgets::format_text(static_cast<double>(n), "", 12); }
std::string bytes(double n) { return widgets::format_text(n, "B", 4); }
std::string room(double n) { return widgets::format_text(n, "B", 4, widgets::Prefix::binary); }

/// " wavefronts: 8 + 8 + 8 + 8".
std::string count_words(const PlacementFacts& facts) {
  std::string s = facts.wavefronts == 1 ? " wavefront" : " wavefronts";
  if (facts.phases.size() < 2) return s;
  s += ": ";
  for (std::size_t i = 0; i < facts.phases.size(); ++i)
    s += (i > 0 ? " + " : "") + whole(static_cast<std::int64_t>(facts.phases[i]));
  return s;
}

void write_count(const PlacementFacts& facts, PlacementWords& words) {
  if (!facts.reason.empty()) return;
  words.count = whole(static_cast<std::int64_t>(facts.wavefronts));
  words.unit = count_words(facts);
}

std::string fits(std::int64_t tiles) { return whole(tiles) + (tiles == 1 ? " fits" : " fit"); }

void write_words(const Inputs& in, const Outputs& out, Picture& pic) {
  PlacementWords &plain = pic.words[0], &padded = pic.words[1], &swizzled = pic.words[2];
  plain.title = "as written";
  plain.formula = whole(in.columns) + " r + c";
  plain.cost = room(out.tile_bytes) + " per tile, " + fits(out.tiles);
  plain.story = whole(out.banks) + " of 32 banks at work, " + bytes(out.bytes_per_wavefront) + " per wavefront";
  padded.title = "padded by " + whole(in.padding);
  padded.formula = whole(in.columns + in.padding) + " r + c";
  padded.cost = "+" + room(out.padding_bytes) + ", " + fits(out.tiles_padded) + ", rows aligned to " +
                bytes(static_cast<double>(out.alignment_bytes));
  padded.story = std::isnan(out.best_padding) ? "no padding up to 64 elements is free of conflicts"
                 : out.best_padding == 0
                     ? "needs no padding"
                     : "least padding that works: " + whole(static_cast<std::int64_t>(out.best_padding)) + ", " +
                           room(out.best_padding_bytes);
  swizzled.title = "XOR swizzle";
  swizzled.formula = out.flip;
  swizzled.cost = "no byte more, " + fits(out.tiles) + ", units of " + bytes(static_cast<double>(out.unit_bytes));
  const bool left = in.swizzle == SwizzleKind::fitted && out.swizzled.wavefronts > static_cast<double>(out.ideal);
  swizzled.story = left               ? out.fit
                   : out.cute.empty() ? "every row keeps its own bytes, in another order"
                                      : "CuTe: " + out.cute + " on bytes";
  pic.source = in.access == Access::expression ? in.expression : "addresses of your own";
  std::replace_if(
      pic.source.begin(), pic.source.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  pic.counted = in.access == Access::ldmatrix && out.row_bytes == 128;
  write_count(out.plain, plain);
  write_count(out.padded, padded);
  write_count(out.swizzled, swizzled);
  if (!out.padded.reason.empty()) padded.story = out.padded.reason;
  if (!out.swizzled.reason.empty()) swizzled.story = out.swizzled.reason;
  pic.given = "32 banks of 4 bytes: how deep do the words hang?";
}

/// What a tile takes of shared memory, and whether its rows can be loaded 16 bytes at a time.
void write_room(const Outputs& out, Picture& pic) {
  constexpr std::int64_t vector_bytes = 16;
  for (std::size_t i = 0; i < pic.words.size(); ++i) {
    PlacementWords& words = pic.words[i];
    const bool padded = i == 1;
    const double taken = padded ? out.padded_tile_bytes : out.tile_bytes;
    const std::int64_t pitch = padded ? out.pitch_bytes : out.row_bytes;
    words.bytes = whole(static_cast<std::int64_t>(taken)) + " B";
    words.share = static_cast<float>(taken / out.padded_tile_bytes);
    words.used = static_cast<float>(out.tile_bytes / taken);
    words.vectors = (padded ? out.alignment_bytes : out.row_alignment_bytes) >= vector_bytes;
    words.aligned =
        "a row every " + whole(pitch) + " B: " + (words.vectors ? "16-byte loads align" : "16-byte loads fault");
  }
  if (out.unit_bytes < vector_bytes && out.flip_mask != 0) {
    pic.words[2].vectors = false;
    pic.words[2].aligned = "units of " + whole(out.unit_bytes) + " B: 16-byte loads are torn apart";
  }
}

void arrange_rows(const Run& run, Picture& pic) {
  int hang = 4;
  std::size_t grid = 1;
  for (const Placement& p : run.placements) {
    hang = std::max(hang, p.access.wavefronts);
    grid = std::max(grid, p.lines.size());
  }
  pic.hang_rows = hang;
  pic.grid_rows = static_cast<int>(grid);
}

void arrange_paddings(const Inputs& in, const Outputs& out, const Run& run, Picture& pic) {
  pic.over_padding = {.kind = widgets::Curve::Kind::dots,
                      .label = "wavefronts, padded",
                      .info = "sum over phases of the most distinct words in one bank",
                      .output = "padded_wavefronts",
                      .tint = widgets::Tint::series(0),
                      .radius = 3.5f};
  pic.track_end = static_cast<double>(std::max<std::int64_t>(32, in.padding));
  double top = static_cast<double>(out.wavefronts);
  for (std::size_t n = 0; n < run.wavefronts_over_padding.size(); ++n) {
    const double w = run.wavefronts_over_padding[n];
    if (std::isnan(w) || static_cast<double>(n) > pic.track_end) continue;
    pic.over_padding.add(static_cast<double>(n), w);
    top = std::max(top, w);
  }
  pic.plot_top = 2 * top;
}

/// "bank 11, wavefront 3" of the words that a lane wants in one placement.
std::string place_of_lane(const Placement& p, std::size_t lane) {
  if (!p.possible) return "\xE2\x80\x94";
  for (int i = 0; i < p.access.word_count; ++i) {
    const SharedWord& w = p.access.words[static_cast<std::size_t>(i)];
    if ((w.lanes >> lane & 1U) != 0) return whole(w.bank) + ", " + whole(w.phase + 1) + "." + whole(w.wavefront + 1);
  }
  return "off";
}

void arrange_lanes(const Run& run, Picture& pic) {
  for (std::size_t lane = 0; lane < run.logical.size(); ++lane) {
    LaneRow row{.lane = whole(static_cast<std::int64_t>(lane)), .row = "off", .column = "off"};
    if (const std::int64_t a = run.logical[lane]; a != models::gpu::inactive_lane) {
      row.row = whole(a / run.tile.row_bytes());
      row.column = whole(a % run.tile.row_bytes() / run.tile.element_bytes);
    }
    for (std::size_t i = 0; i < run.placements.size(); ++i) row.places[i] = place_of_lane(run.placements[i], lane);
    pic.lanes.push_back(std::move(row));
  }
}

void arrange_code(const Inputs& in, const Outputs& out, Picture& pic) {
  pic.code = swizzled_code(in, out);
  pic.padded_code = padded_code(in, out);
  const std::string all = "// swizzled\n" + pic.code + "\n// padded\n" + pic.padded_code;
  for (std::size_t from = 0; from < all.size();) {
    const std::size_t end = std::min(all.find('\n', from), all.size());
    pic.code_lines.push_back(all.substr(from, end - from));
    from = end + 1;
  }
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture pic;
  if (!out.reason.empty()) return pic;
  pic.answer = answer_of(in, out);
  write_words(in, out, pic);
  write_room(out, pic);
  arrange_rows(run, pic);
  arrange_paddings(in, out, run, pic);
  arrange_lanes(run, pic);
  arrange_code(in, out, pic);
  pic.doors = doors_of(run);
  const auto units = models::gpu::units_that_swap(run.tile, std::min(run.swizzle.unit_bytes, run.tile.row_bytes()));
  pic.swap_bits = std::min(5, std::countr_zero(static_cast<std::uint64_t>(std::max<std::int64_t>(1, units))));
  return pic;
}

std::uint32_t View::lit() const { return ImGui::GetFrameCount() - lanes_frame <= 1 ? lanes : 0; }

}  // namespace chapters::kernels::bank_conflicts
