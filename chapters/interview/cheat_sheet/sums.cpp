#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "chapters/interview/cheat_sheet/lab.h"
#include "widgets/number/number.h"

/// The sums as lines: words and numbers in the hand, and what comes out.
namespace chapters::interview::cheat_sheet {
namespace {

using enum Dragged;

struct DraggedNumber {
  double Inputs::*real = nullptr;
  std::int64_t Inputs::*whole = nullptr;
  DragRange range;
  std::string_view unit;
};

const std::array<DraggedNumber, dragged_count>& numbers() {
  using In = Inputs;
  static const std::array<DraggedNumber, dragged_count> all{{
      {},
      {&In::weight_bits, nullptr, {2, 32, false, true}, "bit"},
      {&In::cache_bits, nullptr, {2, 32, false, true}, "bit"},
      {nullptr, &In::tensor_parallel, {1, 72, true, true}, ""},
      {nullptr, &In::context, {1, 1 << 20, true, true}, ""},
      {nullptr, &In::batch, {1, 65536, true, true}, ""},
      {&In::prompt_tokens, nullptr, {1, 131072, true, true}, ""},
      {&In::acceptance, nullptr, {0, 1, false, false}, ""},
      {nullptr, &In::draft_length, {1, 16, false, true}, ""},
      {&In::tokens, nullptr, {1e9, 1e14, true, false}, "tokens"},
      {nullptr, &In::gpus, {1, 131072, true, true}, ""},
      {&In::mfu, nullptr, {1, 100, false, true}, "%"},
      {&In::price_per_hour, nullptr, {0.1, 20, true, false}, "$"},
      {&In::filled, nullptr, {1, 100, false, true}, "%"},
      {nullptr, &In::stages, {1, 64, true, true}, ""},
      {nullptr, &In::micro_batches, {1, 512, true, true}, ""},
      {&In::bytes, nullptr, {1e3, 1e12, true, false}, "B"},
      {&In::save_s, nullptr, {0.1, 3600, true, false}, "s"},
      {&In::gpu_mtbf_s, nullptr, {1e6, 1e10, true, false}, "s"},
      {nullptr, &In::sequence, {1, 1 << 20, true, true}, ""},
      {nullptr, &In::cameras, {1, 32, false, true}, ""},
      {&In::megapixels, nullptr, {0.3, 50, true, false}, ""},
      {&In::frames_per_s, nullptr, {1, 240, true, true}, ""},
      {&In::pixel_bits, nullptr, {8, 48, false, true}, "bit"},
      {&In::output_tokens, nullptr, {16, 4096, true, true}, ""},
  }};
  return all;
}

const DraggedNumber& number_of(Dragged d) { return numbers()[static_cast<std::size_t>(d)]; }

/// A line under construction: words with numbers in the hand between.
class LineMaker {
 public:
  LineMaker(const Inputs& in, std::string_view name, std::string_view output, std::string_view lab) : in_(in) {
    line_.name = name;
    line_.output = output;
    line_.lab = lab;
  }
  LineMaker& say(std::string_view words) {
    line_.pieces.push_back({std::string(words), none});
    return *this;
  }
  LineMaker& hand(Dragged d) {
    line_.pieces.push_back({widgets::format_text(dragged_value(in_, d), number_of(d).unit), d});
    return *this;
  }
  SumLine is(double value, std::string_view unit) {
    const widgets::NumberParts parts = widgets::format_parts(value, unit);
    line_.value = parts.number.view();
    line_.unit = parts.unit.view();
    return std::move(line_);
  }

  /// As "4.23e23", where no unit reaches.
  SumLine is_power(double value, std::string_view unit) {
    const int power = value > 0 ? static_cast<int>(std::floor(std::log10(value))) : 0;
    if (power < 18) return is(value, unit);
    char text[32];
    std::snprintf(text, sizeof text, "%.3ge%d", value / std::pow(10.0, power), power);
    line_.value = text;
    line_.unit = unit;
    return std::move(line_);
  }

 private:
  const Inputs& in_;
  SumLine line_;
};

/// A step of the batch: its bytes, or its arithmetic where that takes longer.
SumLine step_line(const Inputs& in, const Outputs& out, const Run& run) {
  LineMaker line(in, "One step", "step_s", "inference/phases");
  if (out.sums.step_computes)
    return line.say("2 \xC2\xB7 parameters read \xC2\xB7 ")
        .hand(batch)
        .say(" / (")
        .hand(tensor_parallel)
        .say(" \xC2\xB7 peak)")
        .is(out.sums.step_s, "s");
  return line.say(run.experts ? "(experts hit + " : "(read + ")
      .hand(batch)
      .say(" caches) / (")
      .hand(tensor_parallel)
      .say(" \xC2\xB7 bandwidth)")
      .is(out.sums.step_s, "s");
}

/// A prompt: arithmetic, or the weights where reading them takes longer; attention on top.
SumLine prompt_line(const Inputs& in, const Outputs& out, const Run& run) {
  LineMaker line(in, "A prompt", "prompt_s", "inference/phases");
  if (out.sums.prompt_reads)
    return line.say(run.experts ? "(experts hit + cache of " : "(read + cache of ")
        .hand(prompt)
        .say(") / (")
        .hand(tensor_parallel)
        .say(" \xC2\xB7 bandwidth) + attention")
        .is(out.sums.prompt_s, "s");
  return line.say("(2 \xC2\xB7 parameters read \xC2\xB7 ")
      .hand(prompt)
      .say(" + attention) / (")
      .hand(tensor_parallel)
      .say(" \xC2\xB7 peak)")
      .is(out.sums.prompt_s, "s");
}

constexpr std::string_view sum_dot = " \xC2\xB7 ";

/// What lies in memory.
void memory_sums(const Inputs& in, const Outputs& out, const Run& run, std::vector<SumLine>& all) {
  const Sums& s = out.sums;
  all.push_back(LineMaker(in, "Weights", "weights_bytes", "role/scaling")
                    .say("parameters")
                    .say(sum_dot)
                    .hand(weight_bits)
                    .say(" / 8")
                    .is(s.weights_bytes, "B"));
  all.push_back(LineMaker(in, "Training state", "state_bytes", "framework/training-memory")
                    .say("parameters \xC2\xB7 (2 + 2 + 4 + 8) B")
                    .is(s.state_bytes, "B"));
  all.push_back(LineMaker(in, "Cache of a token", "cache_token_bytes", "inference/kv-cache")
                    .say(run.latent ? "layers \xC2\xB7 (latent + rotary) \xC2\xB7 "
                                    : "2 \xC2\xB7 layers \xC2\xB7 KV heads \xC2\xB7 dim \xC2\xB7 ")
                    .hand(cache_bits)
                    .say(" / 8")
                    .is(s.cache_token_bytes, "B"));
  all.push_back(LineMaker(in, "Cache of a request", "cache_bytes", "inference/kv-cache")
                    .say("that")
                    .say(sum_dot)
                    .hand(context)
                    .say(" tokens")
                    .is(s.cache_bytes, "B"));
  all.push_back(LineMaker(in, "Requests that fit", "fits", "serving/capacity")
                    .say("(0.9 \xC2\xB7 ")
                    .hand(tensor_parallel)
                    .say(" \xC2\xB7 memory - weights) / that")
                    .is(s.fits, ""));
}

/// A token, a step, and what they cost.
void decode_sums(const Inputs& in, const Outputs& out, const Run& run, std::vector<SumLine>& all) {
  const Sums& s = out.sums;
  all.push_back(LineMaker(in, "Weights read", "read_bytes", "inference/phases")
                    .say(run.experts ? "(active" : "(parameters")
                    .say(" - embedding) \xC2\xB7 ")
                    .hand(weight_bits)
                    .say(" / 8")
                    .is(s.read_bytes, "B"));
  all.push_back(LineMaker(in, "One token, alone", "token_s", "inference/phases")
                    .say("(read + cache) / (")
                    .hand(tensor_parallel)
                    .say(" \xC2\xB7 bandwidth)")
                    .is(s.token_s, "s"));
  all.push_back(step_line(in, out, run));
  all.push_back(LineMaker(in, "Tokens per second", "tokens_per_s", "inference/phases")
                    .hand(batch)
                    .say(" / step, prompts aside")
                    .is(s.tokens_per_s, ""));
  all.push_back(LineMaker(in, "... with prompts", "answers_per_s", "serving/capacity")
                    .say("1 / (step / ")
                    .hand(batch)
                    .say(" + prompt's time / ")
                    .hand(answer)
                    .say(")")
                    .is(s.answers_per_s, ""));
  all.push_back(LineMaker(in, "A million written", "dollars_per_million", "fleet/cost")
                    .say("chips \xC2\xB7 ")
                    .hand(price)
                    .say(" \xC2\xB7 10^6 / (3,600 \xC2\xB7 ")
                    .hand(filled)
                    .say(" \xC2\xB7 that)")
                    .is(s.dollars_per_million, "$"));
  all.push_back(LineMaker(in, "Ridge", "ridge", "roofline/roofline").say("peak / bandwidth").is(s.ridge, "FLOP/B"));
  all.push_back(LineMaker(in, "Ridge as a batch", "ridge_batch", "inference/phases")
                    .say("ridge")
                    .say(sum_dot)
                    .hand(weight_bits)
                    .say(" / 16")
                    .is(s.ridge_batch, ""));
}

/// A request beyond its tokens one by one.
void request_sums(const Inputs& in, const Outputs& out, const Run& run, std::vector<SumLine>& all) {
  const Sums& s = out.sums;
  all.push_back(prompt_line(in, out, run));
  all.push_back(LineMaker(in, "Tokens of a round", "drafted", "inference/speculative")
                    .say("a = ")
                    .hand(acceptance)
                    .say(", k = ")
                    .hand(draft_length)
                    .say(in.acceptance < 1 ? ": (1 - a^(k+1)) / (1 - a)" : ": k + 1")
                    .is(s.drafted, ""));
  all.push_back(LineMaker(in, "Launches of a step", "launch_s", "framework/launch")
                    .say(widgets::format_text(s.launches, ""))
                    .say(" kernels \xC2\xB7 ")
                    .say(widgets::format_text(s.launch_each_s, "s"))
                    .say(" of host, eager")
                    .is(s.launch_s, "s"));
  all.push_back(LineMaker(in, "All-reduce", "all_reduce_s", "distributed/collectives")
                    .say("2 \xC2\xB7 (n-1)/n \xC2\xB7 ")
                    .hand(bytes)
                    .say(" / ")
                    .say(widgets::format_text(s.link_bytes_per_s, "B/s"))
                    .say(", n = ")
                    .hand(tensor_parallel)
                    .say(", " + out.link)
                    .is(s.all_reduce_s, "s"));
}

/// A training, from its memory to its dollars.
void training_sums(const Inputs& in, const Outputs& out, const Run&, std::vector<SumLine>& all) {
  const Sums& s = out.sums;
  all.push_back(LineMaker(in, "Activations", "activation_bytes", "framework/training-memory")
                    .say("all layers, ")
                    .hand(sequence)
                    .say(" tokens, nothing computed twice")
                    .is(s.activation_bytes, "B"));
  all.push_back(LineMaker(in, "Training work", "flops", "fleet/train-time")
                    .say("6 \xC2\xB7 active parameters \xC2\xB7 ")
                    .hand(tokens)
                    .is_power(s.flops, "FLOP"));
  all.push_back(LineMaker(in, "Training time", "train_s", "fleet/train-time")
                    .say("that / (")
                    .hand(gpus)
                    .say(" \xC2\xB7 peak \xC2\xB7 ")
                    .hand(mfu)
                    .say(")")
                    .is(s.train_s, "s"));
  all.push_back(LineMaker(in, "Training dollars", "train_dollars", "fleet/train-time")
                    .say("GPU-hours")
                    .say(sum_dot)
                    .hand(price)
                    .is(s.train_dollars, "$"));
  all.push_back(LineMaker(in, "Pipeline bubble", "bubble", "distributed/pipeline")
                    .say("(p-1) / (m+p-1), p = ")
                    .hand(stages)
                    .say(", m = ")
                    .hand(micro_batches)
                    .is(s.bubble, "%"));
}

/// Failures, and what cameras send.
void fleet_sums(const Inputs& in, const Outputs& out, const Run&, std::vector<SumLine>& all) {
  const Sums& s = out.sums;
  all.push_back(LineMaker(in, "Time between failures", "mtbf_s", "fleet/train-time")
                    .hand(gpu_mtbf)
                    .say(" of a GPU / ")
                    .hand(gpus)
                    .is(s.mtbf_s, "s"));
  all.push_back(LineMaker(in, "Save every", "save_every_s", "fleet/train-time")
                    .say("near root of 2 \xC2\xB7 ")
                    .hand(save)
                    .say(" \xC2\xB7 that")
                    .is(s.save_every_s, "s"));
  all.push_back(LineMaker(in, "Cameras", "camera_bytes_per_s", "driving/gantt")
                    .hand(cameras)
                    .say(sum_dot)
                    .hand(megapixels)
                    .say(" Mpixel \xC2\xB7 ")
                    .hand(frames)
                    .say(" / s \xC2\xB7 ")
                    .hand(pixel_bits)
                    .say(" / 8")
                    .is(s.camera_bytes_per_s, "B/s"));
}

}  // namespace

std::string SumLine::text() const {
  std::string all;
  for (const SumPiece& piece : pieces) all += piece.text;
  return all;
}

DragRange drag_range(Dragged d) { return number_of(d).range; }

double dragged_value(const Inputs& in, Dragged d) {
  const DraggedNumber& n = number_of(d);
  if (n.real) return in.*n.real;
  return n.whole ? static_cast<double>(in.*n.whole) : 0;
}

void set_dragged(Inputs& in, Dragged d, double value) {
  const DraggedNumber& n = number_of(d);
  value = std::clamp(value, n.range.lo, n.range.hi);
  if (n.range.whole) {
    value = std::round(value);
  } else if (value > 0) {
    const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
    value = std::clamp(std::round(value / unit) * unit, n.range.lo, n.range.hi);
  }
  if (n.real) in.*n.real = value;
  if (n.whole) in.*n.whole = static_cast<std::int64_t>(std::llround(value));
}

std::vector<SumLine> sum_lines(const Inputs& in, const Outputs& out, const Run& run) {
  std::vector<SumLine> all;
  for (const auto part : {memory_sums, decode_sums, request_sums, training_sums, fleet_sums}) part(in, out, run, all);
  return all;
}

}  // namespace chapters::interview::cheat_sheet
