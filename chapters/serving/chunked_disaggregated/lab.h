#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/serving/fleet/parting.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// A long prompt lands among users who are being answered: it goes first, or in chunks, or to GPUs of its own.
namespace chapters::serving::chunked_disaggregated {

enum class Spacing : std::uint8_t { even, random };

/// GPUs that share every layer: numbers that the heads of most models can be dealt to.
enum class ReplicaGpus : std::uint8_t { one, two, four, eight };

/// Defaults: a prompt of 16,384 tokens lands among 16 users of Llama 3 8B on two H100.
struct Inputs {
  std::int64_t prompt = 16384, chunk_tokens = 512, decoders = 16;
  std::int64_t prompts = 1;
  double interval_s = 1;
  Spacing spacing = Spacing::even;
  std::int64_t seed = 1;
  std::int64_t prefill_chips = 1, decode_chips = 1;
  ReplicaGpus replica_size = ReplicaGpus::one;
  double link_bytes_per_s = 50e9;
  std::int64_t context = 4096, answer = 256;
  std::string model = "llama-3-8b", chip = "h100_sxm";
  models::Format format = models::Format::bf16;
  double roof_percent = 70;
  double gap_limit_s = 0.05, ttft_limit_s = 1;
  bool operator==(const Inputs&) const = default;
};
/// GPUs of a replica.
inline std::int64_t replica_chips(const Inputs& in) {
  return std::int64_t{1} << static_cast<unsigned>(in.replica_size);
}

inline constexpr std::size_t worlds = models::parting_world_count;
inline constexpr std::size_t stalled = 0, chunked = 1, parted = 2;

/// A world in figures.
struct World {
  models::PartingFigures figures;
  double idle_percent = 0;
};

struct Outputs {
  std::array<World, worlds> world;  ///< in the order of models::PartingWorld
  double calm_gap_s = 0;            ///< between two tokens of a user on all replicas, without prompts
  std::int64_t calm_tokens = 0;     ///< all users together, so, in the time that is counted
  double prefill_s = 0;             ///< one prompt on an idle replica
  std::int64_t chunks = 0;          ///< steps that the first prompt is read in
  std::int64_t kept_lost = 0;       ///< tokens lost to the pool for prompts where none comes
  double even_interval_s = std::nan("");
  double counted_s = 0;
  double cache_bytes = 0, transfer_s = 0, transfer_percent = 0, moved_bytes = 0;
  double newcomer_gap_s = 0;  ///< parted: the longest from a prompt's first token to its second
  double kv_copies = 1, room_percent = 0;
  std::int64_t replicas = 0, prefill_replicas = 0, decode_replicas = 0;
  std::string reason;
};

/// Bars of tokens in time, at most: two worlds and the splits of their GPUs.
inline constexpr std::size_t max_bars = 16;

/// Some world at another setting.
struct Point {
  double at = 0;  ///< replicas that read, tokens of a step, or seconds between prompts
  std::array<models::PartingFigures, worlds> figures;
};

struct Run {
  models::PartingSetup setup;
  std::array<models::PartingHistory, worlds> history;
  std::vector<Point> splits;     ///< parted alone, by replicas that read
  std::vector<Point> chunks;     ///< chunked alone, by tokens of a step
  std::vector<Point> intervals;  ///< all, by seconds between prompts
};

/// A stretch of time in shares of what is shown, 0 to 1.
struct Stretch {
  float from = 0, to = 0;
};
/// Tokens so close that they are one tone: how many there are, over those in the calm.
struct Tone : Stretch {
  float level = 0;
};

/// A prompt in its GPU's lane.
struct PromptBar : Stretch {
  std::vector<float> edges;  ///< between its chunks
  Stretch sent;              ///< its cache on the wire; empty: it stays
  float lands = 0;
  float end = 0;  ///< when it has been read, also where that lies beyond what is shown
};

/// A time in which users read nothing.
struct Hole : Stretch {
  std::string words;
};

/// One GPU, or as many as make a replica.
struct Band {
  std::string name;
  std::int64_t users = 0;
  bool lane = false;       ///< prompts are read here
  bool disturbed = false;  ///< its users get fewer tokens than without the prompts
  std::vector<float> ticks;
  std::vector<Tone> tones;  ///< instead of ticks, where these would touch
  std::vector<PromptBar> prompts;
  std::vector<Hole> holes;  ///< times without a token that can be seen
};

/// A world's picture and its bill.
struct Scene {
  std::string name, how, key;  ///< key: what a mark in it means
  std::vector<Band> bands;
  double lost = 0, newcomers_lost = 0;
  std::int64_t payers = 0;
  std::string lost_words, payers_words, newcomers_words, gap_words, ttft_words, idle_words;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::array<Scene, worlds> scenes;
  double from_s = 0, until_s = 1;  ///< what is shown; 0 is where the first prompt lands
  double most_lost = 1;
  std::int64_t prompt = 1, chunk_tokens = 1;  ///< with which this was computed
  double calm_gap_s = 0;
  bool reads_last = false, writes_last = false;  ///< the pool has one replica, which stays
  std::vector<widgets::Curve> pace, bill;
  std::vector<widgets::Curve> ratio;     ///< bars by place: the worlds that do not part, then the splits
  std::vector<std::string> ratio_names;  ///< by place
  std::string pool_words;
  double here_interval_s = 1;
  PublishedMarks published;
};

struct View {
  widgets::PlotView pace, ratio, bill;
  bool row_in_hand = false, moved = false;
};

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out);
/// What the first prompts and the users of a world look like; `shown` is the picture's span.
void arrange_scene(const Inputs& in, const Outputs& out, const Run& run, std::size_t world, Picture& picture);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_worlds(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// A bill at the right of its world, from `at` on in `size` px.
void paint_bill(const Picture& picture, std::size_t world, ImVec2 at, ImVec2 size);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);

/// "GPU" or, where a replica takes several, "replica".
inline const char* unit_word(const Inputs& in) { return replica_chips(in) > 1 ? "replica" : "GPU"; }

}  // namespace chapters::serving::chunked_disaggregated
