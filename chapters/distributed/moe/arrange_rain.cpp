#include <algorithm>
#include <cmath>

#include "chapters/distributed/moe/lab.h"
#include "chapters/distributed/shared/rank_hue.h"
#include "widgets/number/number.h"

namespace chapters::distributed::moe {
namespace {

using namespace models::parallel;
using widgets::format_text;
using widgets::Meaning;

/// One slot of a rank: an expert, and which of its copies.
struct SlotOf {
  std::int32_t expert = 0;
  std::size_t copy = 0, copies = 1;
};

std::vector<std::vector<SlotOf>> slots_of(const MoePlacement& placement) {
  std::vector<std::vector<SlotOf>> out(placement.experts.size());
  for (std::size_t e = 0; e < placement.ranks.size(); ++e)
    for (std::size_t c = 0; c < placement.ranks[e].size(); ++c)
      out[static_cast<std::size_t>(placement.ranks[e][c])].push_back(
          {static_cast<std::int32_t>(e), c, placement.ranks[e].size()});
  return out;
}

/// The grains of a slot: copies that arrive there, kept ones first.
void add_grains(const MoeTrained& trained, const std::vector<std::uint32_t>& of_expert, const SlotOf& slot,
                widgets::RainBucket& bucket, std::vector<widgets::RainGrain>& grains) {
  const MoeRouted& routed = trained.routed;
  const auto all = static_cast<float>(routed.copies.size());
  bucket.first = static_cast<std::uint32_t>(grains.size());
  for (const bool kept : {true, false})
    for (const std::uint32_t i : of_expert) {
      const MoeCopy& copy = routed.copies[i];
      if (copy.kept != kept || copy.token % slot.copies != slot.copy) continue;
      grains.push_back({trained.test.topics[copy.token], static_cast<float>(i + 1) / all});
      ++(kept ? bucket.kept : bucket.spilled);
    }
}

std::string bucket_info(const widgets::RainBucket& b, double rim) {
  std::string text = format_text(static_cast<double>(b.kept), "", 9) + " copies";
  if (rim > 0) text += " of " + format_text(rim, "", 4) + " that fit";
  if (b.spilled > 0) text += "; " + format_text(static_cast<double>(b.spilled), "", 9) + " dropped";
  return text;
}

/// Texts stay where they are while views point into them: as many as there can be.
std::string_view keep_text(Picture& p, std::string text) {
  p.texts.push_back(std::move(text));
  return p.texts.back();
}

void add_clock(const Outputs& out, Picture& p) {
  const MoeLayerTime& l = out.layer;
  widgets::TokenRain& rain = p.rain;
  const double dispatch_s =
      l.dispatch.rank_s.empty() ? 0 : *std::max_element(l.dispatch.rank_s.begin(), l.dispatch.rank_s.end());
  const double combine_s =
      l.combine.rank_s.empty() ? 0 : *std::max_element(l.combine.rank_s.begin(), l.combine.rank_s.end());
  rain.phases = {{"gate", Meaning::memory_bound, 0},
                 {"dispatch", Meaning::communication, l.dispatch.time_s - dispatch_s},
                 {"experts", Meaning::forward, 0},
                 {"combine", Meaning::communication, l.combine.time_s - combine_s}};
  for (std::size_t r = 0; r < l.ranks.size(); ++r)
    for (const double time_s : {l.local_s, l.dispatch.rank_s[r], l.ranks[r].time_s(), l.combine.rank_s[r]})
      rain.times_s.push_back(time_s);
  rain.reference_s = out.even.layer_s;
  rain.reference_label = "even:";
}

}  // namespace

void arrange_rain(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const MoeRouted& routed = run.mine->routed;
  widgets::TokenRain& rain = p.rain;
  const std::size_t ranks = run.placement.experts.size();
  const auto slots = slots_of(run.placement);
  std::size_t buckets = 0;
  for (const auto& of_rank : slots) buckets += of_rank.size();
  p.texts.reserve(2 * static_cast<std::size_t>(moe_max_topics) + 2 * ranks + 2 * buckets);
  std::vector<double> topics(static_cast<std::size_t>(in.topics), 0.0);
  for (const std::uint8_t topic : run.mine->test.topics) topics[topic] += 1.0 / static_cast<double>(moe_test_tokens);
  for (std::size_t i = 0; i < topics.size(); ++i)
    rain.sources.push_back(
        {.label = keep_text(p, "topic " + std::to_string(i + 1) + ", " + format_text(100 * topics[i], "%", 2)),
         .brief = keep_text(p, std::to_string(i + 1)),
         .share = topics[i],
         .tint = widgets::Tint::series(rank_series(static_cast<std::int64_t>(i)))});
  std::vector<std::vector<std::uint32_t>> of_expert(run.placement.ranks.size());
  for (std::uint32_t i = 0; i < routed.copies.size(); ++i) of_expert[routed.copies[i].expert].push_back(i);
  add_clock(out, p);
  p.grains.reserve(routed.copies.size());
  for (std::size_t r = 0; r < ranks; ++r) {
    const MoeRankTime& time = out.layer.ranks[r];
    rain.groups.push_back(
        {.label = keep_text(p, std::to_string(r)),
         .cluster = static_cast<std::uint32_t>(static_cast<std::int64_t>(r) / in.ranks_per_node),
         .phases_s = {},
         .info = keep_text(p, format_text(std::round(time.rows), "", 9) + " rows, experts " +
                                  format_text(time.time_s(), "s") +
                                  (time.compute_s >= time.memory_s ? ", by its matmuls" : ", by its memory"))});
    for (const SlotOf& slot : slots[r]) {
      widgets::RainBucket b;
      const std::string name = std::to_string(slot.expert) +
                               (slot.copies > 1 ? std::string(1, static_cast<char>('a' + slot.copy % 26)) : "");
      b.label = keep_text(p, name);
      b.group = static_cast<std::uint32_t>(r);
      b.rim = static_cast<double>(routed.capacity) / static_cast<double>(slot.copies);
      add_grains(*run.mine, of_expert[static_cast<std::size_t>(slot.expert)], slot, b, p.grains);
      b.info = keep_text(p, bucket_info(b, b.rim));
      rain.largest = std::max(rain.largest, std::max(b.kept + b.spilled, static_cast<std::uint32_t>(b.rim)));
      rain.buckets.push_back(b);
    }
  }
  for (std::size_t r = 0; r < ranks; ++r)
    rain.groups[r].phases_s = std::span(rain.times_s).subspan(r * rain.phases.size(), rain.phases.size());
  rain.grains = p.grains;
  widgets::count_rain_flows(rain);
  rain.mean = static_cast<double>(routed.copies.size()) / static_cast<double>(buckets);
  rain.bucket_word = "expert";
  rain.group_word = "rank";
}

}  // namespace chapters::distributed::moe
