#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "models/fleet/pareto.h"
#include "models/fleet/point_set.h"
#include "widgets/base/parts.h"
#include "widgets/plot/axis.h"
#include "widgets/stage/stage.h"

/// Measured configurations as points, their Pareto fronts, and the one that is best for an exchange rate.
namespace chapters::fleet::frontier {

/// The sets of assets/frontier in the order of their choices; the last is a file of one's own.
inline constexpr std::array<std::string_view, 10> set_ids{"chat", "reasoning", "timm",   "gguf_8b", "gguf_70b",
                                                          "bev",  "yolov5",    "rtdetr", "orin",    "own"};

/// Rates that may be set: as a factor, and in units.
inline constexpr double min_pays = 1.01, max_pays = 100, min_units = 0.001, max_units = 1000;

/// Defaults: chat with Llama 3.1 70B as ML.ENERGY measured it, 20 tokens per second at least; the exchange rate is an
/// example.
struct Inputs {
  std::string set = "chat";
  FileInput points;
  std::string axes, best, quality, against, mine;
  double pays = 1.6, pays_units = 1;
  double wall_x = 50, wall_y = 0;
  double more = 0.1;
  bool operator==(const Inputs&) const = default;
};

/// A front: what the ruler finds on it, and its price against the one that is chosen.
struct FrontRow {
  std::string quality_name, winner_name;
  std::int64_t points = 0, on_front = 0;
  double across = std::nan(""), up = std::nan("");  ///< values of its winner
  double times = std::nan("");                      ///< what it costs on the vertical axis, as a factor
  double units = std::nan("");                      ///< or in units, where that axis is linear
};
/// A point of the front and the exchange rates for which it wins.
struct ReignRow {
  std::string point_name;
  double rate_from = 0, rate_to = std::nan("");
  double across = 0, up = 0;
};

struct Outputs {
  std::int64_t points_count = 0, left_out = 0;
  std::vector<std::string> front;
  std::int64_t front_count = 0, dominated = 0, quality_points = 0, passed = 0, touched = 0;
  std::string horizontal, vertical, quality_used, against_used, winner, winner_across, winner_up;
  double winner_x = 0, winner_y = 0;
  double rate = 0, rate_from = 0, rate_to = std::nan("");
  std::string winner_below, winner_above;
  double against_times = std::nan(""), against_units = std::nan("");
  std::string against_winner;
  double against_x = std::nan(""), against_y = std::nan("");
  double above_x = std::nan(""), above_y = std::nan("");
  double more_times = std::nan(""), more_value = std::nan(""), more_other = std::nan("");
  std::string more_winner;
  std::string mine_found;
  double mine_dominators = std::nan(""), mine_times = std::nan("");
  std::vector<FrontRow> fronts;
  std::vector<ReignRow> reigns;
  std::string reason;
};

/// One of the two axes that are drawn.
struct SeenAxis {
  const models::fleet::PointAxis* column = nullptr;
  bool high = true;
  double wall = 0;              ///< 0: none
  bool wall_is_beyond = false;  ///< one that is set lies beyond the worst point of all: it keeps nothing out
  bool guessed = false;         ///< that less is better is read from the column's name

  double value(std::size_t point) const { return column->values[point]; }
  /// How good a value is in steps, a doubling or a unit each: more is better.
  double steps(double v) const {
    const double s = column->log ? std::log2(v) : v;
    return high ? s : -s;
  }
  /// The value that is so good.
  double at_steps(double s) const {
    const double plain = high ? s : -s;
    return column->log ? std::exp2(plain) : plain;
  }
  bool passes(double v) const { return !(wall > 0) || (high ? v >= wall : v <= wall); }
};

/// One front with its winner.
struct Front {
  std::vector<std::size_t> points;  ///< indices of those on it, from the left to the right
  std::size_t winner = 0;           ///< index of a point
  bool has_winner = false;          ///< some point passes the walls
  double value = 0;                 ///< slope x across + up, of the winner
};

/// What the picture is made of.
struct Run {
  std::shared_ptr<const models::fleet::PointSet> set;
  SeenAxis x, y;
  double slope = 0;                      ///< steps up that are given for one across
  std::vector<std::size_t> shown;        ///< points that have all axes
  std::vector<Front> fronts;             ///< by quality
  std::size_t quality = 0, against = 0;  ///< indices of qualities
  bool none_passes = false;              ///< no point of the quality passes: the ruler ignores the walls
  bool has_against = false, has_mine = false, has_more = false;
  std::vector<std::size_t> compared;  ///< qualities, `against` first
  std::size_t mine = 0, more = 0;     ///< indices of points
  std::vector<std::string> all_axes;  ///< keys of the columns of numbers
};

/// A place in the picture: 0 to 1, right and up are better.
struct Spot {
  float u = 0, v = 0;
};
struct Dot : Spot {
  std::uint16_t quality = 0;
  bool on_front = false;
  std::uint32_t point = 0;
};
struct DrawnFront {
  std::string name, price, best;  ///< the name with its price against yours, and the point that is best on it
  bool compared = false;
  std::vector<Spot> corners, points;
  Spot winner;
  bool has_winner = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer;
  widgets::AxisSpec x, y;  ///< texts lie in the set
  std::string x_title, y_title, x_better, y_better;
  std::vector<Dot> dots;
  std::vector<DrawnFront> fronts;
  std::size_t quality = 0;
  Spot winner, more, mine;
  bool has_more = false, has_mine = false;
  std::string winner_name, winner_values, winner_x, winner_y, rate_words;
  std::string more_bold, more_words, mine_words, wall_x_words, wall_y_words, note;
  double fall = 0;  ///< the slope of the ruler: how far v falls while u grows by 1
  double fall_of_slope = 1;
  std::vector<std::string> reign_names, reign_rates;
  double least_rate = 1, most_rate = 2;
  LabDoors doors;
};

struct View {
  Requests requests;
  DescribedTable<FrontRow> fronts;
  std::int64_t hovered_front = -1;
  float pivot_u = 0, pivot_v = 0;  ///< about which the ruler turns while it is held
  bool turning = false;
  /// The axes as they stood when a wall was taken: they must not move under the hand.
  bool wall_held = false;
  widgets::Range held_x{}, held_y{};
};

void describe(Fields& f, FrontRow& r);
void describe(Fields& f, ReignRow& r);
Computed<Outputs, Run> compute(const Inputs& in);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
LabDoors doors_of(const Run& run, const Outputs& out);
std::string answer_of(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_fronts(Inputs& in, const Picture& picture, View& view, ImVec2 size);
/// The axis from its worst end to its best, where its scale is even.
struct Ends {
  double worst = 0, best = 1;
};
Ends ends_of(widgets::AxisKind kind, bool high, widgets::Range range);
void draw_reigns(Inputs& in, const Outputs& out, const Picture& picture, ImVec2 size);

/// "at most 50 ms": what a wall asks.
std::string wall_text(const SeenAxis& axis);
/// A value with the axis's unit.
std::string value_text(const SeenAxis& axis, double value, int digits = 3);
/// The exchange rate of a slope, and back: a factor where the vertical axis is seen by factors, else units.
double rate_of_slope(const SeenAxis& y, double slope);
double slope_of_rate(const SeenAxis& y, double rate);
/// Columns that are named in a list such as "[a, b]".
std::vector<std::string> listed(std::string_view text);

}  // namespace chapters::fleet::frontier
