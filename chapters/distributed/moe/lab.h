#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/memo.h"
#include "chapters/mechanism/published_panel.h"
#include "models/parallel/moe/moe_layer_time.h"
#include "models/parallel/moe/moe_training.h"
#include "widgets/charts/token_rain.h"
#include "widgets/controls/playback.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"
#include "widgets/table/table.h"

/// Tokens routed to experts by a gate that is really trained, and what the fullest expert costs its layer.
namespace chapters::distributed::moe {

enum class MoeFormat : std::uint8_t { bf16, fp8 };

struct Inputs {
  models::parallel::MoeRule rule = models::parallel::MoeRule::top_k;
  models::parallel::MoeBalance balance = models::parallel::MoeBalance::none;
  std::int64_t experts = 16, top_k = 2, node_limit = 0;
  double capacity_factor = 1.25, alpha = 0.1, gamma = 0.005, z_loss = 0;
  std::int64_t topics = 6, steps = 150, step_tokens = 256, seed = 1;
  double skew = 1, word_difference = 0.5;
  std::int64_t ranks = 8, ranks_per_node = 8, spare_slots = 1;
  models::parallel::MoePlacementRule placement = models::parallel::MoePlacementRule::contiguous;
  models::parallel::MoeExchange exchange = models::parallel::MoeExchange::direct;
  std::string chip = "h100_sxm", network = "infiniband_ndr";
  MoeFormat format = MoeFormat::bf16, dispatch_format = MoeFormat::bf16;
  std::int64_t batch = 1, sequence = 4096, hidden = 7168, expert_width = 2048, layers = 58;
  double inside_share = 75, between_share = 90, base_s = 25e-6, matmul_share = 70;
  bool operator==(const Inputs&) const = default;
};

struct ExpertRow {
  std::int64_t expert = 0;
  double asked = 0, kept = 0, dropped = 0, main_topic = 0;  ///< copies of the tested tokens; main_topic in %
  std::string ranks;
};
struct RankRow {
  std::int64_t rank = 0;
  double rows = 0, dispatch_s = 0, experts_s = 0, idle = 0;  ///< idle in % of the slowest rank's experts
};
/// One way of balancing, on the same tokens and the same machine.
struct BalanceRow {
  std::string name;
  double loss = 0, max_over_mean = 1, dropped = 0, layer_s = 0;  ///< loss and dropped in %
  bool mine = false;
};

/// The auxiliary loss at another weight.
struct AlphaRow {
  double alpha = 0, loss = 0, max_over_mean = 1, layer_s = 0;  ///< loss in %
};

struct Outputs {
  std::string reason;
  models::parallel::MoeLayerTime layer, even;  ///< as routed, and with the same copies spread evenly
  double loss = 0, dropped = 0, without = 0;   ///< in %
  double load_max = 1, rank_max = 1, entropy = 1, deviation = 0, capacity = 0, kept_copies = 0, idle_experts = 0;
  double copies = 0;                                ///< copies of all tested tokens, before capacity
  double worst_topic_loss = 0, hot_topic_loss = 0;  ///< in %
  double router_entropy = 1, auxiliary = std::nan(""), bias_step = std::nan("");
  double slowdown = 1, exchange_s = 0, even_exchange_s = 0, exchange_share = 0, step_exchange_s = 0,
         even_step_exchange_s = 0;
  double expert_rate = 0;  ///< % of the chip's peak that the slowest rank's experts reach
  double even_dispatch_bytes = 0, even_nodes = 1, tokens_per_rank = 0, rank_rows = 0;
  /// Test loss in % and time of a layer of top-k, not balanced and with a bias; NaN where they are not compared.
  double plain_loss = std::nan(""), plain_layer_s = plain_loss, bias_loss = plain_loss, bias_layer_s = plain_loss;
  std::vector<double> expert_load;  ///< by expert, over the mean
  std::vector<ExpertRow> experts;
  std::vector<RankRow> ranks;
  std::vector<BalanceRow> balances;
  std::vector<AlphaRow> alphas;  ///< ascending; empty unless yours is the auxiliary loss
};

using Trained = std::shared_ptr<const models::parallel::MoeTrained>;

struct Run {
  Trained mine;
  std::array<Trained, models::parallel::moe_balance_count> by_balance;  ///< top-k; null where none are compared
  models::parallel::MoePlacement placement;
};
using Computed = chapters::Computed<Outputs, Run>;

/// What takes long, kept with the lab: trainings, and the tokens that those of one task share.
struct Trainings {
  struct Drawn {
    models::parallel::MoeTaskSetting task;
    std::int64_t step_tokens = 0;
    bool operator==(const Drawn&) const = default;
  };
  Memo<models::parallel::MoeTrainingSetting, models::parallel::MoeTrained, 64> runs;
  Memo<Drawn, models::parallel::MoeTrainingTokens, 4> tokens;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<std::string> texts;  ///< that the rain's parts point into
  std::vector<widgets::RainGrain> grains;
  widgets::TokenRain rain;
  std::vector<widgets::Curve> loss, load;  ///< by step, of each balancing that is compared, and of yours
  std::array<std::string, 3> names;
  std::size_t mine = 0;  ///< which of the three is yours; 3: none
  double most_load = 1;
  double rain_even = 1;  ///< copies that an expert gets when all are even
  widgets::Curve path;   ///< one point for each weight of the auxiliary loss; empty unless that is your balancing
  widgets::Curve path_weights;  ///< the same points as dots, named by their weights
  PublishedMarks published;
};

struct View {
  widgets::Playback playback{.time_s = 1e9};
  widgets::TokenRainView rain;
  widgets::PlotView trade, loss, load;
  DescribedTable<ExpertRow> experts;
  DescribedTable<RankRow> ranks;
};

Computed compute(const Inputs& in, Progress& progress, Trainings& trainings);
std::string answer_of(const Inputs& in, const Outputs& out);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

/// Buckets, grains and clock of the hero.
void arrange_rain(const Inputs& in, const Outputs& out, const Run& run, Picture& picture);
/// The name of a way of balancing, as in the legend of every panel.
std::string_view balance_name(std::size_t balance);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, View& view);
void describe(Fields& f, ExpertRow& row);
void describe(Fields& f, RankRow& row);

}  // namespace chapters::distributed::moe
