#include "chapters/roofline/transformer_layer/setting.h"

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/file_name.h"
#include "models/transformer/weight_storage.h"

namespace chapters::roofline::transformer_layer {

models::Result<Setting> read_setting(const Inputs& in) {
  using Out = models::Result<Setting>;
  Setting s;
  if (!in.config.text.empty()) {
    const std::string file(file_name(in.config.path));
    auto parsed = models::parse_config(in.config.text, file.empty() ? "config.json" : file);
    if (!parsed) return Out::fail(parsed.error);
    s.architecture = std::move(*parsed);
    s.name = file + " (" + s.architecture.model_type + ")";
  } else {
    const auto model = find_model(in.model);
    if (!model) return Out::fail(model.error);
    s.architecture = (*model)->architecture;
    s.name = (*model)->name;
  }
  const auto chip = find_chip(in.chip);
  if (!chip) return Out::fail(chip.error);
  s.chip = *chip;
  const auto weights = models::format_from_id(in.format);
  const auto activations = models::format_from_id(in.activation_format);
  const auto kv = models::format_from_id(in.kv_format);
  if (!weights || !activations || !kv) return Out::fail("One of the formats is unknown; choose another.");
  s.product_format = models::product_format(*weights, *activations);
  const auto machine = models::machine_of(*s.chip, s.product_format, in.launch_s);
  if (!machine) return Out::fail(machine.error);
  s.machine = *machine;
  models::Workload& w = s.workload;
  w.phase = in.phase;
  w.batch = in.batch;
  w.sequence = in.sequence;
  w.context = in.context;
  w.attention = in.attention_flops;
  const double weight_bits = models::stored_bits(*weights, *activations);
  w.weight_bytes = weight_bits / 8;
  w.other_weight_bytes = models::other_weight_bytes(weight_bits);
  w.activation_bytes = models::format_bytes(*activations);
  w.kv_bytes = models::format_bytes(*kv);
  w.fused_attention = in.fused_attention;
  w.fused_elementwise = in.fused_elementwise;
  if (in.phase == models::Phase::train) w.recompute = in.recompute;
  return Out::ok(std::move(s));
}

}  // namespace chapters::roofline::transformer_layer
