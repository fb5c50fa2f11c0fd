#include <algorithm>
#include <cmath>
#include <numeric>

#include "chapters/roofline/iron_law/lab.h"
#include "widgets/number/number.h"

namespace chapters::roofline::iron_law {
namespace {

using models::Combine, models::IronPart, models::IronTime, widgets::format_text;

constexpr std::string_view part_names[] = {"memory", "compute", "latency"};

Parts exposed_parts(Combine combine, const IronTime& time) {
  Parts out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = models::exposed_s(combine, time, static_cast<IronPart>(i));
  return out;
}

WaterfallRow row_of(std::string label, Combine combine, const IronTime& time) {
  WaterfallRow row;
  row.label = std::move(label);
  row.text = format_text(time.time_s, "s");
  row.seen = exposed_parts(combine, time);
  row.total_s = time.time_s;
  for (std::size_t i = 0; i < row.seen.size(); ++i) {
    const auto part = static_cast<IronPart>(i);
    if (!(row.seen[i] < models::part_s(time, part))) continue;
    row.hidden = part;
    row.hidden_s = models::part_s(time, part);
  }
  return row;
}

/// What a technique took off each part, scaled so that it adds up to what the whole lost.
void compare(const Parts& before, double change_s, WaterfallRow& row) {
  if (std::abs(change_s) <= 1e-12 * row.total_s) {  // rounding
    row.text = "no change";
    return;
  }
  row.text = (change_s > 0 ? "+" : change_s < 0 ? "\xE2\x88\x92" : "") + format_text(std::abs(change_s), "s");
  if (change_s > 0) row.added_s = change_s;
  if (!(change_s < 0)) return;
  double fell = 0;
  for (std::size_t i = 0; i < before.size(); ++i) fell += std::max(before[i] - row.seen[i], 0.0);
  for (std::size_t i = 0; i < before.size(); ++i)
    row.taken[i] = fell > 0 ? std::max(before[i] - row.seen[i], 0.0) * -change_s / fell : 0;
}

void arrange_rows(const Inputs& in, const Outputs& out, Picture& pic) {
  pic.rows.push_back(row_of("before", in.combine, out.before));
  for (const StepRow& step : out.steps) {
    const Parts before = pic.rows.back().seen;
    pic.rows.push_back(row_of(step.technique, step.effect.law.combine, step.effect.after));
    pic.rows.back().info = step.effect.technique->why;
    compare(before, -step.saved_s, pic.rows.back());
  }
  if (!out.steps.empty()) {
    pic.rows.push_back(row_of("now", out.law.combine, out.now));
    const double ratio = std::max(out.speedup, 1 / out.speedup);
    if (ratio > 1.005) pic.rows.back().text += ", " + format_text(out.speedup, widgets::times_unit, 3) + " as fast";
  }
  pic.rows.front().strong = pic.rows.back().strong = true;
  for (const WaterfallRow& row : pic.rows) pic.longest_s = std::max({pic.longest_s, row.total_s, row.hidden_s});
  for (std::size_t i = 0; i < pic.parts.size(); ++i) {
    const auto part = static_cast<IronPart>(i);
    const double was = models::part_s(out.before, part), is = models::part_s(out.now, part);
    pic.parts[i] = std::string(part_names[i]) + " " + format_text(was, "s");
    if (was != is) pic.parts[i] += " to " + format_text(is, "s");
    if (models::exposed_s(out.law, out.now, part) < is) pic.parts[i] += ", hidden";
  }
}

void arrange_presses(const Outputs& out, Picture& pic) {
  pic.order.resize(out.rows.size());
  std::iota(pic.order.begin(), pic.order.end(), std::size_t{0});
  std::stable_sort(pic.order.begin(), pic.order.end(),
                   [&](std::size_t a, std::size_t b) { return out.rows[a].alone.speedup > out.rows[b].alone.speedup; });
  for (const TechniqueRow& row : out.rows) {
    const double time_s = row.on ? out.now.time_s * row.speedup_now : out.now.time_s / row.speedup_now;
    Press press{time_s, (row.on ? "without " : "with ") + row.technique + ": " + format_text(time_s, "s")};
    for (std::size_t i = 0; i < press.helps.size(); ++i)
      press.helps[i] = models::helps(static_cast<models::IronTerm>(i), row.alone.factor[i]);
    pic.presses.push_back(std::move(press));
  }
}

/// "Memory falls to `2.64 ms`, latency to ...", and `with_rest` "; compute stays at ..."; empty where nothing moves.
std::string moved_parts(const Outputs& out, bool with_rest) {
  std::string moved, stays, last_way;
  for (std::size_t i = 0; i < models::iron_part_count; ++i) {
    const auto part = static_cast<IronPart>(i);
    const double was = models::part_s(out.before, part), is = models::part_s(out.now, part);
    const std::string name(part_names[i]);
    if (was == is) {
      stays += (stays.empty() ? name + " stays at " : ", " + name + " at ") + widgets::figure(is, "s");
      continue;
    }
    const std::string way = is < was ? " falls to " : " rises to ";
    moved += (moved.empty() ? "" : ", ") + name + (way == last_way ? " to " : way) + widgets::figure(is, "s");
    last_way = way;
  }
  if (moved.empty()) return {};
  if (!stays.empty() && with_rest) moved += "; " + stays;
  moved[0] = static_cast<char>(moved[0] - 'a' + 'A');
  return moved;
}

/// Whether every part that moved is hidden under a longer one.
bool moved_unseen(const Outputs& out) {
  for (std::size_t i = 0; i < models::iron_part_count; ++i) {
    const auto part = static_cast<IronPart>(i);
    const double is = models::part_s(out.now, part);
    if (models::part_s(out.before, part) != is && !(models::exposed_s(out.law, out.now, part) < is)) return false;
  }
  return true;
}

/// "8-bit weights and CUDA graphs"; only their number where there are many.
std::string technique_words(const Outputs& out) {
  // Within a sentence a name begins small, unless it is one of the field's own.
  const auto name_of = [](const std::string& name) {
    const bool own = name.starts_with("Tensor Cores") || name.size() < 2 || name[1] < 'a' || name[1] > 'z';
    return own ? name : std::string(1, static_cast<char>(name[0] - 'A' + 'a')) + name.substr(1);
  };
  if (out.steps.size() > 2) return "these " + format_text(static_cast<double>(out.steps.size()), "") + " techniques";
  std::string words;
  for (const StepRow& step : out.steps) words += (words.empty() ? "" : " and ") + name_of(step.technique);
  return words;
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  const double was = out.before.time_s, is = out.now.time_s;
  const bool same = std::abs(was - is) <= 5e-4 * was;
  const bool unseen = same && moved_unseen(out);
  const std::string moved = moved_parts(out, !unseen);
  const auto longest = static_cast<std::size_t>(out.now.dominant);
  const std::string now = widgets::figure(is, "s");
  std::string why;
  if (!moved.empty())
    why = moved + (unseen ? ", but that time was hidden under a longer term already." : ".");
  else if (out.law.combine != in.combine)
    why = "Memory and compute overlap, so only the longer of the two counts; no term itself changes.";
  else
    why = "If " + std::string(part_names[longest]) + " took no time, the whole would be " +
          (std::isfinite(out.bounds[longest]) ? widgets::figure(out.bounds[longest], widgets::times_unit) + " as fast."
                                              : "gone: nothing else takes time.");
  if (out.steps.empty())
    return "No technique is on: " + std::string(part_names[longest]) + " is the longest term, " +
           widgets::figure(models::part_s(out.now, out.now.dominant), "s") + " of " + now + ".\n" + why;
  if (same) return "With " + technique_words(out) + " the time stays " + now + ".\n" + why;
  return "With " + technique_words(out) + " the time is " + now + " instead of " + widgets::figure(was, "s") + ".\n" +
         why;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture pic;
  if (!out.reason.empty()) return pic;
  pic.given = format_text(in.bytes, "B") + " moved, " + format_text(in.flops, "FLOP") + ", " +
              format_text(in.overhead_s, "s") + " of latency";
  arrange_rows(in, out, pic);
  arrange_presses(out, pic);
  pic.answer = answer_of(in, out);
  return pic;
}

}  // namespace chapters::roofline::iron_law
