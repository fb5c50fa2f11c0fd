#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/inference/phases.h"
#include "widgets/base/parts.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// One request as area: width is time, height is speed, above one axis FLOP/s and below it bytes/s.
namespace chapters::inference::phases {

struct Inputs {
  std::string model = "llama-3-8b", chip = "h100_pcie";
  models::Format format = models::Format::bf16;
  std::int64_t prompt = 8192, answer = 128, context = 0, batch = 1, tensor_parallel = 1;
  double weight_bits = 0, kv_bits = 16, flops_scale = 1, bandwidth_scale = 1;
  bool operator==(const Inputs&) const = default;
};

/// The request on one chip or on one that is twice as fast in one way.
struct Lane {
  models::inference::PhaseBound prefill, decode;
  double first_token_s = 0;  ///< prefill with attention's arithmetic
  double request_s = 0;
  double tokens_per_s = 0;  ///< all requests together
};

struct Outputs {
  std::string reason;
  double peak_flops_per_s = 0, bandwidth_bytes_per_s = 0;  ///< all chips together
  models::inference::PhaseWork prefill_work, decode_work;  ///< decode: of one step
  Lane now, faster_flops, faster_bytes;                    ///< as set; twice the FLOP/s; twice the bandwidth
  double ridge = 0, intensity_prefill = 0, intensity_decode = 0, critical_batch = 0;
  double fits_batch = 0;       ///< requests of this context that fit beside the weights
  double as_is_request_s = 0;  ///< the request on the chip without any what-if
  double decode_percent = 0;   ///< share of the request
  double flops_gain_s = 0, bytes_gain_s = 0, first_token_gain_s = 0;
  double decode_context = 0;  ///< tokens in the cache, on average, while the answer is written
  std::string engine;         ///< whose runs were fitted; empty: none
  double expected_step_s = 0, expected_tokens_per_s = 0, expected_request_s = 0;
};

struct Run {
  models::Machine machine;  ///< one chip, scaled as it was asked
  std::vector<double> batches, tokens_per_s, step_s, intensity, flops_per_s;
};

/// The request as areas under roofs of its own.
struct AreaLane {
  std::string name, detail, words;          ///< the name is given while a question is open, the others are not
  double flops_scale = 1, bytes_scale = 1;  ///< both roofs, over the chip's as it is
  double prefill_s = 0, attention_s = 0, step_s = 0, request_s = 0;
  double prefill_flops = 0, prefill_bytes = 0;               ///< shares of the roofs, 0 to 1
  double step_flops = 0, step_weights = 0, step_caches = 0;  ///< the same of a step
};

struct Picture {
  std::uint64_t version = 0;
  double now_flops_per_s = 0;  ///< what one chip computes in decode, for the walk's handle
  std::string answer;
  std::vector<widgets::Curve> walk, batch;  ///< roofline; latency and throughput
  std::vector<AreaLane> lanes;              ///< as set, twice the FLOP/s, twice the bandwidth, and as an engine ran it
  std::string peak_words, bandwidth_words, decode_words, used_words;
  PublishedMarks published;
};

struct View {
  widgets::PlotView walk, batch;
  std::vector<widgets::PlacedLegend> legend;
};

chapters::Computed<Outputs, Run> compute(const Inputs& inputs, const Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);
/// The request on one clock for every lane.
void draw_areas(Inputs& inputs, const Outputs& out, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);

}  // namespace chapters::inference::phases
