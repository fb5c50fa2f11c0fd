#include <algorithm>
#include <cmath>

#include "chapters/kernels/async_pipeline/lab.h"
#include "widgets/number/number.h"

namespace chapters::kernels::async_pipeline {
namespace {

namespace gpu = models::gpu;
using widgets::format_text;

constexpr std::int64_t shown_tiles = 16, shown_outputs = 8;

double span_of(std::int64_t n) { return static_cast<double>(n); }
std::string number_words(double n) { return format_text(n, "", n < 1000 ? 3 : 4); }
std::string whole_words(std::int64_t n) { return format_text(span_of(n), "", 12); }
std::string buffer_words(std::int64_t n) { return whole_words(n) + (n == 1 ? " buffer" : " buffers"); }

void add_stretch(Lane& lane, std::int64_t from, std::int64_t to, Doing doing, std::int64_t tile, std::string words) {
  if (to > from) lane.stretches.push_back({span_of(from), span_of(to), doing, tile, std::move(words)});
}

/// What happens in each buffer, on the load channel and on the tensor cores until tile `tiles` is done.
RingPicture ring_picture(const Ring& ring, std::int64_t tiles) {
  RingPicture p{.yours = ring.yours, .fits = ring.fits};
  const std::int64_t buffers = ring.setup.stages;
  for (std::int64_t b = 0; b < buffers; ++b) p.buffers.push_back({.label = "buffer " + whole_words(b)});
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < tiles; ++i) {
    const bool alone = ring.run->blocks == 1;
    const gpu::PipelineTile& t = ring.run->at(ring.block, i);
    Lane& buffer = p.buffers[static_cast<std::size_t>(i % buffers)];
    const std::int64_t first_byte = std::max(t.issue, t.ready - ring.setup.load_time);
    add_stretch(buffer, t.issue, first_byte, Doing::on_its_way, i, {});
    add_stretch(buffer, first_byte, t.ready, Doing::arrives, i, whole_words(i));
    add_stretch(buffer, t.ready, t.compute_start, Doing::waits, i, {});
    add_stretch(buffer, t.compute_start, t.compute_end, Doing::computes, i, {});
    add_stretch(p.copies, t.transfer, t.transfer + ring.setup.load_time, Doing::copies, i, {});
    add_stretch(p.consumer, before, t.compute_start, Doing::idles, i,
                alone ? whole_words(t.compute_start - before) : std::string());
    add_stretch(p.consumer, t.compute_start, t.compute_end, Doing::computes, i, whole_words(i));
    before = t.compute_end;
  }
  p.end = span_of(before);
  p.done = tiles;
  for (std::int64_t b = 0; b < ring.run->blocks; ++b)
    for (std::int64_t i = 0; b != ring.block && i < ring.run->tiles_per_block; ++i) {
      const gpu::PipelineTile& t = ring.run->at(b, i);
      if (t.compute_end > before) break;
      add_stretch(p.consumer, t.compute_start, t.compute_end, Doing::others, i, {});
      ++p.done;
    }
  return p;
}

std::string kind_title(PipelineKind kind) {
  return kind == PipelineKind::sync ? "one by one" : kind == PipelineKind::multistage ? "multistage" : "specialized";
}

void arrange_rings(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const std::int64_t tiles = std::min(in.tiles, shown_tiles);
  for (const Ring& ring : run.rings) p.rings.push_back(ring_picture(ring, tiles));
  const RingPicture* slowest = nullptr;
  for (std::size_t i = 0; i < p.rings.size(); ++i) {
    RingPicture& r = p.rings[i];
    const Ring& ring = run.rings[i];
    if (in.compare == Compare::blocks)
      r.title = ring.run->blocks == 1 ? "alone"
                                      : "block " + whole_words(ring.block + 1) + " of " +
                                            whole_words(out.blocks > 1 ? out.blocks : out.blocks_before);
    else if (in.compare == Compare::kinds || in.kind == PipelineKind::sync)
      r.title = kind_title(ring.setup.kind);
    else
      r.title = buffer_words(ring.setup.stages);
    if (!slowest || r.end > slowest->end) slowest = &r;
  }
  if (!slowest) return;
  p.clock_end = slowest->end;
  if (tiles < in.tiles) p.clock_words = "the first " + whole_words(tiles) + " of " + whole_words(in.tiles) + " tiles";
  p.sharing = in.compare == Compare::blocks && p.rings.size() > 1;
  for (RingPicture& r : p.rings) {
    const double sooner = slowest->end - r.end;
    if (!r.fits)
      r.end_words = "does not fit";
    else if (p.sharing)
      r.end_words = whole_words(r.done) + (r.done == 1 ? " tile done" : " tiles done");
    else if (sooner >= 0.5)
      r.end_words = number_words(sooner) + (sooner == 1 ? " cycle sooner" : " cycles sooner");
  }
}

/// The last column at or before yours in front of which a block leaves, and the next one.
void arrange_walls(const Outputs& out, Picture& p) {
  for (std::size_t i = 1; i < out.stairs.size(); ++i) {
    const std::int64_t left = out.stairs[i].blocks, before = out.stairs[i - 1].blocks;
    if (left >= before) continue;
    Wall wall{.at = static_cast<std::int64_t>(i), .words = "from " + whole_words(out.stairs[i].buffers) + " on "};
    if (left == 0)
      wall.words += "no block fits the SM";
    else
      wall.words += (left == 1 ? "1 block fits" : whole_words(left) + " blocks fit") + ", not " + whole_words(before);
    if (out.stairs[i].buffers <= out.buffers) p.walls.clear();
    p.walls.push_back(std::move(wall));
    if (out.stairs[i].buffers > out.buffers) break;
  }
  if (p.walls.empty()) return;
  for (std::size_t i = static_cast<std::size_t>(p.walls[0].at); i < p.stairs.size(); ++i) p.stairs[i].dear = true;
}

void arrange_stairs(const Inputs& in, const Outputs& out, Picture& p) {
  const bool shared = in.compare == Compare::blocks;
  p.stairs_title = shared ? "Cycles per tile of the SM" : "Cycles per tile of one block";
  p.stairs_hint = in.kind == PipelineKind::warp_specialized
                      ? "drag the number of buffers; below it the shared memory that a block takes"
                      : "1: one after the other; from 2 on multistage. Drag the number";
  p.floor = shared ? out.pipe_period : out.full_period;
  p.floor_words = "at best " + number_words(p.floor);
  p.least_buffers = in.kind == PipelineKind::multistage ? 2 : 1;
  for (const StairRow& row : out.stairs) {
    const double cycles = shared ? row.sm_cycles : row.cycles;
    const bool fits = row.blocks > 0;
    const double high = std::isfinite(cycles) ? cycles : 0;
    Stair s{.number = whole_words(row.buffers),
            .cycles_words = fits || !shared ? number_words(high) : std::string("none"),
            .bytes_words = format_text(row.shared_bytes, "B", 3, widgets::Prefix::binary),
            .cycles = high,
            .buffers = row.buffers,
            .yours = row.buffers == out.buffers,
            .fits = fits};
    s.blocks_words = !fits ? "does not fit" : whole_words(row.blocks) + (row.blocks == 1 ? " block" : " blocks");
    if (fits && row.buffers <= most_buffers) p.most_buffers = std::max(p.most_buffers, row.buffers);
    p.tallest = std::max(p.tallest, high);
    p.stairs.push_back(std::move(s));
  }
  arrange_walls(out, p);
}

void arrange_kinds(const Inputs& in, const Outputs& out, Picture& p) {
  using widgets::Tint;
  struct Drawn {
    PipelineKind kind;
    std::string_view label;
    Tint tint;
  };
  const Drawn drawn[] = {{PipelineKind::sync, "one after the other", Tint()},
                         {PipelineKind::multistage, "multistage", Tint::series(0)},
                         {PipelineKind::warp_specialized, "warp-specialized", Tint::series(3)}};
  for (const Drawn& d : drawn) {
    widgets::Curve curve{.label = std::string(d.label), .info = "cycles per tile in the long run", .tint = d.tint};
    for (const StairRow& row : out.stairs) {
      if (d.kind == PipelineKind::multistage && row.buffers < 2) continue;
      const double cycles = period_of(in, d.kind, row.buffers);
      curve.add(span_of(row.buffers), cycles);
      p.kinds_top = std::max(p.kinds_top, cycles);
    }
    p.kinds.push_back(std::move(curve));
  }
}

void arrange_groups(const Inputs& in, const Outputs& out, Picture& p) {
  const std::int64_t outputs = std::min(in.output_tiles, shown_outputs);
  const double main = span_of(out.mainloop_cycles), after = span_of(in.epilogue_time);
  p.cooperative.push_back({.label = "together"});
  for (std::int64_t g = 0; g < 2; ++g) p.ping_pong.push_back({.label = "group " + whole_words(g + 1)});
  double pipe = 0, cooperative = 0, free[2] = {0, 0};
  for (std::int64_t i = 0; i < outputs; ++i) {
    const auto g = static_cast<std::size_t>(i % 2);
    const double start = std::max(pipe, free[g]);
    pipe = start + main;
    free[g] = pipe + after;
    p.ping_pong[g].mainloops.push_back({start, pipe, Doing::computes, i, whole_words(i)});
    p.ping_pong[g].epilogues.push_back({pipe, free[g], Doing::waits, i, {}});
    p.cooperative[0].mainloops.push_back({cooperative, cooperative + main, Doing::computes, i, whole_words(i)});
    p.cooperative[0].epilogues.push_back({cooperative + main, cooperative + main + after, Doing::waits, i, {}});
    cooperative += main + after;
    p.groups_end = std::max({p.groups_end, free[g], cooperative});
  }
  const std::string shown = outputs < in.output_tiles
                                ? " for " + whole_words(in.output_tiles) + " output tiles, the first 8 are shown"
                                : std::string();
  p.cooperative_words = "Cooperative: " + whole_words(out.cooperative_total) + " cycles" + shown;
  p.ping_pong_words = "Ping-pong: " + whole_words(out.ping_pong_total) + " cycles, " +
                      format_text(out.ping_pong_gain, widgets::times_unit) + " as fast";
}

/// What a question gives: the inputs alone.
std::string given_of(const Inputs& in) {
  std::string words = in.kind == PipelineKind::sync         ? "One after the other"
                      : in.kind == PipelineKind::multistage ? "Multistage"
                                                            : "Warp-specialized";
  if (in.latency_of == "set") words += ", latency " + whole_words(in.latency);
  if (in.times == Times::set)
    words += ", copy " + whole_words(in.load_time) + ", compute " + whole_words(in.compute_time) + " cycles";
  else
    words +=
        ", a tile of " + whole_words(in.block_m) + " × " + whole_words(in.block_n) + " × " + whole_words(in.block_k);
  return words;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = answer_of(in, out);
  p.given = given_of(in);
  if (in.times == Times::set && in.latency_of == "set")
    p.given_turn = {span_of(in.latency), span_of(in.load_time), span_of(in.compute_time)};
  arrange_rings(in, out, run, p);
  arrange_stairs(in, out, p);
  arrange_kinds(in, out, p);
  arrange_groups(in, out, p);
  p.doors = doors_of(in, out);
  return p;
}

}  // namespace chapters::kernels::async_pipeline
