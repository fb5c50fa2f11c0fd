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

/// The sequences that the chosen policy's batch holds on average.
double sequences_of(const Inputs& in, const models::ServingSummary& s) {
  const double batch = (s.mean_in_system - s.mean_waiting) / static_cast<double>(in.servers);
  // Of a server that falls behind: as many as write a token in the time of one, which memory may hold under the slots.
  const double writing = s.tokens_per_s * s.tpot_p50_s / static_cast<double>(in.servers);
  return std::isfinite(batch)     ? std::max(1.0, batch)
         : std::isfinite(writing) ? std::max(1.0, writing)
                                  : static_cast<double>(in.slots);
}

/// What bounds the chosen policy; all 0 where the catalog lacks it.
models::ServingBound own_bound(const Inputs& in, double sequences) {
  const auto chip = find_chip(in.chip);
  const auto model = find_model(in.model);
  if (!chip || !model) return {};
  const models::ServingMachine machine{
      .chip = *chip,
      .chips = static_cast<double>(in.chips),
      .format = in.format,
      .kv = in.kv_format,
  };
  const auto bound =
      models::serving_bound((*model)->architecture, machine, sequences, in.prompt_tokens, in.output_tokens);
  return bound ? *bound : models::ServingBound{};
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

PublishedRuns published_runs(const Inputs& in) {
  PublishedRuns all;
  if (in.service != ServiceKind::llm) return all;
  std::vector<const Published*> rows;
  for (const bool same : {true, false})
    for (const std::string_view output : {pace, rate})
      if (rows.empty()) {
        rows = rows_of(in, output, same);
        all.rate = output == rate;
        all.same_chip = same;
      }
  for (const Published* row : rows) all.runs.push_back({*row, {}});
  return all;
}

PublishedRuns bound_published_runs(const Inputs& in, const Outputs& out) {
  PublishedRuns all = published_runs(in);
  std::erase_if(all.runs, [](BoundedRun& run) {
    const auto bound = bound_of(run.published);
    if (bound) run.bound = *bound;
    return !bound;
  });
  if (all.runs.empty()) return all;
  all.sequences = sequences_of(in, out.chosen.figures);
  all.own = own_bound(in, all.sequences);
  return all;
}

namespace {

/// One's own benchmark, alone: its rate is that of all answers, and published rows may be paces of one.
MeasuredRuns own_benchmark(const ComparedBenchmark& own) {
  MeasuredRuns all;
  all.rate = true;
  all.title = "Your benchmark";
  all.axis = "output tokens per second, all answers";
  for (std::size_t i = 0; i < own.runs.size(); ++i) {
    const ComparedRun& run = own.runs[i];
    const std::string number = own.runs.size() > 1 ? " " + std::to_string(i + 1) : std::string();
    all.runs.push_back(
        {.name = "yours" + number, .info = run.what, .measured = run.measured_per_s, .bound = run.bound_per_s});
    all.runs.push_back({.name = "simulated" + number,
                        .info = "the same load through the chosen policy",
                        .measured = run.simulated_per_s,
                        .bound = run.bound_per_s});
  }
  return all;
}

}  // namespace

MeasuredRuns measured_runs(const Inputs& in, const Outputs& out, const PublishedRuns& published) {
  MeasuredRuns all;
  if (out.benchmark.any()) {
    all = own_benchmark(out.benchmark);
    if (published.runs.empty() || !published.rate) return all;  // those are paces of one answer
  }
  if (published.runs.empty()) return all;
  all.rate = published.rate;
  const auto chip = find_chip(in.chip);
  const auto model = find_model(in.model);
  all.title = (out.benchmark.any() ? "Yours, and published: " : "Published: ") + (model ? (*model)->name : in.model) +
              (published.same_chip && chip ? " on " + (*chip)->short_name : std::string(" on other chips"));
  const std::string_view first_format = text_of(published.runs[0].published, "format");
  const bool same_format = std::all_of(published.runs.begin(), published.runs.end(), [&](const BoundedRun& run) {
    return run.published.sets("format", first_format);
  });
  if (same_format) all.title += ", " + upper(first_format);
  all.axis = all.rate ? "output tokens per second, all answers" : "tokens per second of one answer";
  const auto fastest = [&](const models::ServingBound& bound) {
    return all.rate ? bound.tokens_per_s : 1 / bound.tpot_s;
  };
  const models::ServingSummary& figures = out.chosen.figures;
  const double measured = all.rate ? figures.tokens_per_s / static_cast<double>(in.servers) : 1 / figures.tpot_p50_s;
  if (published.own.tpot_s > 0 && measured > 0)
    all.runs.push_back({
        .name = "this lab, batch " + format_text(published.sequences, "", 2),
        .info = "simulated in " + upper(models::format_id(in.format)) +
                ", with the sequences that are in the batch on average",
        .measured = measured,
        .bound = fastest(published.own),
    });
  for (const BoundedRun& run : published.runs) {
    if (!(run.bound.tpot_s > 0)) continue;
    const Published& row = run.published;
    const double best = all.rate ? run.bound.tokens_per_s : run.bound.tpot_s;
    all.runs.push_back({
        .name = short_name(row, published.same_chip, same_format),
        .info = row.name + ": " + format_text(-100 * published_residual(row.role, row.measured, best), "%", 3) +
                " short of the bound; " + row.source + ", " + row.date,
        .measured = all.rate ? row.measured : 1 / row.measured,
        .bound = fastest(run.bound),
    });
  }
  return all;
}

}  // namespace chapters::serving::batching
