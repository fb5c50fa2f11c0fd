#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "models/fleet/token_cost.h"
#include "models/serving/engine/serving_cost.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"
#include "widgets/stage/stage.h"

/// What a million tokens cost, and what the hour that was paid for was spent on.
namespace chapters::fleet::cost {

enum class WorkKind : std::uint8_t { serve, train };

/// Defaults: Llama 3 70B on eight H100s at the price and the rate of the study documents; that 65 % of the hours are
/// filled is assumed.
struct Inputs {
  WorkKind work = WorkKind::serve;
  double price_per_hour = 30, output_tokens_per_s = 8000, filled = 65;
  double tokens_per_day = 50e9;
  std::string model = "llama-3-70b", chip = "h100_sxm";
  std::int64_t chips = 8, users = 256, context = 2048;
  models::Format format = models::Format::bf16;
  models::KvFormat kv_format = models::KvFormat::bf16;
  double step_tokens = 16.8e6, run_tokens = 15e12;
  double power_w = 10'200, pue = 1.2, carbon_g_per_kwh = 370, electricity_per_kwh = 0.08;
  bool operator==(const Inputs&) const = default;
};

/// A change, alone: what a million tokens cost with it, and what it saves in a year.
struct LeverRow {
  std::string name;
  double dollars = 0, saved_per_year = 0;
};

/// The same hour with so many users: the price that each pays.
struct UsersRow {
  std::int64_t sharing = 1;
  double price = 0;
};
/// A million tokens on the electricity of one grid.
struct GridRow {
  std::string grid;
  double emitted = 0;  ///< kg of CO2 equivalent
};

struct Outputs {
  double dollars_per_million_tokens = 0, kwh_per_million_tokens = 0, kg_co2_per_million_tokens = 0;
  double electricity_per_million = 0;
  models::fleet::PriceParts parts;
  double filled_dollars = 0, reach = 0, step_s = 0, busy_tokens_per_s = 0, bound_tokens_per_s = 0;
  double low_dollars = std::nan(""), high_dollars = std::nan("");
  double year_dollars = 0, year_kwh = 0, year_co2_t = 0, nodes = 0;
  double together_saved = 0, promised_saved = 0;
  double one_user_dollars = std::nan("");
  double step_dollars = std::nan(""), run_dollars = std::nan(""), run_kwh = std::nan("");
  std::vector<LeverRow> levers;
  std::vector<UsersRow> by_users;  ///< up to those that are set
  std::vector<GridRow> by_grid;
  std::string reason;
};

/// A wedge of the coin: dollars per million tokens.
struct Wedge {
  std::string name, more, dollars;
  std::string_view output;
  double from = 0, to = 0;  ///< its place on the coin, in turns
  widgets::Tint tint;
};
/// The same hour at another number of users; `radius` is the root of its share of the dearest.
struct Coin {
  std::string users, dollars;
  float radius = 1;
  bool here = false;
};
struct GridBar {
  std::string name;
  double kg = 0;
  bool yours = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<Wedge> wedges;  ///< clockwise from the top
  std::string total, electricity;
  double electricity_share = 0;
  std::vector<Coin> coins;
  std::vector<GridBar> grids;
  double saved_together = 0, saved_promised = 0;
  LabDoors doors;
};

struct View {
  widgets::StackedBarView levers, grids;
  Requests requests;
};

/// Users at once, at most.
inline constexpr std::int64_t max_users = 16'384;

/// An hour as it is set; its reach may be above 1, which compute refuses.
models::fleet::PaidHour hour_at(const Inputs& in, double weights_s, double cache_s, double compute_s);
Outputs compute(const Inputs& in);
Picture arrange(const Inputs& in, const Outputs& out);
/// Labs that show what an hour of this one consists of.
LabDoors doors_of(const Inputs& in);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_coin(Inputs& in, const Picture& picture, ImVec2 size);
void draw_coins(const Picture& picture, ImVec2 size);

}  // namespace chapters::fleet::cost
