#include <algorithm>
#include <cmath>
#include <numeric>

#include "chapters/driving/jitter/lab.h"
#include "widgets/number/number.h"

namespace chapters::driving::jitter {
namespace {

using models::FrameFate;
using widgets::format_text;

constexpr std::size_t max_columns = 400, max_causes = 6, max_bins = 60;
constexpr double car_m = 4.5;

/// The source that most misses are owed to; empty where it is the undisturbed frame itself.
std::string_view chief_cause(const Outputs& out) {
  std::int64_t most = out.totals.own_misses;
  std::string_view name;
  for (const EffectRow& row : out.effects)
    if (row.hits.misses > most) {
      most = row.hits.misses;
      name = row.name;
    }
  return name;
}

/// A source's name within a sentence: lower case unless it begins with an abbreviation, at most 40 bytes of it.
std::string within_sentence(std::string_view name) {
  const auto upper = [&](std::size_t i) { return i < name.size() && name[i] >= 'A' && name[i] <= 'Z'; };
  constexpr std::size_t longest = 40;
  std::size_t end = std::min(name.size(), longest);
  while (end < name.size() && end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  std::string text(name.substr(0, end));
  if (end < name.size()) text += "\xE2\x80\xA6";
  if (upper(0) && !upper(1)) text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

/// "a frame needs `100 ms` and gets `33.3 ms`", or that it is longer where both read the same.
std::string needs_text(const Outputs& out) {
  for (const int digits : {3, 4})
    if (format_text(out.needs_s, "s", digits) != format_text(out.deadline_s, "s", digits))
      return "a frame needs " + widgets::figure(out.needs_s, "s", digits) + " and gets " +
             widgets::figure(out.deadline_s, "s", digits);
  return "a frame needs a little more than the " + widgets::figure(out.deadline_s, "s") + " that it gets";
}

/// No frame is in time, because each needs longer than a period or because the watchdog gives it less.
std::string all_missed_text(const Inputs& in, const Outputs& out) {
  const std::string blind = "The car drives blind all the way: ";
  if (out.needs_s > out.deadline_s) return blind + needs_text(out) + ".";
  if (in.policy == models::JitterPolicy::reuse && out.needs_s > in.watchdog / 100 * out.deadline_s)
    return blind + "a frame needs " + widgets::figure(out.needs_s, "s") + ", and the watchdog gives it up after " +
           widgets::figure(in.watchdog, "%") + " of " + widgets::figure(out.deadline_s, "s") + ".";
  return blind + "no frame of this run is in time.";
}

/// The second line: what the policy does, and what most misses are owed to.
std::string reason_of(const Inputs& in, const Outputs& out) {
  const std::string_view cause = chief_cause(out);
  const std::string most =
      "ain cause of misses: " + (cause.empty() ? "the undisturbed frame itself" : within_sentence(cause)) + ".";
  switch (in.policy) {
    case models::JitterPolicy::skip:
      return "Frames that arrive while the stack is busy are skipped; m" + most;
    case models::JitterPolicy::reuse:
      return "The last plan stands in for a frame that is late; m" + most;
    case models::JitterPolicy::small:
      return "The smaller model runs in " + widgets::figure(out.small_rate, "%") + " of the frames; m" + most;
    case models::JitterPolicy::wait:
      break;
  }
  return "M" + most.substr(0, most.size() - 1) + "; " + widgets::figure(out.misses_per_hour, "") + " per hour.";
}

/// How far the car drives without a fresh plan, and why.
std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string due = widgets::figure(out.deadline_s, "s"), mean = widgets::figure(out.summary.mean_s, "s");
  if (out.overloaded)
    return "The stack is overloaded: " + needs_text(out) + ", so the queue grows and the car stays blind.";
  if (out.misses == 0)
    return "The car never drives blind in this run: the slowest of " +
           widgets::figure(static_cast<double>(in.frames), "") + " frames takes " +
           widgets::figure(out.summary.worst_s, "s") + " of " + due + ".";
  if (out.misses == in.frames) return all_missed_text(in, out);
  const std::string blind = "The car drives up to " + widgets::figure(out.blind_worst_m, "m") + " blind";
  const std::string verdict = out.summary.mean_s <= out.deadline_s
                                  ? blind + ", although the average frame is in time (" + mean + " of " + due + ")."
                                  : blind + ": the average frame takes " + mean + " and is due in " + due + ".";
  return verdict + "\n" + reason_of(in, out);
}

std::string_view cause_name(const Inputs& in, std::uint8_t cause) {
  return cause < in.sources.size() ? std::string_view(in.sources[cause].name) : std::string_view("undisturbed frames");
}

/// The road about the longest blind stretch, with the frames on it. A run without misses shows its first frames.
void arrange_road(const Inputs& in, const Outputs& out, const models::JitterRun& run, Picture& picture) {
  const std::size_t n = run.fate.size();
  const auto missed = [&](std::size_t i) { return run.fate[i] != FrameFate::fresh; };
  // Where the car goes blind, or the slowest frame where it never does; distances count from there.
  const auto slowest = std::max_element(run.response_s.begin(), run.response_s.end()) - run.response_s.begin();
  const auto at = static_cast<std::size_t>(run.misses() > 0 ? run.longest_missed_first : slowest);
  const double frame_m = out.frame_m, worst_m = static_cast<double>(run.longest_missed_run) * frame_m,
               interest_m = std::max(worst_m, frame_m), visible_m = std::max(3 * interest_m, 6 * car_m),
               start_m = static_cast<double>(at) * frame_m, middle_m = start_m + interest_m / 2,
               from_m = middle_m - visible_m / 2, to_m = middle_m + visible_m / 2;
  picture.from_m = from_m - start_m;
  picture.to_m = to_m - start_m;
  const auto frame_at = [&](double m) {
    return static_cast<std::size_t>(std::clamp(std::floor(m / frame_m), 0.0, static_cast<double>(n)));
  };
  const std::size_t first = frame_at(from_m), last = std::min(n, frame_at(to_m) + 1);
  if (run.misses() == 0) {
    picture.stretches.push_back({.from_m = 0, .length_m = frame_m, .info = "one frame"});
    picture.worst = 0;
  }
  for (std::size_t i = first; i < last;) {
    std::size_t end = i + 1;
    while (end < last && missed(end) == missed(i)) ++end;
    if (missed(i)) {
      if (i == at) picture.worst = static_cast<std::int64_t>(picture.stretches.size());
      picture.stretches.push_back({.from_m = static_cast<double>(i) * frame_m - start_m,
                                   .length_m = static_cast<double>(end - i) * frame_m,
                                   .blind = true});
    }
    i = end;
  }
  const std::size_t step = std::max<std::size_t>(1, (last - first + max_columns - 1) / max_columns);
  for (std::size_t i = first; i < last; i += step) {
    const std::size_t end = std::min(last, i + step);
    FrameColumn column{.from_m = static_cast<double>(i) * frame_m - start_m,
                       .to_m = static_cast<double>(end) * frame_m - start_m};
    for (std::size_t k = i; k < end; ++k) {
      column.response_s = std::max(column.response_s, static_cast<double>(run.response_s[k]));
      if (column.fate == FrameFate::fresh) column.fate = run.fate[k];
    }
    picture.slowest_s = std::max(picture.slowest_s, column.response_s);
    picture.columns.push_back(column);
  }
  picture.lines[0] = "Response of each frame: at most " + format_text(picture.slowest_s, "s") + " here";
  if (run.misses() > 0) picture.lines[0] += ", set off by " + within_sentence(cause_name(in, run.cause[at]));
  const auto shown = [&](FrameFate fate) {
    return std::any_of(picture.columns.begin(), picture.columns.end(),
                       [fate](const FrameColumn& column) { return column.fate == fate; });
  };
  if (shown(FrameFate::skipped))
    picture.lines[0] += "; hatched: skipped";
  else if (shown(FrameFate::reused))
    picture.lines[0] += "; hatched: given up, the last plan is used";
  picture.slowest_s = std::max(picture.slowest_s, 1.2 * out.deadline_s);
}

/// Misses a minute over the run, by what they are owed to.
void arrange_causes(const Inputs& in, const Outputs& out, const models::JitterRun& run, Picture& picture) {
  std::vector<std::pair<std::int64_t, std::uint8_t>> order;
  for (std::size_t k = 0; k < out.effects.size(); ++k)
    order.emplace_back(out.effects[k].hits.misses, static_cast<std::uint8_t>(k));
  order.emplace_back(out.totals.own_misses, models::own_jitter_cause);
  std::erase_if(order, [](const auto& o) { return o.first == 0; });
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::uint8_t> place_of(256, 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t place = std::min(i, max_causes - 1);
    place_of[order[i].second] = static_cast<std::uint8_t>(place);
    const bool several = order.size() > max_causes && place == max_causes - 1;
    if (place < picture.causes.size()) continue;
    picture.causes.emplace_back(several ? std::string_view("others") : cause_name(in, order[i].second));
  }
  for (const std::string& name : picture.causes) picture.cause_labels.emplace_back(name);
  if (picture.causes.empty()) return;
  const double whole_minutes = std::ceil(picture.length_s / 60);
  const auto bins = static_cast<std::size_t>(std::clamp(whole_minutes, 12.0, static_cast<double>(max_bins)));
  const double width_s = picture.length_s / static_cast<double>(bins);
  for (std::size_t b = 0; b < bins; ++b) picture.minute_s.push_back((static_cast<double>(b) + 0.5) * width_s);
  picture.misses_per_minute.assign(bins * picture.causes.size(), 0);
  std::vector<double> total(bins, 0);
  for (std::size_t i = 0; i < run.cause.size(); ++i) {
    if (run.cause[i] == models::no_jitter_cause) continue;
    const std::size_t bin = std::min(bins - 1, i * bins / run.cause.size());
    picture.misses_per_minute[place_of[run.cause[i]] * bins + bin] += 60 / width_s;
    total[bin] += 60 / width_s;
  }
  picture.most_per_minute = *std::max_element(total.begin(), total.end());
}

void arrange_sources(const Inputs& in, const Outputs& out, Picture& picture) {
  for (std::size_t k = 0; k < out.effects.size(); ++k)
    if (in.sources[k].on) picture.source_names.push_back(out.effects[k].name);
  std::size_t place = 0;
  for (std::size_t k = 0; k < out.effects.size(); ++k) {
    if (!in.sources[k].on) continue;
    const double change_s = -out.effects[k].p99_saved_s;
    picture.sources.push_back({
        .label = picture.source_names[place++],
        .alone = {std::min(0.0, change_s), std::max(0.0, change_s)},
        .info = "P99 with this source switched off, and all other luck the same",
    });
  }
  const auto moves = [](const EffectRow& row) { return std::abs(row.p99_saved_s) > 0; };
  if (!out.effects.empty() && std::none_of(out.effects.begin(), out.effects.end(), moves))
    picture.no_source_moves_p99 =
        "P99 is " + format_text(out.summary.p99_s, "s", 3) + " whichever one of the sources is switched off" +
        (in.policy == models::JitterPolicy::reuse ? ": no answer takes longer than the watchdog waits." : ".");
}

void arrange_distribution(const models::JitterDistribution& d, Picture& picture) {
  picture.histogram = {.kind = widgets::Curve::Kind::steps,
                       .label = "share of answers",
                       .info = "120 bins up to P99.9; the last holds what is slower",
                       .tint = widgets::Tint::series(0),
                       .named = false,
                       .legend = false,
                       .x = d.bin_s,
                       .y = d.bin_share};
  picture.tail = {.label = "frames slower than this",
                  .info = "share of answered frames that take longer",
                  .tint = widgets::Tint::series(0),
                  .width = 2.5f,
                  .named = false,
                  .legend = false,
                  .x = d.tail_s,
                  .y = d.tail_share};
}

/// What was measured stands over a run of the same median.
void arrange_measured(const Inputs& in, Picture& picture) {
  if (in.frame_shape != models::FrameShape::lidar ||
      std::abs(in.base_s - models::lidar_median_s) > 1e-3 * models::lidar_median_s)
    return;
  picture.measured = {.kind = widgets::Curve::Kind::dots,
                      .label = "measured on Orin",
                      .info = "CenterPoint's backbone in FP16, 6,019 frames, nothing disturbed",
                      .tint = widgets::Tint::strong(),
                      .marker = widgets::Marker::square,
                      .radius = 4};
  for (const double share : {0.9, 0.99, 0.999})
    picture.measured.add(models::lidar_frame_quantile(share) * models::lidar_median_s, 100 * (1 - share));
  picture.measured.labels = {"measured P90", "", ""};
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture picture;
  if (!out.reason.empty() || run.frames.response_s.empty()) return picture;
  picture.doors = doors_of(in, out);
  picture.answer = answer_of(in, out);
  picture.length_s = static_cast<double>(in.frames) * out.deadline_s;
  for (const auto& source : in.sources) picture.source_causes.push_back(source.name);
  picture.source_causes.emplace_back("undisturbed");
  arrange_distribution(run.distribution, picture);
  arrange_measured(in, picture);
  const std::vector<double>& shares = run.distribution.tail_share;
  if (!shares.empty()) picture.min_tail_share = *std::min_element(shares.begin(), shares.end());
  // The right end moves in few steps, so that pictures of several settings compare.
  picture.histogram_s = 2 * out.deadline_s;
  while (!out.overloaded && picture.histogram_s < out.summary.p999_s) picture.histogram_s *= 2;
  if (out.overloaded) {
    picture.lines[1] = "Each frame waits " + format_text(out.needs_s - out.deadline_s, "s") + " longer than the last.";
    return picture;
  }
  arrange_road(in, out, run.frames, picture);
  arrange_causes(in, out, run.frames, picture);
  arrange_sources(in, out, picture);
  return picture;
}

}  // namespace chapters::driving::jitter
