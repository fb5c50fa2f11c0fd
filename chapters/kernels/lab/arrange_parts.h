#pragma once
#include <span>

#include "chapters/kernels/lab/rate.h"

/// Parts of the Picture of kernels/lab. `rated` are all rungs of the ladder in its order.
namespace chapters::kernels::lab {

PlotPicture arrange_plot(const Inputs& in, const Outputs& out, std::span<const RatedRung> rated);
SourcePicture arrange_source(const Inputs& in, const Outputs& out, std::span<const RatedRung> rated);
/// "37.5 MFLOP/s", or whatever the ladder is compared by.
std::string rate_text(const ::kernels::Ladder& ladder, double flops, double bytes, double time_s);

}  // namespace chapters::kernels::lab
