// The roofline of the kernel lab: a slope for each level of memory, in the tint of the dots that it bounds.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "chapters/kernels/lab/lab.h"
#include "tests/support/lab/catalog.h"

using namespace support;
namespace kernel_lab = chapters::kernels::lab;

namespace {

kernel_lab::PlotPicture roofline_of(kernels::Device device, const char* ladder, std::int64_t rung) {
  kernel_lab::Inputs in;
  in.device = device;
  (device == kernels::Device::cpu    ? in.cpu_ladder
   : device == kernels::Device::cuda ? in.cuda_ladder
                                     : in.opengl_ladder) = ladder;
  in.rung = rung;
  const auto computed = kernel_lab::compute(in);
  return kernel_lab::arrange(in, computed.facts, *computed.run).plot;
}

/// What a ceiling allows at an intensity.
double slope_at(const widgets::Curve& ceiling, double x) {
  return std::min(ceiling.y.back(), ceiling.y.front() / ceiling.x.front() * x);
}

}  // namespace

TEST_CASE("kernel lab: no dot of the roofline lies over the slope of its own level, and the peak is one line") {
  use_bundled_catalog();
  struct Row {
    kernels::Device device;
    const char* ladder;
    std::int64_t rung;
    std::size_t slopes;
  };
  for (const Row& row : {Row{kernels::Device::cpu, "cpu-sgemm", 8, 2}, Row{kernels::Device::cuda, "cuda-sgemm", 6, 2},
                         Row{kernels::Device::cuda, "cuda-bf16-gemm", 5, 2}}) {
    const kernel_lab::PlotPicture plot = roofline_of(row.device, row.ladder, row.rung);
    INFO(row.ladder);
    REQUIRE(plot.shown);
    CHECK(plot.ceilings.size() == row.slopes);
    std::size_t bounded = 0;
    for (const widgets::Curve& level : plot.levels)
      for (const widgets::Curve& ceiling : plot.ceilings) {
        if (!(ceiling.tint == level.tint)) continue;
        ++bounded;
        for (std::size_t i = 0; i < level.x.size(); ++i) CHECK(level.y[i] <= 1.001 * slope_at(ceiling, level.x[i]));
      }
    CHECK(bounded == 2);
    CHECK(plot.roof.y.front() == plot.roof.y.back());  // it has no slope of one memory
    CHECK(plot.roof.y.back() == plot.ceilings.back().y.back());
  }
}
