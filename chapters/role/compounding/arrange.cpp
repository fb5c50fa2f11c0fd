#include <algorithm>

#include "chapters/role/compounding/lab.h"
#include "widgets/number/number.h"

namespace chapters::role::compounding {
namespace {

using widgets::format_text;

std::string times_text(double factor) { return format_text(factor, widgets::times_unit); }

/// "2 x 2 x 2 = 8".
std::string product_words(const Outputs& out, bool own, double product) {
  std::string words;
  for (const StageRow& row : out.stages)
    words += (words.empty() ? "" : " \xC3\x97 ") + format_text(own ? row.own_factor : row.first_gain, "");
  return words + " = " + format_text(product, "");
}

/// What a product promises against what is.
std::string verdict_words(double product, double speedup) {
  const double promise = product / speedup;
  if (std::abs(promise - 1) < 0.005) return "holds here";
  return promise > 1 ? "promises too much" : "promises too little";
}

/// The loader's part stands last and grows to the right where faster work brings it out.
void place_slots(const Inputs& in, const Outputs& out, const models::SpeedupStack& stack, Picture& p) {
  double at = 0;
  const models::StackTimes& first = stack.stages.front().part_s;
  for (std::size_t i = 0; i < first.size(); ++i) {
    p.slot_s[i] = at;
    double most = first[i];
    for (const models::StackStage& stage : stack.stages) most = std::max(most, stage.part_s[i]);
    at += most;
  }
  p.longest_s =
      std::max({at, in.loader_beside ? in.data_s : 0.0, out.own_product_step_s, out.alone_product_step_s, 1e-9});
}

void add_rows(const Inputs& in, const Outputs& out, Picture& p) {
  p.rows.push_back({.name = "Before", .figure = format_text(out.base_s, "s")});
  if (in.loader_beside && in.data_s > 0) {
    p.rows.back().words = "loading takes " + format_text(in.data_s, "s") + " meanwhile";
    p.rows.back().meanwhile_s = in.data_s;
  }
  std::size_t stage = 0;
  for (const std::size_t i : order_of(in)) {
    const Technique& t = in.techniques[i];
    BarRow row{.name = std::string(technique_name(i)), .technique = static_cast<std::int64_t>(i), .on = t.on};
    if (t.on) {
      const StageRow& gain = out.stages[stage++];
      row.words = times_text(t.factor) + " on " + std::string(touched_words(t.touches));
      row.figure = times_text(gain.gain);
      if (gain.saved_s != 0)
        row.figure +=
            std::string(gain.saved_s < 0 ? ", +" : ", \xE2\x88\x92") + format_text(std::abs(gain.saved_s), "s");
    } else {
      row.words = "off: click to add it";
    }
    row.stage = stage;
    p.rows.push_back(std::move(row));
  }
  p.rows.push_back({.name = "After",
                    .words = times_text(out.speedup) + " as fast",
                    .figure = format_text(out.step_s, "s"),
                    .stage = stage,
                    .packed = true});
  if (out.stages.size() < 2) return;
  p.rows.push_back({.name = "Own factors, multiplied",
                    .words = product_words(out, true, out.own_product),
                    .figure = format_text(out.own_product_step_s, "s"),
                    .ghost = true,
                    .ghost_s = out.own_product_step_s,
                    .verdict = verdict_words(out.own_product, out.speedup)});
  p.rows.push_back({.name = "Gains alone, multiplied",
                    .words = product_words(out, false, out.alone_product),
                    .figure = format_text(out.alone_product_step_s, "s"),
                    .ghost = true,
                    .ghost_s = out.alone_product_step_s,
                    .verdict = verdict_words(out.alone_product, out.speedup)});
}

std::string times_figure(double factor) { return widgets::figure(times_text(factor)); }

/// The orders in words; the listed one needs none.
constexpr std::string_view order_words[] = {"", "In reverse order", "Largest first", "Smallest first", "In your order"};
static_assert(std::size(order_words) == order_count);

/// Why it is not more: what the place in the order does where another one than the listed was asked for, else the cap.
std::string why_of(const Inputs& in, const Outputs& out) {
  const StageRow& last = out.stages.back();
  if (in.order != Order::listed && out.stages.size() > 1 && std::abs(last.gain / last.first_gain - 1) > 0.005)
    return std::string(order_words[static_cast<std::size_t>(in.order)]) + ", the last (" + last.name + ") gains " +
           times_figure(last.gain) + ", not the " + times_figure(last.first_gain) +
           " it would as the first; the end is the same.";
  if (!std::isfinite(out.ceiling)) return "Every part is touched, so nothing caps what a larger factor could give.";
  return "The untouched " + widgets::figure(out.untouched_share, "%") + " of the step before caps any speed-up at " +
         times_figure(out.ceiling) + ".";
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (out.stages.empty())
    return "No technique is on: the step takes " + widgets::figure(out.base_s, "s") +
           ".\nSwitch one on to see what it takes off.";
  const std::string step = widgets::figure(out.step_s, "s") + " instead of " + widgets::figure(out.base_s, "s");
  const std::string why = ".\n" + why_of(in, out);
  if (out.stages.size() == 1) {
    const auto order = order_of(in);
    const std::size_t only = *std::find_if(order.begin(), order.end(), [&](auto i) { return in.techniques[i].on; });
    return out.stages.front().name + " is " + times_figure(in.techniques[only].factor) + " on " +
           std::string(touched_words(in.techniques[only].touches)) + " and makes the step " +
           times_figure(out.speedup) + " as fast: " + step + why;
  }
  const std::string answer = "The step is " + times_figure(out.speedup) + " as fast";
  if (std::abs(out.own_product / out.speedup - 1) < 0.005)
    return answer + ", as its factors multiply to: " + step + why;
  return answer + ", not the " + times_figure(out.own_product) + " that its factors multiply to: " + step + why;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  place_slots(in, out, run.stack, p);
  add_rows(in, out, p);
  p.answer = answer_of(in, out);
  return p;
}

}  // namespace chapters::role::compounding
