#include "chapters/roofline/roofline/published_dots.h"

#include <algorithm>
#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "models/machine/op_cost.h"
#include "widgets/number/number.h"

namespace chapters::roofline::roofline {
namespace {

/// One decode step of the row's model.
models::Work decode_of(const Published& row, models::Format format) {
  const PublishedInput* named = row.input("model");
  const auto* model = named ? catalog().model(named->text) : nullptr;
  if (!model) return {0, 0, 1};
  const double batch = row.number("batch", 1), e = models::format_bytes(format);
  const models::OpSizes sizes{static_cast<std::int64_t>(batch), 1, static_cast<std::int64_t>(row.number("context", 1)),
                              e, true};
  return models::decode_work(models::decode_step(model->architecture, sizes, e), batch);
}

/// Flops and bytes of a row: those that it states, or those of its matrix product or decode step.
models::Work work_of(const Published& row, models::Format format) {
  if (row.sets("operation", "decode")) return decode_of(row, format);
  if (!row.sets("operation", "gemm")) return {row.number("flops", 0), row.number("bytes", 0), 1};
  const double e = models::format_bytes(format);
  const auto cost = models::gemm(row.number("m", 0), row.number("n", 0), row.number("k", 0), e, e, e);
  return {cost.flops, cost.bytes(), 1};
}

bool is_ceiling(const Published& row, const Outputs& out) {
  return std::any_of(out.ceilings.begin(), out.ceilings.end(),
                     [&](const CeilingRow& c) { return !c.of_bandwidth && c.ceiling.per_s == row.measured; });
}

}  // namespace

std::vector<Picture::Dot> published_dots(const Inputs& in, const models::Chip& chip, const Outputs& out) {
  std::vector<Picture::Dot> dots;
  for (const Published& row : catalog().published_of("roofline/roofline")) {
    const PublishedInput* named = row.input("format");
    const auto format = named ? models::format_from_id(named->text) : std::nullopt;
    if (!format || !row.sets("chip", in.chip) || is_ceiling(row, out)) continue;
    if (chip.peak_flops_per_s(*format) != out.machine.peak_flops_per_s) continue;
    const models::Work work = work_of(row, *format);
    if (!(work.flops > 0 && work.bytes > 0)) continue;
    const double intensity = work.flops / work.bytes;
    const double roof = models::attainable_flops_per_s(out.machine, intensity);
    // What decodes is published in tokens a second.
    const double rate =
        row.output == "decode_tokens_per_s" ? row.measured * work.flops / row.number("batch", 1) : row.measured;
    const std::string share = widgets::format_text(std::round(100 * rate / roof), "%");
    dots.push_back({.x = intensity,
                    .y = rate,
                    .label = row.label.empty() ? std::string() : row.label + " " + share,
                    .roof = roof,
                    .name = row.name,
                    .info = "measured, " + share + " of the roof; " + row.source +
                            (row.date[0] >= '0' && row.date[0] <= '9' ? ", " + row.date : ""),
                    .work = work});
  }
  return dots;
}

}  // namespace chapters::roofline::roofline
