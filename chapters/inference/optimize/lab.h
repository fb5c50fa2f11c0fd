#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/described/launch_host.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/inference/optimize.h"
#include "widgets/base/parts.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// One request, bite by bite: what each change is worth in this order, and in every other.
namespace chapters::inference::optimize {

using models::inference::request_change_count, models::inference::RequestChange;

/// found: it is there before the first change.
enum class Made : std::uint8_t { off, on, found };
/// In which order those that are on are made.
enum class Order : std::uint8_t { listed, reversed, largest, own };

using ChangeOrder = std::array<RequestChange, request_change_count>;
inline constexpr std::int64_t order_count = 40320;

/// Defaults: gpt-fast's ladder.
struct Inputs {
  std::array<Made, request_change_count> made{Made::found, Made::on,  Made::on, Made::on,
                                              Made::on,    Made::off, Made::on, Made::off};
  Order order = Order::listed;
  std::int64_t own_order = 1;
  std::string model = "llama-2-7b", chip = "a100_80_sxm";
  std::int64_t prompt = 5, answer = 200, batch = 1;
  models::inference::EightBits eight_bits = models::inference::EightBits::int8_weights;
  double four_bits = 5, cache_bits = 8;
  std::int64_t draft_length = 3, draft_layers = 4;
  double acceptance = 0.63;
  std::int64_t tensor_parallel = 2;
  double link_reached = 80, call_s = 6e-6;
  bool whole_head = false;
  LaunchHostInputs launching{.host = LaunchedBy::a100};
  double peak_reached = 70, reached_16 = 74, reached_8 = 54, reached_4 = 56;
  bool operator==(const Inputs&) const = default;
};

inline constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();

/// One change in its place.
struct StageRow {
  RequestChange change{};
  std::string name;
  models::inference::RequestState after;
  double saved_s = 0, gain = 1, first_gain = 1, last_gain = 1, least_gain = 1, most_gain = 1, average_saved_s = 0;
  double least_saved_s = 0, most_saved_s = 0, first_saved_s = 0, last_saved_s = 0;
  double measured = no_figure, residual = no_figure;  ///< tokens/s; what the model is off by, %
};

/// Gains that differ by less than this factor are called equal.
inline constexpr double slight_ratio = 1.02;

/// What one change is worth; NaN where it is not made.
struct ChangeFigures {
  double gain = no_figure, first_gain = no_figure, last_gain = no_figure, saved_s = no_figure, average_s = no_figure;
};

struct Outputs {
  std::string reason;
  models::inference::RequestState found, now;
  double speedup = 1, room_bytes = 0;  ///< room: of a chip, that may be filled
  double found_measured = no_figure, found_residual = no_figure, measured = no_figure, residual = no_figure;
  double user_tokens_per_s = 0;                   ///< one request's in decode
  double found_waits = 0, waits = 0;              ///< % of a step in which the device has no kernel
  double found_launching_s = 0, launching_s = 0;  ///< what the host takes to launch a step
  double found_most_batch = 0, most_batch = 0;
  std::string widest;        ///< the change that its place costs most, or else favours most
  std::string widest_place;  ///< where it would gain otherwise: as the first, or as the last
  double widest_gain = no_figure, widest_other_gain = no_figure;
  std::string worthiest;  ///< the change with the largest average over all orders
  double worthiest_s = no_figure;
  std::array<ChangeFigures, request_change_count> changes;
  std::vector<StageRow> stages;
};

/// The request at another batch.
struct BatchPoint {
  double batch = 1, tpot_s = 0, tokens_per_s = 0;
};
struct Run {
  std::vector<BatchPoint> found, now;
  double bandwidth_bytes_per_s = 0, largest_peak = 1;
};

/// A row of the hero: the request at one stage, as areas under the roofs of one chip.
struct Strip {
  std::string name, detail;           ///< detail: what the change did to the work
  std::string takes, rate, measured;  ///< request; tokens a second; what somebody measured of it
  std::string waits;                  ///< what part of decode no kernel runs in, where that is much
  std::string here, first;            ///< what it gains here, and as the first
  std::string tip;
  std::int64_t change = -1;  ///< -1: as found
  double ttft_s = 0, request_s = 0, before_s = 0;
  double measured_s = no_figure;               ///< the request, as measured
  double roof = 1;                             ///< the peak of its format over the largest of all rows
  double prefill_flops = 0, decode_flops = 0;  ///< shares of the largest peak
  double prefill_bytes = 0, decode_weights = 0, decode_caches = 0, decode_other = 0;  ///< shares of the bandwidth
  bool fits = true;
};
/// A change that is no row: off, or there from the start.
struct Offer {
  std::string words;
  std::int64_t change = 0;
  bool found = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<Strip> strips;
  std::vector<Offer> offers;
  double longest_s = 1;
  bool measured = false;
  std::string roofs;
  std::vector<widgets::Curve> batch;
  double dot_x = 0, dot_y = 0;
  std::vector<double> batches, batch_rate;  ///< after all changes, for the dot that is dragged
  std::vector<widgets::Curve> worth;
  std::vector<std::string> worth_names;
  PublishedMarks published;
};

struct View {
  widgets::PlotView batch, worth;
  DescribedTable<StageRow> stages;
  std::vector<widgets::PlacedLegend> legend;
  std::vector<RequestChange> now;  ///< the rows, in order
  std::int64_t held = -1;          ///< the change that is being moved
  bool moved = false;
};

std::string_view change_name(RequestChange change);
std::size_t index_of(RequestChange change);
/// The changes of an order by its number, 1 to 40,320, among all in lexicographic order; and back.
ChangeOrder order_of_number(std::int64_t number);
std::int64_t number_of_order(const ChangeOrder& order);
/// Those that are on, in the order asked for. `largest` needs the model and is found by compute.
std::vector<RequestChange> changes_on(const Inputs& in, const ChangeOrder& order);
/// Moves a change to another place among those that are on, which are `now`, and makes that the own order.
void move_change(Inputs& in, const std::vector<RequestChange>& now, std::size_t from, std::size_t to);

/// The job that the Inputs name. Fails with a sentence.
models::Result<models::inference::RequestJob> read_job(const Inputs& in);
models::inference::ChangeSet found_changes(const Inputs& in);

chapters::Computed<Outputs, Run> compute(const Inputs& in, const Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// The request as a strip for each change, which are dragged and pressed.
void draw_strips(Inputs& in, const Picture& picture, View& view, ImVec2 size);
std::string answer_of(const Inputs& in, const Outputs& out);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, StageRow& row);

}  // namespace chapters::inference::optimize
