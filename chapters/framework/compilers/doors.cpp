#include <algorithm>
#include <cmath>

#include "chapters/framework/compilers/lab.h"
#include "chapters/mechanism/link_writer.h"
#include "models/base/integer_math.h"

/// Labs that show what stands behind one call: its launches, its fused kernels, and packing instead of padding.
namespace chapters::framework::compilers {
namespace {

constexpr auto compiler_doors = std::to_array<DoorTo>({
    {"open the launches", "Launches of one call", "framework/launch"},
    {"open the fusion", "What fusing a chain saves", "framework/fusion"},
    {"open the packing", "Packed instead of padded", "training/packing"},
});

/// The stream's lengths as documents of a batch.
models::Result<std::string> packing_link(const Inputs& in) {
  if (in.phase == LaunchedPhase::decode)
    return models::Result<std::string>::fail("A decoding step takes a token of each sequence: nothing is packed.");
  LinkWriter w("training/packing");
  // All alike: a lognormal without a spread.
  const Lengths drawn = in.lengths == Lengths::same ? Lengths::lognormal : in.lengths;
  w.choice("lengths", length_choices[static_cast<std::size_t>(drawn)].id);
  w.number("median", models::as_double(in.median));
  w.number("spread", in.lengths == Lengths::same ? 0 : in.spread);
  w.number("seed", models::as_double(in.seed));
  w.number("sequence", models::as_double(in.longest));
  w.choice("model", in.model);
  return w.link();
}

models::Result<std::string> compiler_link(const Inputs& in, const Outputs& out, std::string_view lab) {
  if (lab == "training/packing") return packing_link(in);
  LinkWriter w(lab);
  w.choice("chip", in.chip);
  if (lab == "framework/launch") {
    const bool decode = in.phase == LaunchedPhase::decode;
    const double length = std::max(1.0, std::round(out.mean_length));
    w.choice("model", in.model);
    w.choice("mode", "eager");
    w.choice("beside", in.way == CompileWay::reduce_overhead || in.way == CompileWay::max_autotune ? "compiled_graph"
                                                                                                   : "compiled");
    link_launch_host(w, in.launching);
    w.exactly("reached", in.reached / 100);
    w.choice("phase", decode ? "decode" : "prefill");
    w.exactly("batch", decode ? length : models::as_double(in.batch));
    if (decode)
      w.exactly("context", models::as_double(in.context));
    else
      w.exactly("sequence", length);
  } else if (lab == "framework/fusion") {
    w.number("tokens", out.mean_length);
    w.number("host_s", host_of(in.launching).launch_s);
  }
  return w.link();
}

}  // namespace

LabDoors doors_of(const Inputs& in, const Outputs& out) {
  return lab_doors(compiler_doors, [&](std::string_view lab) { return compiler_link(in, out, lab); });
}

}  // namespace chapters::framework::compilers
