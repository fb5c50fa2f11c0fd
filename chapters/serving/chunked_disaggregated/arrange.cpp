#include <algorithm>
#include <cmath>

#include "chapters/serving/chunked_disaggregated/lab.h"
#include "widgets/number/number.h"

namespace chapters::serving::chunked_disaggregated {
namespace {

using models::PartingFigures;
using widgets::Curve, widgets::format_text, widgets::Tint;

constexpr std::array<std::string_view, worlds> world_names{"Stalled", "Chunked", "Parted"};
constexpr std::array<std::string_view, worlds> small_names{"stalled", "chunked", "parted"};

Tint tint_of(std::size_t world) { return Tint::series(static_cast<int>(world)); }

std::string pools_text(std::int64_t read, std::int64_t write) {
  return std::to_string(read) + (read == 1 ? " reads, " : " read, ") + std::to_string(write) +
         (write == 1 ? " writes" : " write");
}

void add_names(const Inputs& in, const Outputs& out, Picture& picture) {
  const std::string each = replica_chips(in) > 1 ? "a replica" : "a GPU";
  picture.scenes[stalled].how = "the prompt goes first";
  picture.scenes[chunked].how = widgets::format_text(static_cast<double>(in.chunk_tokens), "", 7) + " tokens per step";
  picture.scenes[parted].how = each + " for each phase";
  if (out.replicas > 2) picture.scenes[parted].how = pools_text(out.prefill_replicas, out.decode_replicas);
  picture.scenes[stalled].key = "a tick: a token for each user of that " + std::string(unit_word(in));
  picture.scenes[chunked].key = "white: the prompt's first token";
  picture.scenes[parted].key = "green: its cache is sent";
  for (std::size_t w = 0; w < worlds; ++w) picture.scenes[w].name = world_names[w];
}

Curve dot(std::size_t world, double x, double y, std::string label) {
  Curve c{.kind = Curve::Kind::dots,
          .label = std::string(small_names[world]),
          .tint = tint_of(world),
          .marker = static_cast<widgets::Marker>(world + 1),
          .radius = 6};
  c.add(x, y);
  c.labels.push_back(std::move(label));
  return c;
}

/// First token against the pace of users: what each size of chunk and each split gives.
void add_pace(const Outputs& out, const Run& run, Picture& picture) {
  Curve chunks{
      .label = "by tokens of a step", .info = "the chunked world at each size of its steps", .tint = tint_of(chunked)};
  Curve sizes{.kind = Curve::Kind::dots, .label = "", .tint = tint_of(chunked), .radius = 3.5f, .legend = false};
  for (const Point& p : run.chunks) {
    const PartingFigures& f = p.figures[chunked];
    chunks.add(f.ttft_s, f.longest_gap_s);
    sizes.add(f.ttft_s, f.longest_gap_s);
    sizes.labels.push_back(format_text(p.at, "", 7));
  }
  Curve splits{.kind = Curve::Kind::dots,
               .label = "by GPUs that read",
               .info = "the parted world at each split of the same GPUs",
               .tint = tint_of(parted),
               .radius = 3.5f,
               .legend = false};
  for (const Point& p : run.splits) {
    const PartingFigures& f = p.figures[parted];
    splits.add(f.ttft_s, f.longest_gap_s);
    splits.labels.push_back(format_text(p.at, "") + ":" + format_text(static_cast<double>(out.replicas) - p.at, ""));
  }
  picture.pace = {std::move(chunks), std::move(sizes), std::move(splits)};
  for (std::size_t w = 0; w < worlds; ++w) {
    const PartingFigures& f = out.world[w].figures;
    picture.pace.push_back(dot(w, f.ttft_s, f.longest_gap_s, {}));
  }
}

/// Tokens in time: stalled, chunked, then by how many replicas read. Bars in which an answer begins too late stand out.
void add_ratio(const Inputs& in, const Outputs& out, const Run& run, Picture& picture) {
  const std::string info = "tokens within both limits, per second";
  Curve mixed{.label = "all do both", .info = info, .tint = tint_of(chunked)};
  Curve splits{.label = "parted", .info = info, .tint = tint_of(parted)};
  Curve here{.label = "parted as set", .info = info, .output = "in_time_per_s_parted", .tint = Tint::yours()};
  Curve late{.label = "some first token too late", .info = info, .tint = Tint::bad()};
  const auto add = [&](Curve& bars, const PartingFigures& f, std::string name) {
    Curve& where = f.longest_ttft_s > in.ttft_limit_s ? late : bars;
    where.add(static_cast<double>(picture.ratio_names.size()), f.in_time_per_s);
    picture.ratio_names.push_back(std::move(name));
  };
  for (const std::size_t w : {stalled, chunked}) add(mixed, out.world[w].figures, std::string(small_names[w]));
  for (const Point& p : run.splits) {
    const auto readers = static_cast<std::int64_t>(p.at);
    add(readers == out.prefill_replicas ? here : splits, p.figures[parted],
        std::to_string(readers) + ":" + std::to_string(out.replicas - readers));
  }
  picture.ratio = {std::move(mixed), std::move(splits), std::move(here), std::move(late)};
}

/// The bill a second by how often a prompt comes.
void add_bill(const Run& run, Picture& picture) {
  for (std::size_t w = 0; w < worlds; ++w) {
    Curve c{.label = std::string(small_names[w]),
            .info = "tokens not written / time counted",
            .tint = tint_of(w),
            .dashed = w == stalled};
    for (const Point& p : run.intervals) {
      const double span_s = p.at * static_cast<double>(std::max<std::size_t>(3, run.setup.lands_s.size()));
      c.add(p.at, static_cast<double>(p.figures[w].tokens_lost) / span_s);
    }
    picture.bill.push_back(std::move(c));
  }
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture picture;
  if (out.replicas == 0 || run.history[stalled].prompts.empty()) return picture;
  picture.answer = answer_of(in, out);
  picture.from_s = -run.setup.lead_s;
  picture.until_s = out.counted_s;
  picture.prompt = in.prompt;
  picture.chunk_tokens = in.chunk_tokens;
  picture.calm_gap_s = out.calm_gap_s;
  picture.reads_last = out.prefill_replicas == 1;
  picture.writes_last = out.decode_replicas == 1;
  picture.here_interval_s = in.interval_s;
  add_names(in, out, picture);
  for (std::size_t w = 0; w < worlds; ++w) {
    arrange_scene(in, out, run, w, picture);
    picture.most_lost =
        std::max(picture.most_lost, picture.scenes[w].lost + std::max(0.0, picture.scenes[w].newcomers_lost));
  }
  add_pace(out, run, picture);
  add_ratio(in, out, run, picture);
  add_bill(run, picture);
  picture.pool_words = pools_text(out.prefill_replicas, out.decode_replicas);
  return picture;
}

}  // namespace chapters::serving::chunked_disaggregated
