#pragma once
#include "chapters/kernels/lab/rate.h"

/// Parts of the Picture of kernels/lab.
namespace chapters::kernels::lab {

PlotPicture arrange_plot(const Inputs& in, const Outputs& out, const Run& run);
SourcePicture arrange_source(const Inputs& in, const Outputs& out, const Run& run);
/// The answer on the selected rung: how far from its roof and what holds it, and what the next one changes.
std::string answer_of(const Inputs& in, const Outputs& out, const Run& run);
/// The machine of a published mark: what its source names first.
std::string machine_of(const RatedRung& rung);
/// "37.5 MFLOP/s", or whatever the ladder is compared by.
std::string rate_text(const ::kernels::Ladder& ladder, double flops, double bytes, double time_s);
/// "37.5 %", with two figures below 10 %.
std::string percent_text(double share);

}  // namespace chapters::kernels::lab
