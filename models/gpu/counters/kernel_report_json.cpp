#include <nlohmann/json.hpp>

#include "models/base/json_nesting.h"
#include "models/base/json_text.h"
#include "models/gpu/counters/kernel_report_parts.h"

/// {"kernel", "chip", "grid_blocks", "block_threads", "report": {...}, "stalls": [...], "rules": [...]}, one or a list
/// of them, each bare or under "inputs".
namespace models::gpu {
namespace {

using Json = nlohmann::json;

double number_of(const Json& j) {
  if (!j.is_number()) return std::nan("");
  const double value = j.get<double>();
  return std::abs(value) <= 1e18 ? value : std::nan("");
}
double number_at(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() ? std::nan("") : number_of(*at);
}
std::string text_at(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get_ref<const std::string&>().substr(0, 400) : std::string();
}
const Json& part(const Json& object, const char* key) {
  static const Json nothing = nullptr;
  const auto at = object.find(key);
  return at == object.end() ? nothing : *at;
}

bool is_limit(Figure f) { return f >= Figure::limit_registers && f <= Figure::limit_blocks; }

void put_figures(KernelReport& out, const Json& figures) {
  for (const FigureNames& names : report_figures())
    if (!is_limit(names.figure)) out[names.figure] = number_at(figures, std::string(names.key).c_str());
  const Json& limits = part(figures, "limits");
  if (limits.is_object())
    for (const FigureNames& names : report_figures())
      if (is_limit(names.figure)) out[names.figure] = number_at(limits, std::string(names.key).c_str());
  const auto other = [&](Figure figure, const char* key) {
    if (!out.has(figure)) out[figure] = number_at(figures, key);
  };
  other(Figure::grid_blocks, "blocks");
  other(Figure::blocks_per_sm, "blocks_per_sm_resident");
  other(Figure::block_threads, "workgroup");
  other(Figure::registers, "vgpr");
}

void put_stalls(KernelReport& out, const Json& stalls) {
  if (!stalls.is_array()) return;
  for (const Json& s : stalls) {
    if (!s.is_object() || out.stalls.size() >= stall_reason_count) continue;
    if (const auto reason = stall_reason_of(text_at(s, "reason")))
      out.stalls.push_back({*reason, number_at(s, "cycles"), number_at(s, "share_pct")});
  }
}

void put_rules(KernelReport& out, const Json& rules) {
  if (!rules.is_array()) return;
  for (const Json& r : rules) {
    if (!r.is_object() || out.rules.size() >= 64) continue;
    ToolRule rule{text_at(r, "rule"), number_at(r, "estimate_pct"), std::nan("")};
    for (const char* key : {"useful_bytes_of_32", "ways", "pipe_pct"})
      if (std::isnan(rule.value)) rule.value = number_at(r, key);
    out.rules.push_back(std::move(rule));
  }
}

double capability_at(const Json& object) {
  const Json& value = part(object, "compute_capability");
  if (value.is_string()) return capability_number(value.get_ref<const std::string&>());
  const double number = number_of(value);
  return number > 0 && number < 100 ? std::round(10 * number) : std::nan("");
}

KernelReport report_of(const Json& inputs) {
  KernelReport out;
  const Json& figures = part(inputs, "report");
  if (figures.is_object()) put_figures(out, figures);
  for (const Figure f : {Figure::grid_blocks, Figure::block_threads, Figure::sm_count})
    if (const double value = number_at(inputs, std::string(names_of(f).key).c_str()); !std::isnan(value))
      out[f] = value;
  if (const double capability = capability_at(inputs); !std::isnan(capability))
    out[Figure::compute_capability] = capability;
  put_stalls(out, part(inputs, "stalls"));
  put_rules(out, part(inputs, "rules"));
  out.chip = text_at(inputs, "chip");
  out.kernel = text_at(inputs, "kernel");
  out.does = text_at(inputs, "does");
  out.tool = text_at(inputs, "tool");
  out.amd = out.tool.starts_with("rocprof") || out.tool.starts_with("omniperf") ||
            (out.tool.empty() && out.has(Figure::wavefront_occupancy_pct));
  return out;
}

}  // namespace

Result<KernelReports> read_report_json(std::string_view text) {
  constexpr int deepest = 16;
  if (json_nesting(text) > deepest)
    return Result<KernelReports>::fail(
        "The JSON nests deeper than a report of kernels does: give one with \"report\".");
  JsonFailure failure;
  const Json all = parse_json(text, &failure);
  if (all.is_discarded())
    return Result<KernelReports>::fail("The report is no whole JSON: it ends or breaks at byte " +
                                       std::to_string(failure.byte) + ". Write it again.");
  KernelReports out{.format = "JSON"};
  const auto take = [&](const Json& one) {
    if (!one.is_object()) return;
    const Json& inputs = part(one, "inputs");
    const Json& object = inputs.is_object() ? inputs : one;
    if (part(object, "report").is_object()) keep_report(out, report_of(object));
  };
  if (all.is_array())
    for (const Json& one : all) take(one);
  else
    take(all);
  if (out.kernels.empty())
    return Result<KernelReports>::fail(
        "No kernel with a figure is in this JSON: it wants an object \"report\" with keys such as sm_pct and "
        "memory_pct.");
  return Result<KernelReports>::ok(std::move(out));
}

}  // namespace models::gpu
