#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/training/dashboard/lab.h"

namespace chapters::training::dashboard {
namespace {

struct SwitchText {
  std::string_view key, name, help;
};
constexpr std::array<SwitchText, step_switch_count> switches{{
    {"loader", "More workers", "The loader has as many workers as below instead of those found."},
    {"bf16", "BF16",
     "Weights, gradients and activations in BF16 with FP32 master weights; matmuls run at the BF16 peak."},
    {"compile", "torch.compile",
     "Neighbouring element-wise operations become one kernel: fewer bytes and fewer launches. Matmuls and attention "
     "stay what they are."},
    {"fused_optimizer", "Fused AdamW", "One pass over all states instead of a pass per operation (foreach)."},
    {"flash", "FlashAttention", "Attention is one kernel: scores are never stored."},
    {"fp8", "FP8 matmuls", "Matmuls inside the layers in FP8 with delayed scales; their operands are cast first."},
    {"overlap", "Overlapped all-reduce", "A bucket of gradients is reduced while the backward pass goes on."},
    {"accumulate", "Micro-batches", "The batch runs in pieces; gradients add up and are reduced after the last."},
    {"checkpoint", "Checkpointing", "Each layer keeps its input alone: its forward pass is recomputed."},
}};

constexpr std::array<std::string_view, step_switch_count> change_keys{
    "loader_change_s", "bf16_change_s",    "compile_change_s",    "fused_optimizer_change_s", "flash_change_s",
    "fp8_change_s",    "overlap_change_s", "accumulate_change_s", "checkpoint_change_s"};
constexpr std::array<std::string_view, step_switch_count> first_keys{
    "loader_first_s", "bf16_first_s",    "compile_first_s",    "fused_optimizer_first_s", "flash_first_s",
    "fp8_first_s",    "overlap_first_s", "accumulate_first_s", "checkpoint_first_s"};
constexpr std::array<std::string_view, step_switch_count> memory_keys{
    "loader_memory_bytes",          "bf16_memory_bytes",       "compile_memory_bytes",
    "fused_optimizer_memory_bytes", "flash_memory_bytes",      "fp8_memory_bytes",
    "overlap_memory_bytes",         "accumulate_memory_bytes", "checkpoint_memory_bytes"};
constexpr std::array<std::string_view, step_switch_count> gain_keys{
    "loader_gain", "bf16_gain",    "compile_gain",    "fused_optimizer_gain", "flash_gain",
    "fp8_gain",    "overlap_gain", "accumulate_gain", "checkpoint_gain"};
constexpr std::array<std::string_view, 4> claimed_keys{"claimed_loader", "claimed_bf16", "claimed_compile",
                                                       "claimed_fused"};
constexpr std::array<std::string_view, 4> claimed_labels{"Loader claim", "BF16 claim", "Compile claim", "Fused claim"};
constexpr std::array<std::string_view, part_count> part_keys{
    "products_s",  "attention_s",       "elementwise_s", "casts_s",       "again_s",
    "optimizer_s", "all_reduce_wait_s", "loader_wait_s", "launch_wait_s", "host_wait_s"};

const Choices orders = choices_in_order<Order::reversed>(
    {{"listed", "as listed", "From the top of the list down; the first four are the study's order."},
     {"steepest", "steepest first", "Each time the one that saves most of the step that is left."},
     {"reversed", "from the bottom", "From the bottom of the list up."}});
const Choices found_formats = choices_in_order<FoundFormat::fp32>(
    {{"tf32", "TF32", "FP32 values, rounded to TF32 inside the Tensor Cores: set_float32_matmul_precision(\"high\")."},
     {"fp32", "FP32", "Without Tensor Cores: PyTorch's default."}});

constexpr std::string_view simulated = "the steps of the discrete-event simulation, after 16 that pass";

void count(Fields& f, std::string_view key, std::int64_t& slot, std::string_view label, std::string_view help,
           double lo, double hi) {
  f.integer(key, slot, label, help, {.range = {lo, hi, Scale::step}});
}
void time(Fields& f, std::string_view key, double& slot, std::string_view label, std::string_view help, double lo,
          double hi) {
  f.real(key, slot, {label, "s"}, help, {.range = {lo, hi, Scale::log}});
}

}  // namespace

std::string_view switch_name(std::size_t i) { return switches[i].name; }

void describe(Fields& f, Inputs& in) {
  f.group("The switches");
  for (std::size_t i = 0; i < step_switch_count; ++i)
    f.toggle(switches[i].key, in.on[i], switches[i].name, switches[i].help, {.headline = i < 2});
  f.choice("order", in.order, orders, "Pressed",
           "In which order those that are on were pressed: it decides what each saved.");
  f.group("The work");
  shared::model(f, "model", in.model, {.help = "Every GPU holds all of it."});
  shared::chip(f, "chip", in.chip, {.help = "Its peaks and bandwidth time the kernels; its memory is the vessel."});
  shared::micro_batch(f, "batch", in.batch, {.help = "Sequences of one GPU and step."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each."});
  count(f, "micro_batches", in.micro_batches, "Pieces", "Micro-batches of a step, when their switch is on.", 1, 64);
  describe_loss(f, in.loss);
  f.choice("found_format", in.found_format, found_formats, "Matmuls before BF16", "What the study's 1.7 is against.");
  f.toggle("by_hand", in.by_hand, "Norms by hand",
           "Eager RMSNorm and rotation as Transformers writes them: six and ten kernels, norms in FP32. Off: one "
           "kernel each. A compiler makes one of them.");
  describe_roof_share(f, in.roof_share);
  f.group("The loader");
  f.integer("workers", in.workers, "Workers", "When the first switch is on.",
            {.range = {1, 32, Scale::step}, .headline = true});
  count(f, "found_workers", in.found_workers, "Workers found", "With none the training process loads by itself.", 0,
        32);
  time(f, "load_s", in.load_s, "One sequence",
       "To read and decode it on one core. Assumed for a sequence with images or sound; plain text takes a few ms.",
       1e-5, 10);
  count(f, "cores", in.cores, "Cores", "How many cores work for the loader at once.", 1, 128);
  f.group("GPUs and links");
  shared::parallel_data(f, "ranks", in.ranks, {.label = "GPUs", .help = "They average their gradients; 1: alone."});
  count(f, "buckets", in.buckets, "Buckets", "Parts into which the gradients are cut, at most one per layer.", 1, 64);
  f.real("bus_bytes_per_s", in.bus_bytes_per_s, {"Ring", "B/s"},
         "Bandwidth of a ring all-reduce between neighbours. Assumed: eight H100 on NVSwitch.",
         {.range = {1e8, 1e12, Scale::log}});
  f.real("hop_latency_s", in.hop_latency_s, {"A hop", "s"},
         "Latency of each of the ring's 2 (n - 1) steps. Assumed: 1 \xC2\xB5s on NVSwitch; across machines 5 is usual.",
         {.range = {0, 1e-3}, .typical = {0, 1e-5}});
  f.group("The host");
  time(f, "launch_s", in.launch_s, "A launch", "From one launch of the host to its next.", 1e-7, 1e-3);
  time(f, "launch_latency_s", in.launch_latency_s, "On its way", "From a launch to the start of its kernel.", 1e-7,
       1e-3);
  count(f, "sync_every", in.sync_every, "Loss read every", "Steps between two calls of loss.item(); 0: never.", 0, 100);
  f.real("log_s", in.log_s, {"Logging", "s"}, "After each of these reads.", {.range = {0, 1}});
  f.group("The bill");
  f.real("gpu_hour_usd", in.gpu_hour_usd, {"A GPU for an hour", "$"}, "Assumed.", {.range = {0.1, 100, Scale::log}});
  f.real("run_tokens", in.run_tokens, {"Tokens of the run", "tokens"}, "All of them, over all GPUs.",
         {.range = {1e6, 1e14, Scale::log}});
  f.group("The study's multipliers");
  for (std::size_t i = 0; i < in.claimed.size(); ++i)
    f.real(claimed_keys[i], in.claimed[i], claimed_labels[i],
           "What the study multiplies by; it has 1.3 and 1.4, 1.15 and 1.2, 1.12 and 1.15 in three places.",
           {.range = {0.5, 4}});
}

void describe(Fields& f, SwitchRow& r) {
  f.text("name", r.name, "Switch");
  f.toggle("on", r.on, "On");
  f.real("change_s", r.change_s, {"Changes the step", "s"}, "After those that are on before it.",
         {.absent = "It cannot be pressed here.", .source = simulated});
  f.real("first_s", r.first_s, {"If first", "s"}, "Against the step as found.",
         {.absent = "It cannot be pressed here.", .source = simulated});
  f.real("memory_bytes", r.memory_bytes, {"Memory", "B"}, "Change of the peak.",
         {.absent = "It cannot be pressed here, or it is not modelled."});
  f.real("speedup", r.speedup, "Faster",
         {.absent = "It cannot be pressed here.", .formula = "step before / step after"});
  f.real("claimed", r.claimed, "Study", "0 where it has no multiplier.");
  f.text("why_not", r.why_not, "Why not");
}
void describe(Fields& f, StageRow& r) {
  f.text("name", r.name, "After");
  f.real("step_s", r.step_s, {"Step", "s"}, {.source = simulated});
  f.real("peak_bytes", r.peak_bytes, {"Memory", "B"}, "At the fullest moment.");
  f.real("cost_usd", r.cost_usd, {"Run", "$"}, {.formula = "steps x step x price"});
  f.text("bottleneck", r.bottleneck, "Bottleneck");
  f.real("share", r.share, {"Its share", "%"}, "Its share of the step.");
  f.toggle("fits", r.fits, "Fits");
}
void describe(Fields& f, StudyRow& r) {
  f.text("name", r.name, "Step of the study");
  f.real("claimed", r.claimed, "Claimed", "The study's multiplier.");
  f.real("computed", r.computed, "Computed", {.formula = "step before / step after"});
  f.real("claimed_product", r.claimed_product, "Claimed so far", {.formula = "product of the claims"});
  f.real("computed_product", r.computed_product, "Computed so far", {.formula = "as found / step after"});
  f.real("claimed_usd", r.claimed_usd, {"Claimed run", "$"}, {.formula = "as found / claimed so far"});
  f.real("computed_usd", r.computed_usd, {"Computed run", "$"}, {.formula = "steps x step x price"});
}

namespace {

void describe_step(Fields& f, Outputs& o) {
  f.group("One step");
  f.real("step_s", o.now.mean.period_s, {"One step", "s"}, "Mean over the last steps.",
         {.headline = true,
          .against = {"as found", "found_s"},
          .formula = "end of step - end of step before",
          .source = simulated});
  f.real(
      "peak_bytes", o.peak_bytes, {"Memory", "B"}, "At the fullest moment.",
      {.headline = true,
       .source = "the model of framework/training-memory, counted operation by operation, with 1 GB for the context"});
  f.real("cost_usd", o.cost_usd, {"The run", "$"},
         {.headline = true, .formula = "tokens / tokens per step x step x price of a GPU second"});
  f.text("bottleneck", o.bottleneck, "Bottleneck",
         "The loader where its workers are slower than the GPU; else the largest part.");
  f.real("bottleneck_share", o.bottleneck_share, {"Its share", "%"},
         "Its share of the step; the loader's is its time for a batch.");
  f.real("speedup", o.speedup, {"Times as fast", "\xC3\x97"}, {.headline = true, .formula = "step as found / step"});
  f.real("tokens_per_s", o.tokens_per_s, {"Tokens per second", "tokens/s"}, "What one GPU works through.",
         {.formula = "batch x sequence / step"});
  f.real("mfu", o.mfu, {"MFU", "%"}, "Matmuls of the model, causal, over the dense BF16 peak.",
         {.absent = "The chip states no BF16 peak.", .formula = "matmul FLOPs / step / peak"});
  f.group("As found");
  f.real("found_s", o.found.mean.period_s, {"Step, found", "s"}, {.source = simulated});
  f.real("found_peak_bytes", o.found_peak_bytes, {"Memory, found", "B"}, "At the fullest moment.");
  f.real("found_cost_usd", o.found_cost_usd, {"The run, found", "$"}, {.formula = "as the run"});
  f.text("found_bottleneck", o.found_bottleneck, "Bottleneck, found");
  f.group("Which next");
  f.text("next", o.next, "Next",
         "Saves most of the step and fits; where it does not fit yet, what makes it fit or frees most.");
  f.real("next_s", o.next_s, {"Changes the step by", "s"}, {.absent = "No switch helps.", .source = simulated});
  f.real("next_bytes", o.next_bytes, {"Changes the peak by", "B"}, "How much the peak of memory changes.",
         {.absent = "No switch helps."});
  f.text("last", o.last, "Last", "The last one pressed, in the order chosen.");
  f.real("last_s", o.last_s, {"It changed the step by", "s"}, {.absent = "None is on.", .source = simulated});
  f.real("last_first_s", o.last_first_s, {"If it were first", "s"}, {.absent = "None is on.", .source = simulated});
  f.real("product_of_alone", o.product_of_alone, {"Product of single gains", "\xC3\x97"},
         "The switches that are on, each measured alone on the step as found: what multiplying promises.",
         {.formula = "product of (as found / step with it alone)"});
  f.real("claimed_product", o.claimed_product, {"Product of claims", "\xC3\x97"},
         "The study's multipliers of the switches that are on.", {.formula = "product of the claims"});
  f.real("claimed_usd", o.claimed_usd, {"Claimed run", "$"}, {.formula = "run as found / product of claims"});
  f.group("Parts of the step");
  for (std::size_t i = 0; i < part_count; ++i)
    f.real(part_keys[i], o.now.parts[i], {part_names[i], "s"}, "They add up to the step.", {.source = simulated});
  f.real("kernels_s", o.kernels_s, {"All kernels", "s"}, {.formula = "step - waits"});
  f.real("waits_s", o.waits_s, {"All waits", "s"}, "The compute stream has nothing to do.");
  f.real("again_share", o.again_share, {"Recomputed", "%"}, {.formula = "recomputed layers / (forward + backward)"});
  f.real("floor_s", o.floor_s, {"The loader's floor", "s"},
         "A batch takes the loader so long; with workers it runs while the GPU works, and no switch gets below it.",
         {.formula = "1 / batches per second that workers and cores allow"});
}

void describe_switches(Fields& f, Outputs& o) {
  f.group("Memory");
  describe(f, o.now.held);
  f.real("chip_bytes", o.chip_bytes, {"Memory of the chip", "B"}, {.source = "the chip's data sheet"});
  f.real("free_bytes", o.free_bytes, {"Free", "B"}, {.formula = "chip's memory - peak"});
  f.toggle("fits", o.fits, "Fits");
  constexpr std::string_view absent = "It cannot be pressed here.";
  f.group("Each switch");
  for (std::size_t i = 0; i < step_switch_count; ++i)
    f.real(change_keys[i], o.change_s[i], {switches[i].name, "s"},
           "Change of the step, pressed now or as it was pressed.", {.absent = absent, .source = simulated});
  f.group("Each switch, if first");
  for (std::size_t i = 0; i < step_switch_count; ++i)
    f.real(first_keys[i], o.first_s[i], {switches[i].name, "s"}, "Change of the step as found, pressed alone.",
           {.absent = absent, .source = simulated});
  f.group("Each switch, times as fast");
  for (std::size_t i = 0; i < step_switch_count; ++i)
    f.real(gain_keys[i], o.gain[i], switches[i].name, {.absent = absent, .formula = "step before it / step after it"});
  f.group("Each switch, memory");
  for (std::size_t i = 0; i < step_switch_count; ++i)
    f.real(memory_keys[i], o.memory_bytes[i], {switches[i].name, "B"}, "Change of the peak.",
           {.absent = i == static_cast<std::size_t>(StepSwitch::compile)
                          ? "Not modelled: in our own run on an H100 torch.compile took 32.2 GB to 19.7."
                          : absent});
  f.group("Tables");
  f.table("switches", o.switches, "Each switch");
  f.table("stages", o.stages, "After each");
  f.table("study", o.study, "The study's stack");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_step(f, o);
  describe_switches(f, o);
}

void describe(Fields& f, View& v) { f.text("open_link", v.requests.open_link, "Lab to open"); }

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"training/dashboard",
       "Dashboard",
       "Which switch is worth pressing next, and which would do nothing yet?",
       {.job = true, .published_keys = "model compile fp8"}},
      compute, arrange, draw);
}

}  // namespace chapters::training::dashboard
