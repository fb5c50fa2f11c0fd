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

models::Result<std::string> compiler_link(const Inputs& in, const Outputs& out, std::string_view lab) {
  LinkWriter w(lab);
  w.choice("chip", in.chip);
  if (lab == "framework/launch") {
    const bool decode = in.phase == models::Phase::decode;
    const double length = std::max(1.0, std::round(out.mean_length));
    w.choice("model", in.model);
    w.choice("mode", "eager");
    w.choice("beside", in.way == CompileWay::reduce_overhead || in.way == CompileWay::max_autotune ? "compiled_graph"
                                                                                                   : "compiled");
    w.choice("host", "own");
    w.exactly("launch_s", in.launch_s);
    w.choice("phase", decode ? "decode" : "prefill");
    w.exactly("batch", decode ? length : models::as_double(in.batch));
    if (decode)
      w.exactly("context", models::as_double(in.context));
    else
      w.exactly("sequence", length);
  } else if (lab == "framework/fusion") {
    w.number("tokens", out.mean_length);
    w.number("host_s", in.launch_s);
  }
  return w.link();
}

}  // namespace

LabDoors doors_of(const Inputs& in, const Outputs& out) {
  return lab_doors(compiler_doors, [&](std::string_view lab) { return compiler_link(in, out, lab); });
}

}  // namespace chapters::framework::compilers
