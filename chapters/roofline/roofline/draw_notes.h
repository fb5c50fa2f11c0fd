#pragma once
#include "chapters/roofline/roofline/lab.h"

namespace chapters::roofline::roofline {

struct RegimeStyle {
  std::string_view name;
  widgets::Meaning meaning;
  widgets::Marker marker;
};
const RegimeStyle& style_of(models::Regime regime);

ImVec2 pixel_of(const widgets::PlotFrame& frame, double x, double y);

/// A batch of the decode walk: a short stroke across the walk, whose number stands beyond `to`.
struct WalkTick {
  ImVec2 from{}, to{};
};
WalkTick tick_of(const widgets::PlotFrame& frame, const Picture::Dot& dot);

/// Near the dot rather than on empty ground far away: a box may cover a line, but neither it nor its leader a text.
/// `inner` is where it may stand, `own` the dot that it speaks of.
widgets::Box place_callout(const widgets::PlotScratch& s, const widgets::Box& inner, ImVec2 size, ImVec2 own);

/// Whether the ridge's tag on the axis keeps clear of the tag of the learner's own dot.
bool ridge_tag_fits(const widgets::PlotView& plot, const Outputs& out, const Picture& pic);

/// What the marks are, right-aligned above the plot's frame; entries without room are left out.
void draw_legend(const Picture& pic, const widgets::PlotView& plot);

/// What is said in the plot after it was drawn: decades, drop lines, what could be gained, the callout, every name
/// where there is room, and over all of it the learner's own dot.
void draw_notes(const Outputs& out, const Picture& pic, widgets::PlotView& plot);

}  // namespace chapters::roofline::roofline
