#include <charconv>
#include <cmath>

#include "chapters/roofline/roofline/setting.h"
#include "models/transformer/weight_storage.h"
#include "widgets/number/number.h"

namespace chapters::roofline::roofline {
namespace {

constexpr double walked_batches[] = {1, 4, 16, 64, 256};
/// Tokens of a step from which on a mixture reads all its experts.
constexpr double all_experts_batch = 4096;

models::DecodeStep decode_step_at(const Setting& setting, double batch, double matrix_bytes) {
  models::OpSizes sizes = setting.sizes;
  sizes.batch = static_cast<std::int64_t>(batch);
  return models::decode_step(setting.model->architecture, sizes, matrix_bytes);
}

/// Bytes of one weight inside a layer, scales counted.
double bytes_of_bits(const std::string& digits) {
  double bits = 4;
  std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  return models::stored_bits(bits) / 8;
}

/// The same in words, for prose.
std::string decode_verdict(const Outputs& out) {
  return std::isnan(out.critical_batch)
             ? "never reached: the cache holds it below " + widgets::format_text(out.decode_limit, "FLOP/B")
             : "reached at a batch of " + widgets::format_text(out.critical_batch, "", 4);
}

}  // namespace

void add_decode(const Inputs& in, const Setting& setting, Outputs& out) {
  if (!setting.model) return;
  const double kernels = models::decode_kernels(setting.model->architecture, setting.sizes);
  const auto place_step = [&](double batch, double weight_bytes) {
    models::Work work = models::decode_work(decode_step_at(setting, batch, weight_bytes), batch);
    work.kernels = kernels;
    return setting.place(work);
  };
  const double batch = static_cast<double>(in.batch);
  const double weight_bytes = setting.sizes.element_bytes;
  const auto decode = place_step(batch, weight_bytes);
  const auto quantized = place_step(batch, bytes_of_bits(in.weight_bits));
  if (!decode || !quantized) return;
  out.decode = *decode;
  out.quantized = *quantized;
  out.decode_tokens_per_s = batch / decode->time_s;
  out.quantized_speedup = decode->time_s / quantized->time_s;
  const models::DecodeStep full = decode_step_at(setting, all_experts_batch, weight_bytes);
  out.decode_limit = models::decode_intensity_limit(full);
  if (const auto critical = models::critical_batch(full, out.ridge)) out.critical_batch = std::ceil(*critical);
  out.decode_verdict = decode_verdict(out);
  if (!shows(in, "walk")) return;
  for (const double size : walked_batches)
    if (const auto p = place_step(size, weight_bytes))
      out.walk.push_back({size, *p, size / p->time_s, std::string(models::regime_id(p->regime))});
}

}  // namespace chapters::roofline::roofline
