#pragma once
#include <imgui.h>

#include <string_view>

#include "app/store/progress.h"
#include "widgets/base/painter.h"

/// The one ring that says how far a lab or a chapter is, wherever it stands.
namespace app {

/// A lab's ring in quarters, clockwise from the top: opened, predicted, explored, drilled. All four: a disc.
void draw_lab_ring(const widgets::Painter& p, ImVec2 centre, float radius, const store::Quarters& done);
/// A dotted ring: planned.
void draw_planned_ring(const widgets::Painter& p, ImVec2 centre, float radius);
/// A chapter's ring with its number, filled clockwise from the top by `fraction`, 0 to 1; dotted when planned.
void draw_chapter_ring(const widgets::Painter& p, ImVec2 centre, float radius, double fraction, bool planned,
                       std::string_view ordinal, ImU32 colour);

}  // namespace app
