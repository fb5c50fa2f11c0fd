#include <algorithm>
#include <cmath>
#include <cstdio>

#include "chapters/kernels/lab/lab.h"

namespace chapters::kernels::lab {
namespace {

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

std::int64_t size_of(const ::kernels::Ladder& l, LabSize size) {
  const double usual = static_cast<double>(l.size_default);
  switch (size) {
    case LabSize::smallest:
      return ::kernels::part_of_size(l, 16);
    case LabSize::small:
      return ::kernels::part_of_size(l, 4);
    case LabSize::usual:
      return l.size_default;
    case LabSize::large:
      return std::clamp(::kernels::size_of_tiles(std::sqrt(usual * static_cast<double>(l.size_hi))), l.size_default,
                        l.size_hi);
    case LabSize::largest:
      return l.size_hi;
  }
  return l.size_default;
}

std::string run_request(const Inputs& in, const Outputs& out, const Run& run, bool all, const View* edited) {
  if (!run.ladder) return {};
  std::string text = "call run\nladder " + std::string(run.ladder->id) + "\nrungs ";
  for (std::size_t i = 0; i < run.ladder->rungs.size(); ++i)
    if (all || i == run.selected)
      (text += run.ladder->rungs[i].id) += i + 1 < run.ladder->rungs.size() && all ? "," : "";
  text += "\nsize " + std::to_string(out.size) + "\ncold " + (in.cold ? "1" : "0") + "\nseed " +
          std::to_string(in.seed) + "\nseconds " + seconds(in.seconds_per_rung) + "\n";
  if (edited) {
    text += "edited_rung " + std::string(run.rung().id) + "\nedited_source ";
    text += edited->edited_source;
  }
  return text;
}

std::string roofline_request(::kernels::Device device) {
  return "call roofline\ndevice " + std::string(::kernels::id_of(device)) + "\nseconds 3\n";
}

const std::string& chosen_ladder(const Inputs& in) {
  switch (in.device) {
    case ::kernels::Device::cuda:
      return in.cuda_ladder;
    case ::kernels::Device::opengl:
      return in.opengl_ladder;
    case ::kernels::Device::cpu:
      break;
  }
  return in.cpu_ladder;
}

}  // namespace chapters::kernels::lab
