#include <algorithm>

#include "chapters/kernels/coalescing/lab.h"
#include "chapters/mechanism/catalog.h"
#include "widgets/number/number.h"

namespace chapters::kernels::coalescing {
namespace {

namespace gpu = models::gpu;
using widgets::format_text;

std::string whole_text(std::int64_t n) { return format_text(static_cast<double>(n), "", 15); }

/// How many sectors a window with a scale has; more are folded.
constexpr std::array<std::int64_t, 4> windows{6, 10, 18, 34};
/// Before the first sector that is touched, at most this many stand to scale.
constexpr std::int64_t max_before = 8;

/// Sectors of the window: to scale where they fit, else those that are touched.
void arrange_boxes(const Inputs& in, const Run& run, Picture& pic) {
  const gpu::GlobalAccess& a = run.access;
  constexpr std::int64_t per_line = gpu::line_bytes / gpu::sector_bytes;
  const std::int64_t first = a.sectors > 0 ? a.sector_ids[0] : 0;
  const std::int64_t last = a.sectors > 0 ? a.sector_ids[static_cast<std::size_t>(a.sectors - 1)] : 0;
  // The fan is pushed within its window: that begins where the fan would without the offset.
  const std::int64_t pushed = (in.offset * element_of(in) + gpu::sector_bytes - 1) / gpu::sector_bytes;
  std::int64_t begin = std::max<std::int64_t>(0, first - std::min(pushed, max_before)) / per_line * per_line;
  const auto fits = std::find_if(windows.begin(), windows.end(), [&](std::int64_t n) { return last - begin < n; });
  const auto add = [&](std::int64_t sector, bool gap) {
    const bool fetched = std::binary_search(a.sector_ids.begin(), a.sector_ids.begin() + a.sectors, sector);
    pic.boxes.push_back({.sector = sector, .fetched = fetched, .gap_before = gap});
  };
  if (fits != windows.end()) {
    for (std::int64_t s = begin; s < begin + *fits; ++s) add(s, false);
  } else {
    pic.folded = true;
    for (int i = 0; i < a.sectors; ++i) {
      const auto at = static_cast<std::size_t>(i);
      add(a.sector_ids[at], i > 0 && a.sector_ids[at] != a.sector_ids[at - 1] + 1);
    }
  }
  for (const BoxMark& b : pic.boxes) {
    pic.box_numbers.push_back(whole_text(b.sector));
    pic.box_names.push_back("sector " + pic.box_numbers.back());
  }
}

void arrange_lanes(const Run& run, Picture& pic) {
  for (std::size_t lane = 0; lane < pic.lanes.size(); ++lane) {
    LaneMark& m = pic.lanes[lane];
    m.address = run.addresses[lane];
    m.off = m.address == gpu::inactive_lane;
    if (m.off) continue;
    const auto box = std::find_if(pic.boxes.begin(), pic.boxes.end(),
                                  [&](const BoxMark& b) { return b.sector == m.address / gpu::sector_bytes; });
    m.box = static_cast<int>(box - pic.boxes.begin());
    const auto from = static_cast<unsigned>(m.address % gpu::sector_bytes);
    box->cells |= static_cast<std::uint32_t>(((std::uint64_t{1} << pic.width_bytes) - 1) << from);
  }
}

void arrange_lines(Picture& pic) {
  for (std::size_t i = 0; i < pic.boxes.size(); ++i) {
    const std::int64_t line = pic.boxes[i].sector * gpu::sector_bytes / gpu::line_bytes;
    if (!pic.boxes[i].fetched) continue;
    const int at = static_cast<int>(i);
    if (!pic.lines.empty() && pic.lines.back().line == line) {
      pic.lines.back().last = at;
      continue;
    }
    pic.lines.push_back({.line = line, .first = at, .last = at, .words = {}, .name = {}, .brief = {}});
  }
  for (LineMark& l : pic.lines) {
    l.brief = whole_text(l.line);
    l.words = "line " + l.brief + (l.last - l.first == 3 ? ": 128 B, 4 sectors of 32 B" : "");
    l.name = "line " + l.brief;
  }
}

void write_expression(const Inputs& in, const Run& run, Picture& pic) {
  const std::string moved = in.offset > 0 ? " + " + whole_text(in.offset) : "";
  switch (in.access) {
    case Access::strided:
      pic.expression = "x[ " + (in.stride == 1 ? "i" : whole_text(in.stride) + " * i") + moved + " ]";
      pic.expression_hint =
          "i is the thread's number in the grid; stretch the fan for the stride, push it for the "
          "offset";
      break;
    case Access::expression:
      pic.expression =
          (run.expression.find('[') == std::string::npos ? "x[ " + run.expression + " ]" : run.expression) +
          (moved.empty() ? "" : ", index" + moved);
      pic.expression_hint = "push the fan to move every index";
      break;
    case Access::addresses:
      pic.expression = "a list of addresses" + (moved.empty() ? "" : ", moved by " + whole_text(in.offset));
      pic.expression_hint = "push the fan to move every address";
      break;
  }
}

void write_titles(const Inputs& in, const Outputs& out, Picture& pic) {
  const std::int64_t element_size = element_of(in);
  const std::string element = (element_size == width_of(in) ? "loads of " : "elements of ") +
                              format_text(static_cast<double>(element_size), "B");
  const bool strides = in.access == Access::strided;
  pic.strides_title =
      strides ? "Sectors that every other stride would fetch" : "Sectors that well-known accesses fetch";
  pic.offsets_title = strides ? "Sectors at other offsets" : "Sectors of yours at other offsets";
  pic.strides_axis = strides ? "stride, in " + element : "index, i the thread; press one to take it";
  pic.offsets_axis = "offset, in " + element;
  const gpu::BlockAccess& b = out.block;
  pic.warps_words = whole_text(out.warps) + (out.warps == 1 ? " warp asks for " : " warps ask for ") +
                    whole_text(b.asked_sectors) + (b.asked_sectors == 1 ? " sector" : " sectors");
  pic.block_words = whole_text(b.sectors) + (b.sectors == 1 ? " is" : " are") + " fetched, " +
                    whole_text(out.block_ideal_sectors) + " would do";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture pic;
  if (!out.reason.empty()) return pic;
  pic.answer = answer_of(in, out);
  pic.width_bytes = width_of(in);
  pic.element_bytes = element_of(in);
  pic.stretches = in.access == Access::strided;
  arrange_boxes(in, run, pic);
  arrange_lanes(run, pic);
  arrange_lines(pic);
  write_expression(in, run, pic);
  write_titles(in, out, pic);
  pic.doors = doors_of(in, run);
  pic.yours = run.access.sectors;
  pic.stride = pic.stretches ? in.stride : -1;
  pic.offset = in.offset;
  pic.distinct = static_cast<int>(out.block.sectors);
  pic.warp = in.access == Access::addresses ? 0 : in.warp_index;
  return pic;
}

}  // namespace chapters::kernels::coalescing
