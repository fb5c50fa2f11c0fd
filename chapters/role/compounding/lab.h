#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/training/speedup_stack.h"

/// A stack of speed-ups of one step: each bites out of the parts that it touches.
namespace chapters::role::compounding {

/// What a technique makes faster.
enum class Touch : std::uint8_t { data, forward_backward, forward, backward, optimizer, rest, device, everything };
inline constexpr std::size_t touch_count = 8;

struct Technique {
  bool on = false;
  double factor = 1;
  Touch touches = Touch::everything;
  bool operator==(const Technique&) const = default;
};
inline constexpr std::size_t technique_count = 5;
/// Names in their order, for rows and buttons.
std::string_view technique_name(std::size_t technique);
/// The parts that it acts on, in words.
std::string_view touched_words(Touch touch);

enum class Order : std::uint8_t { listed, reversed, largest, smallest, own };
inline constexpr std::size_t order_count = 5;

/// Defaults: the study document's profile, 40/20/25/10/5 % of 850 ms, and three of its parts made twice as fast.
struct Inputs {
  double forward_s = 0.17, backward_s = 0.2125, optimizer_s = 0.085, rest_s = 0.0425, data_s = 0.34;
  bool loader_beside = false;
  std::array<Technique, technique_count> techniques{{{true, 2, Touch::data},
                                                     {true, 2, Touch::forward_backward},
                                                     {false, 1.3, Touch::forward_backward},
                                                     {true, 2, Touch::optimizer},
                                                     {false, 2, Touch::rest}}};
  Order order = Order::listed;
  std::int64_t own_order = 1;
  double run_cost = 50'000, run_s = 259'200;
  bool operator==(const Inputs&) const = default;
};

/// One technique in its place, and in the first and the last.
struct StageRow {
  std::string name;
  double own_factor = 1, step_s = 0, saved_s = 0, gain = 1, first_gain = 1, last_gain = 1;
};

struct Outputs {
  std::string reason;
  double base_s = 0, step_s = 0, speedup = 1, own_product = 1, own_product_step_s = 0;
  double alone_product = 1, alone_product_step_s = 0;
  double ceiling = std::nan("");
  double untouched_share = 0;  ///< % of the step before, what no technique acts on
  double saved_share = 0, run_cost_after = 0, run_after_s = 0;
  bool disjoint = true;  ///< no part is touched twice, and no loader hides behind the device
  double widest = 1;     ///< a technique's largest gain over its smallest, over all orders: of the technique with most
  std::vector<StageRow> stages;
};

struct Run {
  models::SpeedupStack stack;  ///< the parts of the step after each technique
};
using Computed = chapters::Computed<Outputs, Run>;

/// A row of the picture: the step, a technique, or what a product would promise.
struct BarRow {
  std::string name, words, figure;  ///< what it touches; what it gives
  std::int64_t technique = -1;      ///< -1: none, so that nothing can be pressed
  std::size_t stage = 0;            ///< whose parts stand in it
  bool on = true, packed = false, ghost = false;
  double ghost_s = 0;
  double meanwhile_s = 0;  ///< what the loader takes while the device computes; 0: it does not run meanwhile
  std::string verdict;     ///< what a product promises, against what is
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<BarRow> rows;
  std::array<double, models::stack_part_count> slot_s{};  ///< where each part begins in every row
  double longest_s = 1;
  PublishedMarks published;
  std::shared_ptr<const Run> run;
};

struct View {
  DescribedTable<StageRow> stages;
  std::int64_t held = -1;  ///< the technique that is being moved
  bool moved = false;
};

/// The techniques from the first to be applied to the last, those that are off among them.
std::array<std::size_t, technique_count> order_of(const Inputs& in);
/// The number, 1 to 120, of an order among all in lexicographic order.
std::int64_t order_number(const std::array<std::size_t, technique_count>& order);
models::StackTechnique stack_technique(const Technique& technique);

Computed compute(const Inputs& in);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// The bars; a click on a technique switches it, a drag moves it to another place in the order.
void draw_bars(Inputs& in, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, StageRow& row);

}  // namespace chapters::role::compounding
