#pragma once
#include "chapters/interview/scenarios/lab.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"

/// Parts of the picture of interview/scenarios, each in its own file.
namespace chapters::interview::scenarios {

/// The instrument of a symptom, as it would be drawn in `box`. `quiet` dims it.
void paint_glyph(const widgets::Painter& p, const SymptomGlyph& glyph, widgets::Rect box, bool quiet = false);

/// The clock of the deal.
void follow_deal(const Inputs& in, const Outputs& out, const Picture& picture, View& view, double now);
void start_clock(View& view, double now);
double elapsed_s(const Outputs& out, const View& view, double now);
/// Adds a move at the time of now; the clock starts with the first.
void take_move(Inputs& in, const Outputs& out, const Picture& picture, View& view, Move move);
/// Ends the case where its clock has run out, and keeps what ended in the history, once.
void end_and_keep(Inputs& in, const Outputs& out, const Picture& picture, View& view, double now);

/// A ring of the clock, cut by what was in hand; the time left stands in it.
void paint_ring(const widgets::Painter& p, ImVec2 centre, float radius, const Outputs& out, const BoardPlay& play,
                double elapsed);
/// "1:58" of seconds.
widgets::Line clock_words(double seconds);

void draw_board(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
void draw_tree(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
void draw_points(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);

}  // namespace chapters::interview::scenarios
