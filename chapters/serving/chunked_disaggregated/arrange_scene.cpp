#include <algorithm>
#include <cmath>

#include "chapters/serving/chunked_disaggregated/lab.h"
#include "widgets/number/number.h"

/// A world as bands of ticks, one for each GPU, and its bill.
namespace chapters::serving::chunked_disaggregated {
namespace {

using models::PartingHistory, models::PartingPrompt, models::PartingReplica;
using widgets::format_text;

constexpr std::size_t max_bands = 8;
/// Ticks that a band may have; with more of them they are tones.
constexpr double max_ticks = 260;
constexpr double half_us = 0.5e-6;  ///< times are whole microseconds, but for their last bits
constexpr std::size_t tones = 240, tone_levels = 24;

struct Span {
  double from_s, until_s;
  float share(double time_s) const {
    return static_cast<float>(std::clamp((time_s - from_s) / (until_s - from_s), 0.0, 1.0));
  }
};

std::vector<float> ticks_of(const PartingReplica& r, const Span& span) {
  std::vector<float> out;
  for (const double time_s : r.token_s)
    if (time_s >= span.from_s && time_s <= span.until_s) out.push_back(span.share(time_s));
  return out;
}

/// Neighbouring tones of one level are one.
void add_tone(std::vector<Tone>& out, float from, float to, float level) {
  if (!out.empty() && out.back().level == level && out.back().to == from)
    out.back().to = to;
  else
    out.push_back({{from, to}, level});
}

/// In each column the share of its time that lies between tokens no further apart than in the calm, and less where they
/// are further apart.
std::vector<Tone> tones_of(const PartingReplica& r, const Span& span, double calm_gap_s) {
  std::vector<double> level(tones, 0);
  const double column_s = (span.until_s - span.from_s) / static_cast<double>(tones);
  for (std::size_t i = 1; i < r.token_s.size(); ++i) {
    const double from = (r.token_s[i - 1] - span.from_s) / column_s, to = (r.token_s[i] - span.from_s) / column_s,
                 pace = calm_gap_s / (r.token_s[i] - r.token_s[i - 1]);
    const auto first = static_cast<std::ptrdiff_t>(std::floor(std::max(0.0, from)));
    for (std::ptrdiff_t c = first; c < static_cast<std::ptrdiff_t>(tones) && static_cast<double>(c) < to; ++c) {
      const double part = std::min(to, static_cast<double>(c + 1)) - std::max(from, static_cast<double>(c));
      level[static_cast<std::size_t>(c)] += std::max(0.0, part) * std::min(1.0, pace);
    }
  }
  std::vector<Tone> out;
  for (std::size_t c = 0; c < tones; ++c) {
    const double step = std::round(level[c] * static_cast<double>(tone_levels)) / static_cast<double>(tone_levels);
    add_tone(out, static_cast<float>(c) / static_cast<float>(tones),
             static_cast<float>(c + 1) / static_cast<float>(tones), static_cast<float>(step));
  }
  return out;
}

PromptBar bar_of(const PartingPrompt& p, const PartingHistory& history, const Span& span, bool cut) {
  PromptBar bar;
  bar.from = span.share(p.start_s);
  bar.to = span.share(p.first_token_s);
  bar.lands = span.share(p.lands_s);
  bar.end = static_cast<float>((p.first_token_s - span.from_s) / (span.until_s - span.from_s));
  if (std::isfinite(p.sent_from_s)) bar.sent = {span.share(p.sent_from_s), span.share(p.sent_until_s)};
  if (!cut) return bar;
  for (const double time_s : history.replicas[static_cast<std::size_t>(p.reader)].token_s)
    if (time_s > p.start_s + half_us && time_s < p.first_token_s - half_us && time_s < span.until_s)
      bar.edges.push_back(span.share(time_s));
  return bar;
}

std::string users_text(std::int64_t n) { return std::to_string(n) + (n == 1 ? " user" : " users"); }

/// Times without a token that are wide enough to be seen and far longer than in the calm.
void add_holes(const PartingReplica& r, const Span& span, double calm_gap_s, Band& band) {
  for (std::size_t i = 1; i < r.token_s.size() && r.token_s[i - 1] < span.until_s; ++i) {
    const double from_s = r.token_s[i - 1], gap_s = r.token_s[i] - from_s;
    if (r.token_s[i] <= 0 || gap_s < 6 * calm_gap_s || gap_s < 0.01 * (span.until_s - span.from_s)) continue;
    band.holes.push_back(
        {{span.share(from_s), span.share(from_s + gap_s)},
         users_text(r.decoders) + (r.decoders == 1 ? " reads" : " read") + " nothing for " + format_text(gap_s, "s")});
  }
}

std::string name_of(const Inputs& in, std::size_t replica, std::size_t all) {
  if (replica_chips(in) > 1) return "replica " + std::to_string(replica + 1);
  if (all > 26) return "GPU " + std::to_string(replica + 1);
  return std::string("GPU ") + static_cast<char>('A' + static_cast<int>(replica));
}

/// How the users of a world pay.
std::string_view manner_of(const Inputs& in, std::size_t world) {
  if (world == stalled) return in.prompts > 1 ? ", in silences" : ", all at once";
  return world == chunked ? ", a little each step" : ", all the time";
}

void add_words(const Inputs& in, const Outputs& out, std::size_t world, Scene& scene) {
  const models::PartingFigures& f = out.world[world].figures;
  scene.lost = static_cast<double>(f.tokens_lost);
  scene.newcomers_lost = static_cast<double>(f.newcomers_lost);
  scene.payers = f.payers;
  scene.lost_words = format_text(scene.lost, "", 7);
  scene.newcomers_words = format_text(scene.newcomers_lost, "", 7);
  scene.payers_words = "by " + users_text(f.payers);
  if (f.payers == 0) scene.payers_words = "by nobody";
  scene.gap_words = format_text(f.longest_gap_s, "s");
  scene.ttft_words = format_text(f.ttft_s, "s");
  scene.idle_words = format_text(out.world[world].idle_percent, "%");
  if (f.payers > 0 && f.payers < in.decoders) scene.payers_words += " of " + std::to_string(in.decoders);
  if (f.payers > 0) scene.payers_words += manner_of(in, world);
}

}  // namespace

void arrange_scene(const Inputs& in, const Outputs& out, const Run& run, std::size_t world, Picture& picture) {
  Scene& scene = picture.scenes[world];
  const PartingHistory& history = run.history[world];
  const Span span{picture.from_s, picture.until_s};
  const std::size_t all = history.replicas.size(), shown = all <= max_bands + 1 ? all : max_bands;
  const bool dense = (span.until_s - span.from_s) / out.calm_gap_s > max_ticks;
  const auto readers = world == parted ? static_cast<std::size_t>(out.prefill_replicas) : 0;
  // In the parted world half of the bands at least show those that write.
  const std::size_t from_readers =
      all == shown ? readers : std::min(readers, std::max(shown / 2, shown - std::min(shown, all - readers)));
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t replica = i < from_readers ? i : readers + i - from_readers;
    const PartingReplica& r = history.replicas[replica];
    Band band{.name = name_of(in, replica, all), .users = r.decoders};
    for (const PartingPrompt& p : history.prompts)
      if (static_cast<std::size_t>(p.reader) == replica && p.start_s < span.until_s)
        band.prompts.push_back(bar_of(p, history, span, world == chunked));
    band.lane = !band.prompts.empty() || replica < readers;
    band.disturbed = r.decoders > 0 && (world == parted || !band.prompts.empty());
    if (r.decoders > 0) {
      if (dense)
        band.tones = tones_of(r, span, out.calm_gap_s);
      else
        band.ticks = ticks_of(r, span);
      add_holes(r, span, out.calm_gap_s, band);
    }
    scene.bands.push_back(std::move(band));
  }
  if (shown < all)
    scene.key = "and " + std::to_string(all - shown) + " more " + unit_word(in) + (all - shown > 1 ? "s" : "");
  add_words(in, out, world, scene);
}

}  // namespace chapters::serving::chunked_disaggregated
