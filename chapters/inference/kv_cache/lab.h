#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/inference/kv_cache.h"
#include "models/inference/kv_tiers.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// What a model keeps of every token, and how many users therefore fit beside its weights.
namespace chapters::inference::kv_cache {

/// What joins a chip and its host.
enum class HostLink : std::uint8_t { pcie, dies };

struct Inputs {
  std::string model = "llama-3-8b", chip = "h100_sxm", kv_format = "bf16";
  models::Format format = models::Format::bf16;
  models::inference::KvSharing sharing = models::inference::KvSharing::own;
  std::int64_t batch = 1, context = 32768, kv_heads = 8, latent = 512, window = 4096, global_every = 0,
               layers_share = 1, chips = 1;
  bool windowed = false;
  models::inference::KvPlacement placement = models::inference::KvPlacement::by_head;
  double memory_bytes = 0, memory_share = 0.9, workspace_bytes = 1.5e9, host_bytes = 512e9;
  HostLink host_link = HostLink::pcie;
  double drives_bytes = 30.72e12, drives_bytes_per_s = 56e9, remote_bytes = 1e15;
  std::string network = "infiniband_ndr";
  bool operator==(const Inputs&) const = default;
};

/// One way to keep keys and values, everything else as it is set.
struct DesignRow {
  std::string name, sharing;  ///< "32 KV heads", "MHA"
  std::string why_not;        ///< not empty: the sentence why it cannot be
  models::inference::KvFit fit;
  double elements = 0;  ///< numbers kept of a token in one layer
  double kv_heads = 0;  ///< 0: a latent
  bool yours = false;
};

/// A place where users who wait may lie.
struct TierRow {
  std::string name, link;
  models::inference::KvTier tier;
};

struct Outputs {
  std::string reason;
  models::inference::KvFit fit;  ///< what is set
  double total_bytes = 0;        ///< what `batch` sequences take
  double room_tokens = 0;        ///< that fit in all, whoever they belong to
  double query_heads = 0, layers = 0, elements = 0;
  std::string most_name;  ///< the design that lets most users in
  double most_sequences = 0;
  double all_heads_sequences = 0, all_heads_bytes = 0;  ///< with a key and value head for each query head
  std::vector<DesignRow> designs;                       ///< yours first
  std::vector<TierRow> tiers;                           ///< the nearest first
  double parked_tokens = 0, parked_sequences = 0;       ///< in all tiers
  double farthest_worth = 0;                            ///< tiers from which bringing back beats computing again
};

struct Run {
  std::vector<double> contexts;                ///< tokens
  std::vector<std::vector<double>> sequences;  ///< by design, then by context
};

/// A vessel of the hero.
struct Vessel {
  std::string heads, sharing, token, users, pace, each, over, over_short;  ///< the words at it
  double query_heads = 0, kept = 0;                                        ///< heads above; 0: a latent
  double kept_share = 0;  ///< kept numbers over those of a head for each query head
  double weights = 0, workspace = 0, sequence = 0, sequences = 0;
  bool yours = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<Vessel> vessels;
  double rim = 0;  ///< bytes that the engine may take
  std::string rim_words;
  std::vector<widgets::Curve> against_context;
  std::string parking;                    ///< what the third panel comes to
  std::vector<std::string> parked_names;  ///< by tier, and what it is set against
  std::vector<double> parked_s;
  PublishedMarks published;
};

struct View {
  widgets::PlotView against_context;
  widgets::StackedBarView parked;
  std::vector<widgets::BarSegment> segments;
  std::vector<widgets::StackedBar> bars;
};

/// The design that is set; its bits are those of the cache's format.
models::inference::KvDesign design_of(const Inputs& in);

chapters::Computed<Outputs, Run> compute(const Inputs& inputs, const Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);
/// Vessels true to scale: weights, one tile a user, the user who does not fit above the rim.
void draw_vessels(Inputs& inputs, const Outputs& out, const Picture& picture, ImVec2 size);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, DesignRow& row);
void describe(Fields& fields, TierRow& row);

}  // namespace chapters::inference::kv_cache
