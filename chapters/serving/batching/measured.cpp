#include <algorithm>
#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/published.h"
#include "chapters/serving/batching/lab.h"
#include "widgets/number/number.h"

namespace chapters::serving::batching {
namespace {

using widgets::format_text;

constexpr std::string_view pace = "bound_tpot_s", rate = "bound_tokens_per_s";

std::string_view text_of(const Published& row, std::string_view key) {
  const PublishedInput* input = row.input(key);
  return input ? std::string_view(input->text) : std::string_view();
}

/// The bound of a row by its own inputs, as the lab's outputs give it; nothing where the catalog lacks them.
models::Result<models::ServingBound> bound_of(const Published& row) {
  using Outcome = models::Result<models::ServingBound>;
  const auto chip = find_chip(text_of(row, "chip"));
  const auto model = find_model(text_of(row, "model"));
  const auto format = models::format_from_id(text_of(row, "format"));
  if (!chip || !model || !format) return Outcome::fail("The catalog lacks what was measured.");
  return models::serving_bound(
      (*model)->architecture,
      {.chip = *chip,
       .chips = row.number("chips", 1),
       .format = *format,
       .kv = text_of(row, "kv_format") == "fp8" ? models::KvFormat::fp8 : models::KvFormat::bf16},
      row.number("slots", 1), row.number("prompt_tokens", 1), row.number("output_tokens", 1),
      text_of(row, "policy") == "static");
}

/// The rows of this output, of the model that is served, and of its chip where that is asked for.
std::vector<const Published*> rows_of(const Inputs& in, std::string_view output, bool same_chip) {
  std::vector<const Published*> out;
  for (const Published& row : catalog().published_of("serving/batching"))
    if (row.output == output && row.sets("model", in.model) && (!same_chip || row.sets("chip", in.chip)))
      out.push_back(&row);
  return out;
}

/// A format's id as people write it.
std::string upper(std::string_view id) {
  std::string out(id);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

/// The chosen policy's run: at the sequences that its batch holds on average.
MeasuredRun own_run(const Inputs& in, const Outputs& out, bool all_tokens) {
  MeasuredRun own;
  const models::ServingSummary& s = out.chosen.figures;
  const auto chip = find_chip(in.chip);
  const auto model = find_model(in.model);
  if (!chip || !model) return own;
  const double batch = (s.mean_in_system - s.mean_waiting) / static_cast<double>(in.servers);
  // Of a server that falls behind: as many as write a token in the time of one, which memory may hold under the slots.
  const double writing = s.tokens_per_s * s.tpot_p50_s / static_cast<double>(in.servers);
  const double there = std::isfinite(batch)     ? std::max(1.0, batch)
                       : std::isfinite(writing) ? std::max(1.0, writing)
                                                : static_cast<double>(in.slots);
  const models::ServingMachine machine{
      .chip = *chip,
      .chips = static_cast<double>(in.chips),
      .format = in.format,
      .kv = in.kv_format,
  };
  const auto bound = models::serving_bound((*model)->architecture, machine, there, in.prompt_tokens, in.output_tokens);
  if (!bound) return own;
  own.name = "model " + upper(models::format_id(in.format)) + ", " + format_text(there, "", 2);
  own.info = "simulated, with the sequences that are in the batch on average";
  own.measured = all_tokens ? s.tokens_per_s / static_cast<double>(in.servers) : 1 / s.tpot_p50_s;
  own.bound = all_tokens ? bound->tokens_per_s : 1 / bound->tpot_s;
  return own;
}

/// What tells a row from others of the same model, as short as can be: chips, sequences at once, and of saturated
/// servers prompt and output. The format only where the rows' differ.
std::string short_name(const Published& row, bool same_chip, bool same_format) {
  const double chips = row.number("chips", 1);
  std::string out = format_text(chips, "");
  const auto chip = find_chip(text_of(row, "chip"));
  if (!same_chip && chip)
    out += "\xC3\x97 " + (*chip)->short_name;
  else
    out += chips > 1 ? " chips" : " chip";
  if (!same_format) out += " " + upper(text_of(row, "format"));
  const auto tokens = [&](std::string_view key) { return std::to_string(std::llround(row.number(key, 1))); };
  if (row.output == rate) return out + ", " + tokens("prompt_tokens") + "/" + tokens("output_tokens");
  return out + ", batch " + format_text(row.number("slots", 1), "");
}

}  // namespace

MeasuredRuns measured_runs(const Inputs& in, const Outputs& out) {
  MeasuredRuns all;
  if (in.service != Service::llm) return all;
  std::vector<const Published*> rows;
  bool same_chip = true;
  for (const bool same : {true, false})
    for (const std::string_view output : {pace, rate})
      if (rows.empty()) {
        rows = rows_of(in, output, same);
        all.rate = output == rate;
        same_chip = same;
      }
  if (rows.empty()) return all;
  const auto chip = find_chip(in.chip);
  const auto model = find_model(in.model);
  all.title = "Published: " + (model ? (*model)->name : in.model) +
              (same_chip && chip ? " on " + (*chip)->short_name : std::string(" on other chips"));
  const bool same_format = std::all_of(
      rows.begin(), rows.end(), [&](const Published* row) { return row->sets("format", text_of(*rows[0], "format")); });
  if (same_format) all.title += ", " + upper(text_of(*rows[0], "format"));
  all.axis = all.rate ? "output tokens a second, all answers" : "tokens a second of one answer";
  if (MeasuredRun own = own_run(in, out, all.rate); own.bound > 0 && own.measured > 0) all.runs.push_back(own);
  for (const Published* row : rows) {
    const auto bound = bound_of(*row);
    if (!bound) continue;
    const double best = all.rate ? bound->tokens_per_s : bound->tpot_s;
    all.runs.push_back({
        .name = short_name(*row, same_chip, same_format),
        .info = row->name + ": " + format_text(-100 * published_residual(row->role, row->measured, best), "%", 3) +
                " short of the bound; " + row->source + ", " + row->date,
        .measured = all.rate ? row->measured : 1 / row->measured,
        .bound = all.rate ? best : 1 / best,
    });
  }
  return all;
}

}  // namespace chapters::serving::batching
