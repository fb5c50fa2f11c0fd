#pragma once
#include <span>
#include <string_view>

#include "app/content/content.h"
#include "app/content/questions.h"

/// Questions about a lab as it is set, which nobody has written down: an output to predict, or its curve to draw. A
/// lecturer asks them on the spot, and a step of a lesson may hold one.
namespace app {

/// Can this output be predicted: a number, a choice or a toggle?
bool can_be_asked(const chapters::Field& output);
/// Can a curve be drawn over this input: a choice, or a number that has a range?
bool can_be_drawn_over(const chapters::Field& input);

/// "How much is "Time per step" with these inputs?" Fails where the lab has no such output, or none to predict.
models::Result<Prediction> ask_output(const chapters::Lab& lab, std::string_view output);

/// The curve of an output that is a number over one input, the others as they are set: over the range that its slider
/// spans, at most a thousandfold of it on a logarithm. The y axis is not known before `give_range`. Fails as
/// ask_output does, and where the input cannot be drawn over.
models::Result<Prediction> ask_curve(const chapters::Lab& lab, std::string_view output, std::string_view over);

/// Gives the question its y axis and the point that the lab shows now, `value` at `place` of the input. The axis comes
/// from that point and from the span of the input, and not from the curve's ends: as far on either side as a
/// proportional or an inversely proportional curve goes, shares in % from 0 to 100, and where values are zero or
/// negative from 0 (or its mirror image) to twice the point. Only a curve that leaves this widens it, tenfold or
/// twofold at a time.
void give_range(CurveAsk& ask, const chapters::Field& output, double place, double value,
                std::span<const double> computed);

}  // namespace app
