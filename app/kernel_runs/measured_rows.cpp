#include "app/kernel_runs/measured_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/platform/json.h"

namespace app {
namespace {

/// Which rungs of a ladder stand beside which output.
struct Beside {
  std::string_view ladder, first_rung, lab, output, unit, file_name, short_name;
  bool as_share;  ///< 100 x the first rung's time over the rung's; otherwise the inverse ratio
};
constexpr Beside beside[] = {
    {"cuda-stride", "every_1", "kernels/coalescing", "efficiency_percent", "%", "this_gpu_strides.json", "stride",
     true},
    {"cuda-banks", "stride_1", "kernels/bank-conflicts", "wavefronts", "", "this_gpu_banks.json", "stride", false},
};

const kernels::Result* timed_rung(const std::vector<kernels::Result>& results, std::string_view ladder,
                                  std::string_view rung) {
  for (auto r = results.rbegin(); r != results.rend(); ++r)
    if (r->ladder == ladder && r->rung == rung && r->failure.empty() && r->time_s > 0 && std::isfinite(r->time_s))
      return &*r;
  return nullptr;
}

/// "every_8" -> 8.
int number_in(std::string_view rung) {
  int value = 0;
  rung.remove_prefix(std::min(rung.find('_') + 1, rung.size()));
  std::from_chars(rung.data(), rung.data() + rung.size(), value);
  return value;
}

Json inputs_of(const Beside& b, const std::string& step) {
  if (b.lab == "kernels/coalescing")
    return {{"access", "strided"}, {"stride", std::stoi(step)}, {"offset", 0}, {"width_bytes", "4"}};
  return {{"access", "expression"}, {"expression", "threadIdx.x % 32 * " + step}, {"width_bytes", "4"}};
}

}  // namespace

std::vector<MeasuredFile> measured_rows(const std::vector<kernels::Result>& results, std::string_view device,
                                        std::string_view date) {
  std::vector<MeasuredFile> out;
  for (const Beside& b : beside) {
    const kernels::Ladder* ladder = kernels::find_ladder(b.ladder);
    const kernels::Result* first = timed_rung(results, b.ladder, b.first_rung);
    if (!ladder || !first) continue;
    Json rows = Json::array();
    for (const kernels::Rung& rung : ladder->rungs) {
      const kernels::Result* r = timed_rung(results, b.ladder, rung.id);
      if (!r || r == first || r->size != first->size) continue;
      const std::string step = std::to_string(number_in(rung.id));
      const double ratio = r->time_s / first->time_s;
      rows.push_back(
          {{"id", "this-gpu-" + std::string(b.ladder) + "-" + step},
           {"name", std::string(b.short_name) + " " + step + ", measured here"},
           {"label", std::string(b.short_name) + " " + step},
           {"inputs", inputs_of(b, step)},
           {"output", b.output},
           {"measured", b.as_share ? 100 / ratio : ratio},
           {"unit", b.unit},
           {"model", "estimate"},
           {"source", "here"},
           {"note", "The time of this rung of " + std::string(b.ladder) + " against that of the first one."}});
    }
    if (rows.empty()) continue;
    Json source = {{"name", "This GPU: " + std::string(device)}, {"date", date}, {"url", ""}};
    Json doc = {{"lab", b.lab}, {"sources", {{"here", source}}}, {"published", rows}};
    out.push_back({std::string(b.file_name), to_text(doc, 1) + "\n"});
  }
  return out;
}

}  // namespace app
