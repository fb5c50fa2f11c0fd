#include "chapters/profiling/utilization/lab.h"

namespace chapters::profiling::utilization {
namespace {

constexpr std::string_view no_model = "A recording does not say which model ran, nor how many tokens.";
constexpr std::string_view no_shapes = "The recording has no shapes of matmuls: take it with record_shapes=True.";

void share_out(Fields& f, std::string_view key, double& slot, std::string_view label, std::string_view help,
               std::string_view formula = {}, std::string_view absent = {}) {
  f.real(key, slot, {label, "%"}, help, {.absent = absent, .formula = formula});
}

}  // namespace

void describe(Fields& f, LossRow& r) {
  f.text("name", r.name, "Loss");
  f.real("share", r.share, {"Share", "%"}, "Its share of one second at the peak.");
  f.real("seconds", r.seconds, {"A step", "s"}, {.formula = "share x step"});
  f.text("cure", r.cure, "What takes it away");
}
void describe(Fields& f, ConventionRow& r) {
  f.text("name", r.name, "Convention");
  f.text("who", r.who, "Used by");
  f.real("reported", r.reported, {"Reported", "%"}, {.formula = "counted / (step x peak)"});
  f.real("against", r.against, {"Against needed", "%"}, "In points: reported less needed.");
}
void describe(Fields& f, ProductRow& r) {
  f.text("name", r.name, "Operation");
  f.integer("calls", r.calls, "Calls", "With kernels on the device.");
  f.real("flops", r.flops, {"Work", "FLOP"}, {.formula = "from Input Dims"});
  f.real("seconds", r.seconds, {"Kernels", "s"}, "Their durations added.");
  f.real("rate", r.rate, {"Rate", "FLOP/s"}, {.formula = "work / kernels"});
}

namespace {

/// What four meters read.
void describe_meters(Fields& f, Outputs& o) {
  f.group("Four meters");
  f.real("busy", o.busy, {"GPU busy", "%"}, "Time in which at least one kernel runs, a waiting collective among them.",
         {.headline = true,
          .formula = "time with a kernel / time",
          .source = "NVML: GPU-Util is the time in which one or more kernels were executing"});
  f.real("hfu", o.hfu, {"HFU", "%"}, "As MFU, with forward passes that run twice.",
         {
             .headline = true,
             .absent = no_shapes,
             .formula = "(counted + recomputed) / (time x peak)",
             .source = "Chowdhery et al. 2022, appendix B",
         });
  f.real("mfu", o.mfu, {"MFU", "%"}, "By the convention that is set.",
         {
             .headline = true,
             .absent = no_shapes,
             .formula = "counted / (time x peak)",
             .source = "Chowdhery et al. 2022, appendix B",
         });
  f.real("mbu", o.mbu, {"MBU", "%"}, "Bytes that must cross main memory, over what it could have moved.",
         {
             .headline = true,
             .absent = no_model,
             .formula = "bytes / (time x bandwidth)",
             .source = "Databricks 2023, LLM inference performance engineering",
         });
}

}  // namespace

namespace {

/// What the convention counts, in one step or in a recording.
void describe_convention(Fields& f, Outputs& o) {
  f.group("The convention");
  f.real("counted_flops", o.counted_flops, {"Counted", "FLOP"},
         "What the convention counts in one step, or in the whole recording.");
  f.real("recompute_ratio", o.recompute_ratio, "HFU over MFU", {.absent = no_shapes, .formula = "HFU / MFU"});
  f.real("flops_per_token", o.flops_per_token, {"A token", "FLOP"},
         {.absent = no_model, .formula = "counted / tokens"});
  f.real("reported_flops_per_s", o.reported_flops_per_s, {"Reported", "FLOP/s"}, {.formula = "counted / time"});
  f.real("peak_flops_per_s", o.second.peak_flops_per_s, {"Dense peak", "FLOP/s"}, {.source = "the chip"});
  f.real("bandwidth_bytes_per_s", o.bandwidth_bytes_per_s, {"Bandwidth", "B/s"}, {.source = "the chip"});
  f.real("never_run", o.never_run, {"Counted, never run", "%"},
         "Points of the reported figure that no kernel multiplied.",
         {.absent = no_model, .formula = "masked pairs that are skipped + parameters that are not multiplied"});
  f.group("One step");
  f.real("step_s", o.second.wall_s, {"Time", "s"},
         "What one step takes; a recording counts from its first kernel to its last.");
  f.real("reached_tokens_per_s", o.tokens_per_s, {"Tokens per second", "tokens/s"},
         {.absent = no_model, .formula = "tokens / time"});
  f.real("tokens", o.tokens, {"Tokens", "tokens"}, "What one step trains or decodes on this GPU.",
         {.absent = no_model});
  f.real("counted_bytes", o.bytes, {"Bytes of MBU", "B"},
         {.binary = false, .absent = no_model, .source = "each operand once, or as the convention says"});
  f.group("The recording");
  constexpr std::string_view no_recording = "This job is no recording.";
  f.real("calls", o.calls, "Matmuls found", "Calls with shapes and with kernels.", {.absent = no_recording});
  f.real("unknown_calls", o.unknown_calls, "Without shapes", "Matmuls that could not be counted.",
         {.absent = no_recording});
  f.real("recomputed_calls", o.recomputed_calls, "Recomputed", "Forward products inside the backward pass.",
         {.absent = no_recording});
  f.text("device", o.device, "Device");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_meters(f, o);
  f.group("The second");
  share_out(f, "issued", o.issued, "Multiplied", "By the matrix units, whatever for.", "issued / (time x peak)",
            no_shapes);
  share_out(f, "needed", o.needed, "Needed",
            "What the mathematics asks for: the causal half, no repetition, chosen experts.", "needed / (time x peak)",
            no_shapes);
  f.real("products", o.products, {"Matmuls run", "%"}, "Time in which a matmul runs.",
         {.absent = "A rate does not tell what ran when, and a recording without shapes not which kernels multiply."});
  f.real("product_rate", o.product_rate, {"Their rate", "%"}, "Their share of the peak while they run.",
         {.absent = "A rate does not tell what ran when, and a recording without shapes has no flops.",
          .formula = "multiplied / products run"});
  f.text("largest", o.largest, "Largest loss");
  share_out(f, "largest_share", o.largest_share, "Its share", "Its share of one second at the peak.");
  f.real("gpus_a_point", o.gpus_a_point, "GPUs per point of MFU",
         "So many of 10,000 are free when MFU rises by one point and the work stays.",
         {.absent = no_shapes, .formula = "10000 x 1 / (MFU + 1), MFU in %"});
  f.group("Losses");
  constexpr std::array<std::string_view, models::utilization_loss_count> keys{
      "loss_data",      "loss_copies", "loss_host",      "loss_sync",       "loss_idle",  "loss_communication",
      "loss_optimizer", "loss_other",  "loss_uncounted", "loss_below_peak", "loss_extra", "loss_recompute"};
  for (std::size_t i = 0; i < keys.size(); ++i)
    share_out(f, keys[i], o.loss[i], loss_look(static_cast<models::UtilizationLoss>(i)).name,
              "Share of one second at the peak.");
  describe_convention(f, o);
  f.group("Tables");
  f.table("losses", o.losses, "Every loss");
  f.table("conventions", o.conventions, "By every convention");
  f.table("product_rows", o.product_rows, "Matmuls of the recording");
}

}  // namespace chapters::profiling::utilization
