#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/capstone/shared/board.h"
#include "chapters/capstone/shared/game.h"
#include "chapters/capstone/shared/ladder.h"
#include "chapters/described/launch_host.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/inference/serve_round.h"

/// Serve a 70B on eight GPUs: a game of rounds, each computed by the models of inference and serving.
namespace chapters::capstone::serve_70b {

/// Which gap between tokens the limit is for.
enum class GapKind : std::uint8_t { mean, longest };
/// Causes of the time from token to token, in the order of the slab.
enum class Cause : std::uint8_t { products, attention, elementwise, talk, waits, prompts };
inline constexpr std::size_t cause_count = 6;
/// Targets, in the order of Rules::targets.
enum class Aim : std::uint8_t { itl, ttft, rate };
enum class LadderChoice : std::uint8_t { gpt_fast, segment_anything, nanogpt, bevdet };

/// Defaults: the study's machine and targets, its baseline of eager PyTorch with a batch of four, and its opening
/// before the two moves that the models ask for. Prompts and answers are assumed.
struct Inputs {
  std::string rounds = "int4, graph, compile, flash";
  std::vector<double> said;
  bool show_par = false;
  double itl_limit_s = 0.05, ttft_limit_s = 0.5, rate_limit = 1000;
  GapKind gap = GapKind::mean;
  std::string model = "llama-3-70b", chip = "h100_sxm";
  std::int64_t gpus = 8;
  std::int64_t prompt = 2048, answer = 256, shared_prefix = 0, reserved = 8192;
  LaunchHostInputs launching;
  double four_bits = 4.25;
  std::int64_t chunk = 512, draft_length = 3, draft_layers = 4;
  double acceptance = 0.63;
  double link_reached = 80, call_s = 6e-6;
  double peak_reached = 70, reached_16 = 74, reached_4 = 56, memory_percent = 90;
  LadderChoice ladder = LadderChoice::gpt_fast;
  std::vector<double> guesses;
  bool operator==(const Inputs&) const = default;
};

inline constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();

struct RoundRow {
  std::string name, found;  ///< found: won, lost, bounced
  double itl_s = 0, ttft_s = 0, tokens_per_s = 0, memory_bytes = 0, won_s = no_figure, said_s = no_figure;
  Cause bottleneck{};
  std::int64_t met = 0;
};
struct StudyRow {
  std::string name;
  double claimed_itl_s = no_figure, itl_s = 0, claimed_ttft_s = no_figure, ttft_s = 0, claimed_rate = no_figure,
         rate = 0;
};

struct Outputs {
  std::string reason;
  std::int64_t rounds_played = 0, targets_met = 0, bounced_rounds = 0;
  double won_in = no_figure;  ///< the first round that met every target
  double par = no_figure, par_ways = no_figure;
  std::string par_cards;
  models::inference::ServeRound now;
  double served_itl_s = 0;  ///< mean or longest gap, as the target asks
  Cause bottleneck{};
  double bottleneck_s = 0;
  double start_itl_s = 0, start_ttft_s = 0, start_rate = 0;
  double first_won_s = no_figure, best_won_s = no_figure, most_lost_s = no_figure, prediction_off = no_figure;
  std::string first_card, best_card, lost_card;                         ///< best_card: "none" where none won
  bool first_slight = false, last_bounced = false, of_longest = false;  ///< of_longest: the target is the longest gap
  double most_batch = 0, batch = 0, chips = 0, replicas = 0;
  std::vector<RoundRow> rounds;
  std::vector<StudyRow> study;
  std::int64_t ladder_shown = 1;
  double ladder_off = no_figure;
};

struct Run {
  Played game;
  std::vector<double> guesses;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  Board board, ladder;
  std::string ladder_source;
  std::vector<std::string> links;  ///< what each round opens
};

struct View {
  Requests requests;
  BoardView board, ladder;
  DescribedTable<RoundRow> rounds;
  DescribedTable<StudyRow> study;
};

/// What a set of cards makes of the service.
struct Service {
  models::inference::ChangeSet changes;
  std::int64_t batch = 4, tensor_parallel = 8;
  bool continuous = false, paged = false, chunked = false, prefix = false;
};

class ServeRules final : public Rules {
 public:
  /// Inputs that name no model or chip: `problem()` says so and nothing may be played.
  explicit ServeRules(const Inputs& in);
  const std::string& problem() const { return problem_; }
  std::span<const Card> cards() const override;
  std::span<const Target> targets() const override { return targets_; }
  CardSet start() const override { return start_; }
  Figures play(CardSet cards) const override;

  Service service_of(CardSet cards) const;
  /// The round by the models, or why there is none.
  models::Result<models::inference::ServeRound> round_of(const Service& service) const;

 private:
  Inputs in_;
  models::inference::RequestJob job_;
  std::vector<Target> targets_;
  CardSet start_;
  std::string problem_;
};

/// The study's rounds with the figures that it prints, its baseline first.
std::span<const StudyRound> study_rounds();
/// What the study says of its baseline.
std::array<double, max_targets> study_start();
/// Names and colours of the causes, as the legend has them.
std::span<const BoardCause> causes();
/// A link to the step of a round in inference/optimize.
std::string link_of(const Inputs& in, const ServeRules& rules, CardSet cards);

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, RoundRow& row);
void describe(Fields& f, StudyRow& row);

}  // namespace chapters::capstone::serve_70b
