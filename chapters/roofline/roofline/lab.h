#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "models/machine/hardware.h"
#include "models/machine/roofline.h"
#include "widgets/plot/plot.h"

/// The roofline lab in parts: what is set and computed (roofline.cpp), how (roofline_compute.cpp), and its picture
/// (roofline_draw.cpp).
namespace chapters::roofline::roofline {

struct RooflineInputs {
  std::string chip = "h100_sxm";
  models::Format format = models::Format::bf16;
  std::string operation = "custom";
  double flops = 137438953472;  ///< a 4096^3 product
  double bytes = 100663296;     ///< its three matrices, once each, 2 B an element
  std::int64_t kernels = 1;
  std::int64_t m = 4096, n = 4096, k = 4096;
  std::vector<std::string> chips = {"v100_sxm2", "a100_80_sxm", "h100_sxm", "b200_sxm"};
  std::vector<std::string> show = {"operations", "walk", "fusion", "link"};
  std::string model = "llama-3-70b";
  std::int64_t batch = 1, sequence = 4096, context = 4096;
  bool kv_reads = true;
  std::string weight_bits = "4";
  double launch_s = 4e-6;
  models::LaunchCost launch_cost = models::LaunchCost::hidden;
  FileInput measured;
  bool operator==(const RooflineInputs&) const = default;
};

struct RoofRow {
  std::string chip, format;
  double peak_flops_per_s = 0, bandwidth_bytes_per_s = 0, ridge = 0, attainable_flops_per_s = 0, time_s = 0;
};
struct CeilingRow {
  std::string name, basis, source;
  double per_s = 0, ridge = 0;  ///< B/s and FLOP/B of bandwidths; FLOP/s and FLOP/B of peaks
};
struct DotRow {
  std::string name, regime;
  double flops = 0, bytes = 0, intensity = 0, achieved_flops_per_s = 0, time_s = 0;
};
struct WalkRow {
  double batch = 0, intensity = 0, achieved_flops_per_s = 0, tokens_per_s = 0;
  std::string regime;
};
struct MeasuredRow {
  std::string name;
  double intensity = 0, flops_per_s = 0, share_of_roof_percent = 0;
};

/// What the picture needs beyond the described outputs: points, and texts made once instead of once a frame.
struct RooflinePicture {
  struct Line {
    std::string label, info;
    std::vector<double> xs, ys;
  };
  struct Dots {
    std::vector<double> xs, ys;
    std::vector<std::string> labels;
    std::vector<std::string> operations;  ///< what a click chooses; empty: nothing
    std::vector<std::int64_t> batches;    ///< and at which batch; 0: as it is
  };
  struct Arrow {
    bool shown = false;
    double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    std::string label;
  };
  double x_lo = 0.1, x_hi = 1e4, y_lo = 1e10, y_hi = 1e16;
  std::vector<Line> roofs;  ///< of the other chips
  Line roof, slope, walk;   ///< of the chip itself
  std::vector<Line> ceilings, measured_ceilings;
  Line launch;                      ///< empty unless it lies within the picture
  std::array<Dots, 3> dots, steps;  ///< by regime: memory, compute, launch; operations, and the decode walk
  Dots measured;
  Arrow fusion, quantization;
  double kv_wall = 0;  ///< flop/byte that decode never passes; 0 when out of the picture
  std::string ridge_label, wall_label, selected_label;
  double selected_x = 0, selected_y = 0;  ///< 0 when infeasible
};

struct RooflineOutputs {
  double intensity = 0, ridge = 0, attainable_flops_per_s = 0, time_s = 0;
  models::Regime regime = models::Regime::memory;
  double achieved_flops_per_s = 0, share_of_peak_percent = 0;
  double flops_total = 0, bytes_total = 0, kernels_total = 0;
  double compute_s = 0, memory_s = 0, launches_s = 0;
  double decode_intensity = 0, decode_limit = 0, decode_time_s = 0, decode_tokens_per_s = 0;
  std::string decode_verdict;
  double quantized_time_s = 0, quantized_speedup = 0, fusion_speedup = 0, fusion_bytes_ratio = 0;
  double square_side = 0;
  std::vector<RoofRow> roofs;
  std::vector<CeilingRow> ceilings;
  std::vector<DotRow> operations;
  std::vector<WalkRow> walk;
  std::vector<MeasuredRow> measured_points;
  RooflinePicture picture;
  std::string reason;
};

struct RooflineView {
  widgets::PlotView plot;
};

bool shows(const RooflineInputs& in, const char* what);
/// Roofs of every chip asked for; `main` is drawn as the one itself. The work in `out` is placed under each.
void add_roofs(const RooflineInputs& in, const models::Chip& main, RooflineOutputs& out);
/// Rows of the measured file under the machine's roof; its error becomes the reason.
void add_measured(const RooflineInputs& in, const models::Machine& machine, RooflineOutputs& out);
/// A view in which every dot and roof lies, with room for names.
void frame_picture(RooflineOutputs& out);
RooflineOutputs compute_roofline(const RooflineInputs& in);
/// Makes the work one's own: the flops of `out` over the bytes that give `intensity` (FLOP/B).
void set_intensity(RooflineInputs& in, const RooflineOutputs& out, double intensity);
void draw_roofline(RooflineInputs& in, const RooflineOutputs& out, RooflineView& view);

}  // namespace chapters::roofline::roofline
