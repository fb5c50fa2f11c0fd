#include <algorithm>
#include <cmath>
#include <cstdio>

#include "chapters/inference/state_space/lab.h"
#include "chapters/mechanism/short_name.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::inference::state_space {

using widgets::Curve, widgets::figure, widgets::format_text, widgets::Meaning, widgets::Tint;

namespace {

std::string value_letter(std::int32_t value) { return std::string(1, static_cast<char>('A' + value)); }

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", share);
  return text;
}

std::int32_t said(const std::vector<float>& all, std::size_t token) {
  const auto from = all.begin() + static_cast<std::ptrdiff_t>(token * value_count);
  return static_cast<std::int32_t>(std::max_element(from, from + static_cast<std::ptrdiff_t>(value_count)) - from);
}

Curve line(std::string label, std::string output, Tint tint, const std::vector<double>& x,
           const std::vector<double>& y) {
  Curve c{.label = std::move(label), .output = std::move(output), .tint = tint};
  c.named = tint == Tint::yours();
  c.x = x;
  c.y = y;
  return c;
}

void arrange_costs(const Outputs& out, const Run& run, Picture& p) {
  for (std::size_t i = 0; i < run.other_names.size(); ++i) {
    Curve other = line(run.other_names[i], "", Tint::series(i), run.contexts, run.other_bytes[i]);
    other.named = false;
    other.width = 1.4f;
    p.bytes.push_back(std::move(other));
  }
  p.bytes.push_back(line("attention", "reference_bytes", Meaning::kv_cache, run.contexts, run.reference_bytes));
  p.bytes.push_back(line(out.model_name, "sequence_bytes", Tint::yours(), run.contexts, run.own_bytes));
  p.bytes_lo = 1e30;
  for (const Curve& c : p.bytes)
    for (const double y : c.y) {
      if (y > 0) p.bytes_lo = std::min(p.bytes_lo, y);
      p.bytes_hi = std::max(p.bytes_hi, y);
    }
  p.bytes_lo = std::max(1.0, p.bytes_lo / 2);
  p.bytes_hi *= 2;
  p.bytes_label = format_text(out.sequence_bytes, "B", 3);
  p.step.push_back(line("attention", "reference_step_s", Meaning::kv_cache, run.contexts, run.reference_step));
  p.step.push_back(line(out.model_name, "step_s", Tint::yours(), run.contexts, run.own_step));
  p.step_label = format_text(out.step_s, "s", 3);
  p.step_hi = 0;
  for (std::size_t i = 0; i < run.contexts.size(); ++i) p.step_hi = std::max({p.step_hi, run.own_step[i]});
  p.step_hi = 1.1 * std::max({2.5 * p.step_hi, out.step_s, out.reference_step_s});
  if (std::isfinite(out.crossing_tokens) && out.crossing_tokens >= 256 && out.crossing_tokens <= 1e6) {
    p.cross_at = out.crossing_tokens;
    p.cross_words = "equal at " + format_text(out.crossing_tokens, "", 3);
  }
}

void arrange_recall(const Outputs& out, const Run& run, Picture& p) {
  bool first = true;
  for (const RecallCurve& r : run.recall) {
    const bool attention = r.name == "attention", small = r.name == "window" || r.name == "heavy hitters";
    const Tint tint = first ? Tint::yours() : attention ? Tint(Meaning::kv_cache) : Tint::series(p.recall.size());
    Curve c = line(r.name, first ? "recall" : attention ? "attention_recall" : "", tint, run.pair_counts, r.share);
    c.dashed = small;
    c.named = false;
    c.width = first ? 2.5f : 1.6f;
    p.recall.push_back(std::move(c));
    first = false;
  }
  // Yours is painted last, above the others.
  std::rotate(p.recall.begin(), p.recall.begin() + 1, p.recall.end());
  p.recall_label = percent(out.recall);
}

void arrange_scan(const Outputs& out, const Run& run, Picture& p) {
  p.scan_note = "really run in FP32 over 256 tokens: error " + format_text(out.blocked_error, "", 2) + " in blocks, " +
                format_text(out.scan_error, "", 2) + " token by token";
  if (run.blocks.empty()) return;
  Curve matrix = line("matrix products", "", Meaning::compute_bound, run.blocks, run.block_matrix_s);
  Curve memory = line("traffic of states", "", Meaning::memory_bound, run.blocks, run.block_memory_s);
  matrix.dashed = memory.dashed = true;
  matrix.width = memory.width = 1.4f;
  Curve one{.label = "token by token", .output = "scan_s", .tint = Tint::strong()};
  one.add(run.blocks.front(), out.scan_s);
  one.add(run.blocks.back(), out.scan_s);
  p.scan = {std::move(matrix), std::move(memory), std::move(one),
            line("in blocks", "blocked_s", Tint::yours(), run.blocks, run.block_s)};
  p.scan_lo = 1e30;
  for (const Curve& c : p.scan)
    for (const double y : c.y) {
      p.scan_lo = std::min(p.scan_lo, y);
      p.scan_hi = std::max(p.scan_hi == 2 ? 0 : p.scan_hi, y);
    }
  p.scan_lo = std::max(p.scan_lo / 2, out.blocked_s / 30);
  p.scan_hi *= 2;
  p.scan_label = format_text(out.blocked_s, "s", 3);
}

}  // namespace

void arrange_stream(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const models::inference::RecallStream& s = run.stream;
  std::size_t pair = 0, last = 0;
  for (std::size_t t = 0; t < s.keys.size(); ++t) {
    TokenCell cell;
    cell.filler = s.keys[t] >= models::inference::recall_keys;
    if (!cell.filler) {
      cell.key = std::to_string(s.keys[t]);
      cell.value = value_letter(s.values[t]);
      cell.needle = static_cast<std::int64_t>(t) == run.needle_token;
      cell.stale = last >= s.places.size() || s.places[last] != static_cast<std::int32_t>(t);
      if (!cell.stale) ++last;
      const auto share = [&](const std::vector<double>& all) {
        return pair < all.size() && std::isfinite(all[pair]) ? static_cast<float>(all[pair]) : -1.0f;
      };
      cell.found = share(run.by_pair);
      cell.attention_found = share(run.attention_by_pair);
      ++pair;
    }
    p.cells.push_back(std::move(cell));
    p.attention_wrong.push_back(said(run.attention_says, t) != run.needle_value ? 1 : 0);
    p.state_wrong.push_back(said(run.state_says, t) != run.needle_value ? 1 : 0);
  }
  for (const float x : run.state_rows) p.row_peak = std::max(p.row_peak == 1 ? 1e-9f : p.row_peak, x);
  const auto verdict = [&](const std::vector<float>& says, double share) {
    const std::int32_t answer = said(says, s.keys.size() - 1);
    return Verdict{
        .says = value_letter(answer), .share = "found in " + percent(share), .right = answer == run.needle_value};
  };
  p.attention = verdict(run.attention_says, out.attention_needle);
  p.state = verdict(run.state_says, out.needle_recall);
  p.needle_words = "key " + std::to_string(run.needle_key) + " = " + value_letter(run.needle_value);
  p.cache_words = format_text(out.cache_kept, "", 3) + " numbers";
  p.state_words = format_text(out.state_kept, "", 3) + " numbers";
  p.stream_words = format_text(models::as_double(in.pairs), "") + " pairs";
  if (std::isfinite(out.lost_after))
    p.lost_words = (out.needle_found ? "wrong for a while, first after " : "first wrong after ") +
                   format_text(out.lost_after, "") + (out.lost_after == 1 ? " pair" : " pairs");
  while (p.lost_token < p.state_wrong.size() &&
         (p.state_wrong[p.lost_token] == 0 || static_cast<std::int64_t>(p.lost_token) <= run.needle_token))
    ++p.lost_token;
}

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (run.stream.keys.empty()) return p;
  p.answer = answer_of(in.shown, out);
  p.shown = in.shown;
  arrange_stream(in, out, run, p);
  arrange_costs(out, run, p);
  arrange_kept(in, out, run, p);
  arrange_recall(out, run, p);
  arrange_scan(out, run, p);
  p.doors = doors_of(in);
  return p;
}

}  // namespace chapters::inference::state_space
