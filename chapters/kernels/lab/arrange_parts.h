#pragma once
#include "chapters/kernels/lab/rate.h"

/// Parts of the Picture of kernels/lab.
namespace chapters::kernels::lab {

PlotPicture arrange_plot(const Inputs& in, const Outputs& out, const Run& run);
SourcePicture arrange_source(const Inputs& in, const Outputs& out, const Run& run);
/// One sentence on the selected rung: how far from its roof, what holds it, and what the next one changes.
std::string answer_of(const Inputs& in, const Outputs& out, const Run& run, double amount, std::string_view unit);
/// "37.5 MFLOP/s", or whatever the ladder is compared by.
std::string rate_text(const ::kernels::Ladder& ladder, double flops, double bytes, double time_s);
/// "37.5 %", with two figures below 10 %.
std::string percent_text(double share);

}  // namespace chapters::kernels::lab
