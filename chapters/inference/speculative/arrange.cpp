#include <algorithm>
#include <cmath>

#include "chapters/inference/speculative/lab.h"
#include "widgets/number/number.h"

namespace chapters::inference::speculative {
namespace {

using widgets::Curve, widgets::figure, widgets::format_text;

std::string times(double x) { return figure(x, widgets::times_unit); }

widgets::Tint tint_of(std::size_t i) { return i == 0 ? widgets::Tint::yours() : widgets::Tint::series(i); }

/// "`3.60` tokens", "`1` token"
std::string many(double n, const char* one) {
  const std::string written = figure(n, "");
  return written + " " + one + (written == "`1`" ? "" : one[0] == 'p' ? "es" : "s");
}

/// How fast yours is, next to another draft.
std::string verdict_of(const Inputs& in, const Outputs& out) {
  if (in.draft_length == 0) return "Without a draft every pass of the target writes one token.";
  const std::string yours = "Your draft of " + many(static_cast<double>(in.draft_length), "token") +
                            " makes the answer " + times(out.speedup) + " as fast";
  if (out.drafts.size() == 1) return yours + ".";
  const bool mine = out.fastest == out.drafts.front().name;
  const std::string likeliest = "the one that is right most often " + times(out.likeliest_speedup) + ".";
  if (mine || out.fastest_speedup == out.likeliest_speedup)
    return yours + (mine ? ", the fastest; of the others " : "; ") + likeliest;
  return yours + "; the fastest " + times(out.fastest_speedup) + ", " + likeliest;
}

/// What a round costs and yields, or why the draft does harm.
std::string reason_of(const Inputs& in, const Outputs& out) {
  if (in.draft_length == 0) return "A draft pays as long as it is kept more often than it costs.";
  const std::string cost = many(out.round_passes, "pass"), yield = many(out.expected_tokens, "token");
  if (out.fits_batch < static_cast<double>(in.batch) && in.price_check)
    return "But of " + many(static_cast<double>(in.batch), "request") + " only " + figure(out.fits_batch, "") +
           " would fit on these chips in BF16.";
  if (out.speedup < 1 && out.verify_cost > 1.005)
    return "A pass that checks costs " + times(out.verify_cost) + " a plain one" +
           (out.best_draft_length > 0
                ? ": guess " + many(out.best_draft_length, "token") + ", " + times(out.best_speedup) + "."
                : ": switch the draft off.");
  if (out.speedup < 1) return "A round costs " + cost + " and writes " + yield + ": the draft costs too much.";
  if (in.batch > 1)
    return "With a batch of " + figure(static_cast<double>(in.batch), "") + " a round costs " + cost + " and writes " +
           yield + ".";
  return "A round costs " + cost + " and writes " + yield + ", " + figure(out.simulated_tokens, "") +
         " in the rounds that were run.";
}

void arrange_lanes(const Outputs& out, const Run& run, Picture& p) {
  SpecLane plain{.name = "plain", .detail = "a token per pass", .tint = widgets::Tint::strong()};
  for (int i = 0; i < static_cast<int>(p.passes); ++i)
    plain.shown.push_back({.start = static_cast<double>(i), .end = static_cast<double>(i + 1)});
  plain.tokens = format_text(p.passes, "") + " tokens";
  p.lanes.push_back(std::move(plain));
  for (std::size_t i = 0; i < run.runs.size(); ++i) {
    const DraftRow& d = out.drafts[i];
    SpecLane lane{.name = d.name,
                  .detail = format_text(d.acceptance, "", 2) + " kept, cost " + format_text(d.cost, "", 2),
                  .tint = tint_of(i),
                  .length = d.length,
                  .cost = d.cost};
    std::int64_t tokens = 0;
    for (const models::inference::SpeculativeRound& r : run.runs[i].rounds) {
      if (r.end > p.passes) break;
      lane.shown.push_back(r);
      tokens += r.kept + 1;
    }
    lane.tokens = format_text(static_cast<double>(tokens), "") + " tokens";
    lane.rounds = "on average " + format_text(d.speedup * p.passes, "");
    p.lanes.push_back(std::move(lane));
  }
}

void arrange_lengths(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  for (std::size_t i = 0; i < run.speedups.size(); ++i) {
    const DraftRow& d = out.drafts[i];
    Curve line{.label = d.name,
               .info = "tokens per round / cost of a round",
               .output = i == 0 ? "speedup" : "",
               .tint = tint_of(i),
               .width = i == 0 ? 3.0f : 1.5f};
    Curve dots{.kind = Curve::Kind::dots,
               .label = d.name + ", simulated",
               .tint = tint_of(i),
               .alpha = 0.6f,
               .radius = 3,
               .legend = false};
    for (std::size_t k = 0; k < run.lengths.size(); ++k) {
      line.add(run.lengths[k], run.speedups[i][k]);
      if (k % 2 == 0) dots.add(run.lengths[k], run.simulated[i][k / 2]);
    }
    p.by_length.push_back(std::move(line));
    p.by_length.push_back(std::move(dots));
    if (!std::isfinite(d.measured_speedup)) continue;
    Curve seen{.kind = Curve::Kind::dots,
               .label = d.name + ", measured",
               .info = d.source,
               .tint = tint_of(i),
               .marker = widgets::Marker::square,
               .radius = 6};
    seen.add(d.length, d.measured_speedup);
    p.by_length.push_back(std::move(seen));
  }
  Curve now{.kind = Curve::Kind::dots,
            .label = "now",
            .output = "speedup",
            .tint = widgets::Tint::yours(),
            .radius = 7,
            .legend = false};
  now.add(static_cast<double>(in.draft_length), out.speedup);
  p.by_length.push_back(std::move(now));
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || out.drafts.empty()) return p;
  p.answer = verdict_of(in, out) + "\n" + reason_of(in, out);
  if (run.runs.empty()) return p;
  arrange_lanes(out, run, p);
  arrange_lengths(in, out, run, p);
  Curve batch{
      .label = "speed-up of your draft", .info = "with the checking pass at the roofs", .tint = widgets::Tint::yours()};
  for (std::size_t i = 0; i < run.batches.size(); ++i) batch.add(run.batches[i], run.batch_speedups[i]);
  p.by_batch.push_back(std::move(batch));
  p.target_share = run.target_share;
  p.written_share = run.written_share;
  for (std::size_t i = 0; i < run.target_share.size(); ++i) p.words.push_back(static_cast<double>(i + 1));
  p.words_say = "A toy language of twelve words: what was written is " + format_text(std::abs(out.chi_z), "", 2) +
                " standard deviations from what the target alone would write.";
  return p;
}

}  // namespace chapters::inference::speculative
