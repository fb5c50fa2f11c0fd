#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/gpu/fusion_plan.h"
#include "widgets/base/parts.h"
#include "widgets/plot/plot.h"
#include "widgets/table/table.h"

/// A chain of operations over main memory, a lasso that makes one kernel of a run of them, and what that saves or
/// costs.
namespace chapters::framework::fusion {

/// Registers that a thread may have.
inline constexpr std::int64_t max_registers = models::gpu::SmLimits::thread_registers;

enum class Rest : std::uint8_t { alone, compiled };
inline constexpr std::size_t rest_count = 2;

/// The sequence at which the saving of attention is marked, where the chain is another.
inline constexpr double marked_length = 8192;

/// Defaults: bias, GELU and dropout behind a square product of 2,048 tokens, on an H100.
struct Inputs {
  models::gpu::ChainKind chain = models::gpu::ChainKind::projection;
  std::int64_t first = 2, last = 4;  ///< boxes of the lasso, from 1; beyond the chain's end is its end
  Rest rest = Rest::alone;
  bool epilogues = false;
  std::int64_t break_after = 0;
  std::int64_t tokens = 2048, width = 4096, heads = 64;
  double inner_ratio = 4;
  std::string chip = "h100_sxm";
  double roof_share = 0.9, matrix_share = 0.8, latency_s = 6e-7;
  double start_s = 1.7e-6, host_s = 5e-6, break_s = 3e-5;
  std::int64_t cluster = 1;
  bool l2_keeps = false, backward = false;
  std::int64_t layers = 80;
  bool operator==(const Inputs&) const = default;
};

/// A box of the chain, and what it is alone.
struct BoxRow {
  std::string name, waits;
  std::int64_t kernel = 0;  ///< its place in the plan, from 1
  double bytes = 0, time_s = 0;
  std::int64_t registers = 0;
};
/// A kernel of the plan.
struct KernelRow {
  std::string name, kind, tile, waits, limit;
  std::int64_t registers = 0, spilled = 0, resident = 0;
  double shared_bytes = 0, occupancy = 0, bytes = 0, l2_bytes = 0, weight_reads = 0, repeats = 1, time_s = 0;
  double in_one_s = 0, apart_s = 0;  ///< with its gap; the same boxes as kernels of their own, with theirs
};
/// The chain with one run fused.
struct RunRow {
  std::int64_t first = 0, last = 0;
  double time_s = 0, bytes = 0;  ///< NaN: no SM takes it
};
/// What a compiler does with the chain, stage by stage.
struct StageRow {
  std::string stage, makes;
  std::int64_t count = 0;
  double bytes = 0, time_s = 0;  ///< NaN: the stage has none
};

struct Outputs {
  std::string reason;
  double bytes_s = 0;  ///< its traffic alone, at the bandwidth reached
  double launches_s = 0, device_s = 0, unfused_launches_s = 0, unfused_device_s = 0;
  double time_s = 0, unfused_s = 0, saved_s = 0, speedup = 1;
  double bytes = 0, unfused_bytes = 0, saved_bytes = 0, traffic_ratio = 1, layers_bytes = 0;
  double intermediate_bytes = 0;  ///< the largest tensor between two boxes
  double never_bytes = 0;         ///< tensors that are not written, each once
  std::int64_t kernels = 0, unfused_kernels = 0, trips = 0, unfused_trips = 0;
  models::gpu::FusedKernel lasso;  ///< the kernel of the lasso's first box
  double occupancy = 0;            ///< %
  double shared_bytes = 0;         ///< what a block of the lasso's kernel takes
  std::string limit, waits;
  std::int64_t best_first = 0, best_last = 0;
  double best_s = 0;
  double next_s = 0;       ///< with one box more behind the lasso; NaN: there is none, or no SM takes it
  double best_next_s = 0;  ///< the same behind the best run
  double compiled_s = 0, compiled_bytes = 0;
  std::int64_t compiled_kernels = 0, graphs = 1;
  models::gpu::BufferPlan buffers, alone_buffers;
  std::vector<BoxRow> boxes;
  std::vector<KernelRow> kernel_rows;
  std::vector<RunRow> runs;
  std::vector<StageRow> stages;
};

/// What the inputs name, as the model takes it.
struct Asked {
  models::gpu::FusionChain chain;
  models::gpu::FusionMachine machine;
  std::string memory;
  double bandwidth_bytes_per_s = 0;
  int first = 0, last = 0, break_after = 0;  ///< from 0, within the chain; the break as the model counts it
};
/// A box that reads a tensor from memory or, where that keeps it, from L2.
struct TensorRead {
  int box = 0;
  bool l2 = false;
};
/// What becomes of a tensor of the chain under the plan.
struct TensorFate {
  bool never = false;             ///< is never written
  std::vector<TensorRead> reads;  ///< one a kernel that reads it; of a tensor that is never written all its readers
};
struct Run {
  Asked asked;
  models::gpu::FusionPlan plan, alone;
  models::gpu::FusionPlan next, best_next;  ///< lasso and best run with one box more; no kernels: there is none
  std::vector<TensorFate> tensors;          ///< in the order of the chain's
};

/// A tensor in the band of main memory; `centre` counts boxes from the first one's middle.
struct TensorMark {
  std::string name, size;
  double bytes = 0, centre = 0;
  bool ghost = false;  ///< is never written
};
/// A pipe between a tensor and a box.
struct PipeMark {
  int tensor = 0, box = 0;
  bool up = false;  ///< is read
  bool ghost = false;
  bool l2 = false;  ///< is read from L2 and moves nothing in main memory
};
struct KernelMark {
  int first = 0, last = 0;
  std::string head, brief, figure;  ///< over its boxes, and where that has no room; at the end of its bar
  double registers = 0, spilled = 0;
  bool lasso = false;
};
/// The chain's time with one run fused, as a cell of the matrix of all runs.
struct RunCell {
  int first = 0, last = 0;
  std::string words;
  double share = 0;  ///< its saving over the best one, 0 to 1
  bool slower = false, none = false, best = false, chosen = false;
};
/// What the model takes for granted, its value here, and where that comes from.
struct AssumedRow {
  std::string what, value, from;
};
struct Picture {
  std::uint64_t version = 0;
  std::vector<AssumedRow> assumed;
  std::string answer, why, band, saved, runs_head;
  std::vector<std::string> names, briefs, under;  ///< one a box
  std::vector<models::gpu::KernelBound> bounds;   ///< one a box
  std::vector<TensorMark> tensors;
  std::vector<PipeMark> pipes;
  std::vector<KernelMark> kernels;
  std::vector<RunCell> cells;
  std::vector<std::string> rows;  ///< "from GELU"
  int first = 0, last = 0, break_after = 0;
  std::vector<widgets::Curve> ends;       ///< the chain over the last box of the lasso
  std::vector<widgets::Curve> attention;  ///< traffic of attention over the sequence
  std::string ratio_words;                ///< one of these curves over the other at marked_length
  widgets::Curve roof;
  std::array<widgets::Curve, 2> dots;  ///< kernels under the roof: of none fused, and of the plan
  PublishedMarks published;
};

/// Where everything of the picture stands, in pixels.
struct PlacedPipe {
  ImVec2 box{}, tensor{};
  float width = 1;
};
struct BoxesLayout {
  widgets::Rect chip{}, band{}, matrix{};
  float pitch = 1, px_per_byte = 0, why_y = 0;    ///< why_y 0: no room for the sentence
  bool runs = false;                              ///< there is room for the matrix
  bool key = true, under = true, caption = true;  ///< for these lines of words
  std::vector<widgets::Rect> boxes, bars, frames, tensors, cells;
  std::vector<PlacedPipe> pipes;
};
/// Boxes on the chip, tensors in the band as wide as their bytes, pipes between them as thick, and under it the matrix
/// of all runs where there is room. Pure.
void layout_boxes(const Picture& picture, widgets::Rect area, BoxesLayout& out);

struct View {
  BoxesLayout layout;
  int anchor = -1;  ///< the box that a drag began at
  widgets::PlotView ends, attention, roofline;
  DescribedTable<KernelRow> kernels;
  DescribedTable<StageRow> stages;
  widgets::TableView assumed;
};

using Computed = chapters::Computed<Outputs, Run>;
Computed compute(const Inputs& in);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

/// The hero in `size` px from the cursor; a drag over boxes, a press on a cell of the matrix, or arrow keys set the
/// lasso (with Shift its first box).
void draw_boxes(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// The chain's boxes by name on an empty chip: which there are is given, what fusing them saves is the question.
void draw_given_boxes(const Picture& picture, const BoxesLayout& layout);

/// "three", for 0 to 8.
std::string count_word(std::int64_t n);
/// A box's name in a sentence: "· W2" is "W2's product", "+ residual" "the residual".
std::string prose_of(const std::string& name);
/// Why the lasso's kernel, or the one with one box more, takes as long as it does.
std::string why_of(const Outputs& out, const Run& run);
/// The answer to the lab's question.
std::string answer_of(const Inputs& in, const Asked& a, const Outputs& out);
/// A measurement of exactly what is set, as a sentence; empty where there is none, as of a chain that a graph break
/// cuts.
std::string measured_words(const Inputs& in, const Outputs& out);
std::vector<AssumedRow> assumed_rows(const Inputs& in, const Asked& a);

std::string_view waits_for(models::gpu::KernelBound bound);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, KernelRow& row);
void describe(Fields& f, StageRow& row);

}  // namespace chapters::framework::fusion
