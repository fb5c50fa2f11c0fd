#include "models/training/mixed_precision.h"

#include <algorithm>
#include <utility>

#include "models/base/integer_math.h"
#include "models/training/mixed_precision_rules.h"

namespace models {
namespace {

constexpr double adamw_flops_per_parameter =
    16;  // two moments, their corrections, root, division, decay, step: bytes decide

bool is_product(const LayerOperation& op) {
  return op.product_flops > 0 && op.group != OperationGroup::attention && op.name != "router";
}
/// Products of the layers; the last product and embedding projections stay in 16 bits under an 8-bit recipe.
bool in_layers(const LayerOperation& op) {
  return op.group != OperationGroup::output && op.group != OperationGroup::embedding;
}
bool is_attention(const LayerOperation& op) { return op.group == OperationGroup::attention && op.product_flops > 0; }
bool in_stream(const LayerOperation& op) {
  return op.group == OperationGroup::norm || op.group == OperationGroup::residual ||
         op.group == OperationGroup::embedding;
}

struct ProductSize {
  double rows, n, k, groups;
};
ProductSize size_of(const LayerOperation& op) {
  const auto& s = op.shape;
  return {op.group == OperationGroup::experts ? s.m : s.batch * s.m, s.n, s.k, s.batch};
}

/// Turns operations into rows with times.
class Writer {
 public:
  Writer(const Chip& chip, const MixedSettings& s, const RecipeRules& rules, double peak, MixedStep& out)
      : chip_(chip),
        s_(s),
        r_(rules),
        peak_(peak),
        vector_(chip.peak_flops_per_s(Format::fp32).value_or(0)),
        low_peak_(peak),
        out_(out) {
    // Attention and the last product of an 8-bit recipe run in 16 bits.
    if (rules.quantized)
      low_peak_ = chip.peak_flops_per_s(Format::bf16).value_or(chip.peak_flops_per_s(Format::fp16).value_or(peak));
  }

  void product(const LayerOperation& op, bool new_input, bool from_norm) {
    const bool low = in_layers(op);
    const ProductSize p = size_of(op);
    const double in = low ? r_.operand_bytes : number_bytes(r_.value), weights = p.groups * p.n * p.k;
    MixedOperation row =
        row_of(op, low ? r_.operand : product_value(), low ? r_.gradient : product_value(), StepPart::products);
    row.result = r_.value;
    const double forward = p.rows * p.k * in + weights * in + p.rows * p.n * r_.value_bytes;
    const double backward = p.rows * p.n * in + weights * in + p.rows * p.k * r_.value_bytes +
                            p.rows * (p.k + p.n) * in + weights * r_.states.gradients;
    row.bytes = op.forward_passes * forward + backward;
    const double flops = op.hardware_product_flops();
    row.flops = flops;
    row.compute_s = flops / (low ? peak_ : low_peak_);
    row.why = r_.quantized && !low ? "The last matmul feeds the loss: it stays in 16 bits."
              : low ? "Matmuls are most of the arithmetic and tolerate short mantissas; sums inside are FP32."
                    : "Matmuls are most of the arithmetic; sums inside are FP32.";
    out_.product_flops += as_double(op.count) * flops;
    if (row.forward == r_.operand) recipe_flops_ += as_double(op.count) * flops;
    push(std::move(row));
    if (!low) return;
    const double elements = p.rows * ((new_input ? p.k * op.forward_passes : 0) + p.n);
    if (r_.quantized)
      casts_bytes_ += as_double(op.count) * (elements + weights) * (r_.quantize_reads + 2 * r_.operand_bytes);
    if (r_.casts) {
      // What a norm wrote in FP32, and its gradients back; weights once, their gradients back.
      if (new_input && from_norm) casts_bytes_ += as_double(op.count) * p.rows * p.k * 6 * (op.forward_passes + 1);
      casts_bytes_ += as_double(op.count) * weights * 12;
    }
    if (r_.quantized || r_.casts) quantized_parameters_ += op.count * op.parameters;
  }

  /// `op` counted with the bytes of its format.
  void other(const LayerOperation& op) {
    const bool attention = is_attention(op), loss = op.name == "loss", router = op.name == "router",
               stream = in_stream(op);
    const NumberFormat stored = loss || router ? NumberFormat::fp32 : stream ? r_.stream : r_.value;
    const NumberFormat f = attention ? product_value() : op.group == OperationGroup::norm ? NumberFormat::fp32 : stored;
    MixedOperation row = row_of(op, f, f, attention ? StepPart::attention : StepPart::vector);
    row.result = stored;
    const OpCost cost = op.cost();
    const double products = op.hardware_product_flops();
    row.flops = cost.flops;
    row.bytes = cost.bytes();
    row.compute_s = products / low_peak_ + (vector_ > 0 ? (cost.flops - products) / vector_ : 0);
    row.why = attention ? "Both matmuls in the short format; softmax between them in FP32, on the chip."
              : loss    ? "Exponentials and a sum over the vocabulary: FP32."
              : router  ? "A wrong rounding here picks another expert: FP32."
              : op.group == OperationGroup::norm ? "A sum of squares over the row: computed in FP32 whatever is stored."
              : stream                           ? "Adds to a running sum that later layers read."
                                                 : "One value in, one value out: as its neighbours store it.";
    out_.product_flops += as_double(op.count) * products;
    if (row.forward == r_.operand) recipe_flops_ += as_double(op.count) * products;
    push(std::move(row));
  }

  void finish(double parameters) {
    const double mine = parameters / s_.shards;
    if (casts_bytes_ > 0) {
      const bool q = r_.quantized;
      add(q ? "scale and quantize" : "casts", q ? r_.operand : r_.value, q ? r_.gradient : NumberFormat::fp32,
          StepPart::casts, 0, casts_bytes_,
          q ? "Operands are made from 16-bit values, for both directions they are read in."
            : "FP32 values are cast for each matmul, their gradients back.");
    }
    const StateBytes& b = r_.states;
    if (s_.keeping == StateKeeping::accumulate && b.gradients > 4)
      add("add to FP32 gradients", NumberFormat::fp32, NumberFormat::fp32, StepPart::optimizer, mine, 10 * mine,
          "A sum over micro-batches swamps small terms in 16 bits.");
    const double step_gradients = b.gradients > 4 ? 4 : b.gradients;
    if (r_.unscales)
      add("unscale, look for inf", NumberFormat::fp32, NumberFormat::fp32, StepPart::optimizer, 2 * mine,
          2 * step_gradients * mine, "Loss scaling: divide, and skip the step if any is not finite.");
    const double full = b.master > 0 ? b.master : b.weights;
    const double written = full + b.moments + (b.master > 0 ? b.weights : 0), read = full + b.moments + step_gradients;
    add("AdamW update", NumberFormat::fp32, NumberFormat::fp32, StepPart::optimizer, adamw_flops_per_parameter * mine,
        (read + written) * mine, "An update far below the weight must not round away: FP32 master and moments.");
    for (MixedOperation& row : out_.operations) row.share = as_double(row.count) * row.time_s / out_.time_s;
    out_.recipe_flops_share = out_.product_flops > 0 ? recipe_flops_ / out_.product_flops : 0;
  }
  double quantized_parameters() const { return as_double(quantized_parameters_); }

 private:
  NumberFormat product_value() const { return r_.operand == NumberFormat::tf32 ? NumberFormat::tf32 : r_.value; }
  static MixedOperation row_of(const LayerOperation& op, NumberFormat forward, NumberFormat backward, StepPart part) {
    MixedOperation row;
    row.name = op.name;
    row.layer = op.layer;
    row.count = op.count;
    row.forward = forward;
    row.backward = backward;
    row.part = part;
    return row;
  }
  void add(std::string name, NumberFormat from, NumberFormat backward, StepPart part, double flops, double bytes,
           std::string_view why) {
    MixedOperation row;
    row.name = std::move(name);
    row.layer = part == StepPart::optimizer ? "optimizer" : "casts";
    row.forward = row.result = from;
    row.backward = backward;
    row.has_backward = part == StepPart::casts;
    row.part = part;
    row.flops = flops;
    row.bytes = bytes;
    row.compute_s = vector_ > 0 ? flops / vector_ : 0;
    row.why = why;
    push(std::move(row));
  }
  void push(MixedOperation row) {
    row.memory_s = row.bytes / chip_.memory_bandwidth_bytes_per_s;
    row.time_s = std::max(row.compute_s, row.memory_s);
    const double all = as_double(row.count) * row.time_s;
    out_.time_s += all;
    out_.part_s[static_cast<std::size_t>(row.part)] += all;
    out_.operations.push_back(std::move(row));
  }

  const Chip& chip_;
  const MixedSettings& s_;
  const RecipeRules& r_;
  double peak_, vector_, low_peak_;
  MixedStep& out_;
  double casts_bytes_ = 0, recipe_flops_ = 0;
  std::int64_t quantized_parameters_ = 0;
};

/// Neighbours of equal rows and depth multiply the same input.
bool same_input(const LayerOperation& a, const LayerOperation& b) {
  return is_product(a) && a.layer == b.layer && a.group == b.group && a.shape.m == b.shape.m &&
         a.shape.k == b.shape.k && a.shape.batch == b.shape.batch;
}

}  // namespace

std::string_view recipe_label(PrecisionRecipe recipe) {
  static constexpr std::string_view labels[] = {"FP32", "TF32", "AMP BF16", "AMP FP16", "FP8"};
  static_assert(std::size(labels) == static_cast<std::size_t>(PrecisionRecipe::fp8) + 1);
  return labels[static_cast<std::size_t>(recipe)];
}
Format recipe_product_format(PrecisionRecipe recipe) {
  static constexpr Format formats[] = {Format::fp32, Format::tf32, Format::bf16, Format::fp16, Format::fp8};
  static_assert(std::size(formats) == static_cast<std::size_t>(PrecisionRecipe::fp8) + 1);
  return formats[static_cast<std::size_t>(recipe)];
}
std::string_view number_label(NumberFormat format) {
  static constexpr std::string_view labels[] = {"FP32", "TF32", "BF16", "FP16", "E4M3", "E5M2"};
  static_assert(std::size(labels) == static_cast<std::size_t>(NumberFormat::e5m2) + 1);
  return labels[static_cast<std::size_t>(format)];
}
double number_bytes(NumberFormat format) {
  static constexpr double bytes[] = {4, 4, 2, 2, 1, 1};
  static_assert(std::size(bytes) == static_cast<std::size_t>(NumberFormat::e5m2) + 1);
  return bytes[static_cast<std::size_t>(format)];
}

RecipeRules rules_of(const MixedSettings& s) {
  RecipeRules r;
  r.states = {
      .weights = 4,
      .copies = 0,
      .gradients = 4,
      .master = 0,
  };
  if (s.recipe == PrecisionRecipe::fp32) return r;
  if (s.recipe == PrecisionRecipe::tf32) {
    r.operand = r.gradient = NumberFormat::tf32;
    return r;
  }
  r.value = s.recipe == PrecisionRecipe::amp_fp16 ? NumberFormat::fp16 : NumberFormat::bf16;
  r.operand = r.gradient = r.value;
  r.value_bytes = r.operand_bytes = 2;
  r.casts = s.keeping == StateKeeping::autocast && s.recipe != PrecisionRecipe::fp8;
  r.unscales = s.recipe == PrecisionRecipe::amp_fp16;
  if (s.keeping != StateKeeping::autocast) {
    r.stream = r.value;
    r.stream_bytes = 2;
    r.states = {
        .weights = 2,
        .copies = 0,
        .gradients = s.keeping == StateKeeping::zero       ? 2.0
                     : s.keeping == StateKeeping::megatron ? 4.0
                                                           : 6.0,
        .master = 4,
    };
  } else if (r.casts) {
    r.states.copies = 2;
  }
  if (s.recipe == PrecisionRecipe::fp8) {
    r.operand = NumberFormat::e4m3;
    r.gradient = s.scaling == Fp8Scaling::mx ? NumberFormat::e4m3 : NumberFormat::e5m2;
    r.operand_bytes = 1 + (s.scaling == Fp8Scaling::mx ? 1.0 / 32 : 0);
    r.quantized = true;
    r.quantize_reads = s.scaling == Fp8Scaling::current ? 4 : 2;
    r.states.copies = 2 * r.operand_bytes;  // one to read along each direction
  }
  return r;
}

Result<MixedStep> mixed_precision_step(const Architecture& a, const Chip& chip, const MixedSettings& s) {
  using Outcome = Result<MixedStep>;
  if (!(s.shards >= 1 && s.shards <= 1e7)) return Outcome::fail("States are split over 1 to 10,000,000 chips.");
  const Format format = recipe_product_format(s.recipe);
  const auto peak = chip.peak_flops_per_s(format);
  if (!peak || !(*peak > 0))
    return Outcome::fail(chip.name + " states no " + std::string(format_label(format)) +
                         " peak: choose another recipe or chip.");
  Workload w{.phase = Phase::train, .batch = s.batch, .sequence = s.sequence};
  w.recompute = s.recompute;
  if (std::string problem = workload_problem(w); !problem.empty()) return Outcome::fail(std::move(problem));
  const RecipeRules rules = rules_of(s);
  MixedStep step;
  step.recipe = s.recipe;
  step.peak_flops_per_s = *peak;
  // The same list counted at both widths: each operation takes its traffic from the one of its format.
  w.weight_bytes = w.activation_bytes = w.kv_bytes = rules.value_bytes;
  const std::vector<LayerOperation> narrow = model_operations(a, w);
  w.weight_bytes = w.activation_bytes = w.kv_bytes = 4;
  const std::vector<LayerOperation> full = model_operations(a, w);
  Writer writer(chip, s, rules, *peak, step);
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    const LayerOperation& op = narrow[i];
    if (is_product(op))
      writer.product(op, i == 0 || !same_input(narrow[i - 1], op),
                     i > 0 && narrow[i - 1].group == OperationGroup::norm);
    else
      writer.other(op.name == "loss" || op.name == "router" || (in_stream(op) && rules.stream_bytes > 2) ? full[i]
                                                                                                         : op);
  }
  const double parameters = as_double(count_parameters(a).total);
  writer.finish(parameters);
  fill_memory(a, s, rules, parameters > 0 ? writer.quantized_parameters() / parameters : 0, step);
  return Outcome::ok(std::move(step));
}

}  // namespace models
