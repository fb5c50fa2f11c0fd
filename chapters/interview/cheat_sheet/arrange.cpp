#include <algorithm>
#include <cctype>
#include <cmath>

#include "chapters/interview/cheat_sheet/lab.h"
#include "chapters/mechanism/link_writer.h"
#include "widgets/number/number.h"

namespace chapters::interview::cheat_sheet {
namespace {

using models::sheet::Moved, models::sheet::moved_count;

std::string small_letters(std::string_view text) {
  std::string all(text);
  for (char& c : all) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return all;
}

/// Less than one in two hundred is not worth a place in the matrix.
bool moves(double factor) { return !(std::abs(factor - 1) < 0.005); }

std::string plain_factor(double times) {
  return widgets::format_text(times, "", times < 1.2 ? 3 : times < 1000 ? 2 : 3);
}

Cell cell_of(double factor, Moved moved) {
  Cell cell;
  if (std::isnan(factor) || !moves(factor)) return cell;
  cell.sign = (factor > 1) == more_is_better(moved) ? 1 : -1;
  if (std::isinf(factor)) {
    cell.text = "new";
    cell.weight = 0.5f;
    return cell;
  }
  cell.text = plain_factor(factor < 1 ? 1 / factor : factor);
  cell.weight = static_cast<float>(std::clamp(std::abs(std::log(factor)) / std::log(64.0), 0.0, 1.0));
  cell.less = factor < 1;
  return cell;
}

void arrange_matrix(const Outputs& out, Picture& p) {
  const auto& words = technique_words();
  for (std::size_t i = 0; i < out.techniques.size(); ++i) {
    const TechniqueRow& r = out.techniques[i];
    const TechniqueWords& w = words[i];
    MatrixRow& row = p.rows.emplace_back();
    std::string moved;
    for (std::size_t c = 0; c < moved_count; ++c) {
      row.cells[c] = cell_of(r.factor[c], static_cast<Moved>(c));
      if (row.cells[c].sign == 0) continue;
      moved += (moved.empty() ? "" : ", ") + std::string(column_words()[c].head) + " " + factor_text(r.factor[c]);
    }
    row.known = r.why_not.empty();
    row.words = small_letters(std::string(w.name) + " " + std::string(w.when) + " " + std::string(w.when_not) + " " +
                              std::string(w.measure) + " " + std::string(w.quality) + " " + r.side);
    row.tip_name = w.name;
    row.tip_value = row.known ? moved : r.why_not;
    row.tip_info = "When: " + std::string(w.when) + ".\nNot when: " + std::string(w.when_not) +
                   ".\nMeasure: " + std::string(w.measure) + ".\nQuality: " + std::string(w.quality) + ".";
  }
}

/// Every level's time for the bytes, and the wait for the first of them, on one axis of seconds.
void arrange_ladder(const Inputs& in, const Outputs& out, Picture& p) {
  double lo = std::numeric_limits<double>::infinity(), hi = 0;
  const auto add = [&](const LevelRow& r, bool latency) {
    const double seconds = latency ? r.latency_s : r.time_s;
    if (!(seconds > 0)) return;
    LadderMark& mark = p.ladder.emplace_back();
    mark.name = r.level;
    mark.seconds = seconds;
    mark.latency = latency;
    mark.words_shown = r.level + " " + widgets::format_text(seconds, "s", 2);
    mark.tip =
        latency ? "first byte after " + widgets::format_text(seconds, "s") : widgets::format_text(r.bytes_per_s, "B/s");
    if (latency && !(r.time_s > 0)) mark.tip = widgets::format_text(seconds, "s") + " for the call";
    mark.source = latency ? r.latency_source : r.bandwidth_source;
    mark.words = small_letters(r.level + " " + mark.source + (latency ? " latency" : " bandwidth"));
    lo = std::min(lo, seconds);
    hi = std::max(hi, seconds);
  };
  for (const LevelRow& r : out.levels) add(r, false);
  for (const LevelRow& r : out.levels) add(r, true);
  std::stable_sort(p.ladder.begin(), p.ladder.end(),
                   [](const LadderMark& a, const LadderMark& b) { return a.seconds < b.seconds; });
  p.ladder_lo = std::pow(10, std::floor(std::log10(lo) - 0.2));
  p.ladder_hi = std::pow(10, std::ceil(std::log10(hi) + 0.2));
  for (double tick = p.ladder_lo; tick < 1.5 * p.ladder_hi; tick *= 10)
    p.ladder_ticks.push_back(widgets::format_text(tick, "s", 1));
  p.bytes_words = widgets::format_text(in.bytes, "B");
}

void arrange_chains(const Outputs& out, Picture& p) {
  for (const ChainWords& of : chain_words()) {
    Chain& chain = p.chains.emplace_back();
    chain.name = of.title;
    chain.from = of.from;
    chain.goal = of.goal;
    for (const ChainRow& r : out.chains) {
      if (r.chain != of.name) continue;
      chain.steps.push_back(r.step);
      chain.gains.push_back(std::isinf(r.gain) ? "all of it" : widgets::format_text(r.gain, widgets::times_unit, 3));
      chain.reaches.push_back(r.reaches);
      chain.words += small_letters(r.step) + " ";
    }
  }
}

}  // namespace

std::string factor_text(double factor) {
  if (std::isnan(factor)) return "-";
  if (!moves(factor)) return "";
  if (std::isinf(factor)) return "new";
  return factor < 1 ? "\xC3\xB7" + plain_factor(1 / factor) : "\xC3\x97" + plain_factor(factor);
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  using widgets::figure;
  const Sums& s = out.sums;
  const auto batch = static_cast<double>(in.batch);
  if (!out.holds(in))
    return "Does not fit: " +
           (in.batch > 1 ? "memory holds " + figure(s.fits, "") + " of " + figure(batch, "") + " requests"
                         : std::string("weights and one request are more than the memory")) +
           ". At the least a token would take " + figure(s.token_s, "s") + ", a prompt " + figure(s.prompt_s, "s") +
           ".\nA token's cache holds " + figure(s.cache_token_bytes, "B") + "; in training the states hold " +
           figure(s.state_bytes, "B") + ".";
  return "At the least a token takes " + figure(s.token_s, "s") + " and a prompt " + figure(s.prompt_s, "s") +
         "; a token's cache holds " + figure(s.cache_token_bytes, "B") + ".\nIn training the states hold " +
         figure(s.state_bytes, "B") + ", and saving every " + figure(s.save_every_s, "s") + " keeps most of the clock.";
}

std::string link_to(const Inputs& in, const Outputs& out, std::string_view lab) {
  LinkWriter w(lab);
  // A key that the lab does not have is left out.
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  w.number("batch", static_cast<double>(in.batch));
  w.number("context", static_cast<double>(in.context));
  w.number("tensor_parallel", static_cast<double>(in.tensor_parallel));
  w.number("prompt", in.prompt_tokens);
  w.number("prompt_tokens", in.prompt_tokens);
  w.number("answer", in.output_tokens);
  w.number("output_tokens", in.output_tokens);
  w.number("acceptance", in.acceptance);
  w.number("draft_length", static_cast<double>(in.draft_length));
  w.number("chunk_tokens", static_cast<double>(in.chunk_tokens));
  if (lab.starts_with("fleet/")) {
    w.number("gpus", static_cast<double>(in.gpus));
    w.number("tokens", in.tokens);
    w.number("mfu", in.mfu);
    w.number("save_s", in.save_s);
    w.number("mtbf_s", out.sums.mtbf_s);
  }
  if (lab.starts_with("training/") || lab.starts_with("distributed/") || lab.starts_with("framework/"))
    w.number("sequence", static_cast<double>(in.sequence));
  return w.text();
}

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = answer_of(in, out);
  p.case_words = run.model_name + " on " + widgets::format_text(static_cast<double>(in.tensor_parallel), "") +
                 " \xC3\x97 " + run.chip_name + (out.holds(in) ? "" : ", does not fit") + "; batch " +
                 widgets::format_text(static_cast<double>(in.batch), "") + "; each technique alone";
  arrange_matrix(out, p);
  p.words.assign(technique_words().begin(), technique_words().end());
  p.sums = sum_lines(in, out, run);
  for (const SumLine& line : p.sums) p.sum_words.push_back(small_letters(std::string(line.name) + " " + line.text()));
  arrange_ladder(in, out, p);
  arrange_chains(out, p);
  if (const auto page = document_of(out, run)) p.markdown = *page.value;
  return p;
}

}  // namespace chapters::interview::cheat_sheet
