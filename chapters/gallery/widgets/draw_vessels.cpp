#include "chapters/gallery/widgets/rooms.h"

namespace chapters::gallery::widgets {

using ::widgets::Meaning;
using ::widgets::Tint;

/// The pictures of memory: a vessel filled by owner, a strip of bytes, a row of pillars.
void draw_vessels(::widgets::Stage& stage, const Sample& s, Views& v) {
  stage.panel("vessel", {.title = "draw_vessels", .least = {520, 300}, .answers = true}, [&](ImVec2 whole) {
    const ImVec2 size =
        shows("layers by owner on one scale, hatched above the rim, joined by ribbons, brackets at the left", whole);
    const double unit = s.shares.empty() ? 1e9 : 1e9 * (1 + s.shares[0]);
    const ::widgets::VesselLayer full[] = {
        {.label = "weights", .value = 16 * unit, .info = "made up"},
        {.label = "gradients", .value = 16 * unit, .tint = Meaning::backward},
        {.label = "master", .value = 32 * unit, .tint = Meaning::optimizer, .pale = true},
        {.label = "moments", .value = 64 * unit, .tint = Meaning::optimizer},
        {.label = "thin", .value = 0.4 * unit, .tint = Meaning::communication}};
    const ::widgets::VesselLayer less[] = {{.label = "weights", .value = 16 * unit},
                                           {.label = "moments", .value = 16 * unit, .tint = Meaning::optimizer}};
    const ::widgets::Vessel vessels[] = {{.label = "before", .note = "too much", .layers = full, .rim = 80 * unit},
                                         {.label = "after", .note = "fits", .layers = less, .rim = 80 * unit}};
    const ::widgets::VesselBracket brackets[] = {
        {.from = 80 * unit, .to = 128.4 * unit, .bold = "a bracket", .words = "do not fit"}};
    ::widgets::draw_vessels("vessel", vessels, v.vessels, {.unit = "B", .size = size, .brackets = brackets});
  });
  stage.panel("bytes", {.title = "draw_byte_strip", .least = {380, 160}}, [&](ImVec2 whole) {
    const ImVec2 size = shows("a cell per byte, a part of a byte narrower, a line that rows must end before", whole);
    const ::widgets::ByteRun many[] = {{.label = "weights", .bytes = 2},
                                       {.label = "gradients", .bytes = 2, .tint = Meaning::backward},
                                       {.label = "moments", .bytes = 8, .tint = Meaning::optimizer}};
    const ::widgets::ByteRun few[] = {{.label = "weights", .bytes = 2},
                                      {.label = "moments", .bytes = 2.03, .tint = Meaning::optimizer}};
    const ::widgets::ByteStripRow rows[] = {
        {.label = "FP32 moments", .note = "a note", .runs = many, .figure = "96 GB", .chosen = true, .letter = 'A'},
        {.label = "8-bit moments", .runs = few, .figure = "32 GB"}};
    ::widgets::draw_byte_strip("bytes", rows, v.bytes, {.size = size, .limit = 7.2, .figure_title = "in all"});
  });
  stage.panel("pillars", {.title = "draw_pillars", .least = {380, 120}}, [&](ImVec2 whole) {
    const ImVec2 size = shows("kept, hollow and joined; press one or drag over several", whole);
    v.pillars.resize(24, {.kept = 1});
    const auto event = ::widgets::draw_pillars(
        "pillars", v.pillars, v.pillar_view,
        {.size = size, .full = "1.1 GB", .low = "67 MB", .low_share = 0.06, .mark = 1, .mark_words = "two would fit"});
    if (event.pillar >= 0) v.pillars[static_cast<std::size_t>(event.pillar)].hollow = event.hollow;
  });
}

}  // namespace chapters::gallery::widgets
