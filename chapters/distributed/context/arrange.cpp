#include <algorithm>
#include <cmath>

#include "chapters/distributed/context/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::distributed::context {
namespace {

using namespace models::parallel;
using models::as_double;
using widgets::figure, widgets::format_text;

constexpr std::int64_t most_bars = 32;

/// The lanes of one order's ring.
Clock clock_of(const OrderRing& order) {
  const ContextRing& ring = order.ring;
  Clock clock;
  clock.title = context_order_name(order.setup.order);
  clock.title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(clock.title.front())));
  clock.words = format_text(ring.time_s, "s") + ", busy " + format_text(100 * ring.busy_share, "%", 2);
  clock.words += ring.exposed_s > 0       ? "; hatched waits, green for keys"
                 : ring.busy_share < 0.99 ? "; hatched waits"
                                          : "";
  clock.end_s = ring.time_s;
  // Of many steps, some neighbours are one bar: what they compute, then what they wait.
  const auto together = static_cast<std::size_t>(models::ceil_div(order.setup.ranks, most_bars));
  for (std::size_t row = 0; row < order.ranks.size(); ++row) {
    clock.names.push_back("rank " + std::to_string(order.ranks[row]));
    std::vector<ClockBar> bars;
    double now_s = 0;
    for (std::size_t step = 0; step < ring.steps.size(); ++step) {
      if (step % together == 0) bars.push_back({now_s, now_s, now_s, now_s});
      ClockBar& bar = bars.back();
      bar.computed_s += order.computes_s[row][step];
      bar.slowest_s += ring.steps[step].compute_s;
      now_s += ring.steps[step].time_s();
      bar.end_s = now_s;
    }
    if (ring.time_s > now_s) bars.push_back({now_s, now_s, now_s, ring.time_s});  // gradients on their way home
    clock.ranks.push_back(std::move(bars));
  }
  return clock;
}

/// The lanes of a method that has no steps: what arrives first, what a rank computes, what goes out behind.
Clock clock_of_method(ContextMethod method, const ContextCost& cost, Clock clock, double busy) {
  clock.title = method == ContextMethod::gather ? "Gather" : "All-to-all";
  clock.words = format_text(cost.time_s, "s") + ", busy " + format_text(busy, "%", 2) + "; hatched waits, green for ";
  clock.words += method == ContextMethod::gather ? "keys" : "transfers";
  clock.end_s = cost.time_s;
  clock.chosen = true;
  const double most_s = cost.time_s - cost.exposed_s;
  for (auto& bars : clock.ranks) {
    double own_s = 0;
    for (const ClockBar& b : bars) own_s += b.computed_s - b.start_s;
    // All-to-all deals whole triangles out: every rank computes as long.
    if (method == ContextMethod::all_to_all) own_s = most_s;
    own_s = std::min(own_s, most_s);
    bars = {
        {0, 0, 0, cost.before_s},
        {cost.before_s, cost.before_s + own_s, cost.before_s + most_s, std::max(cost.time_s, cost.before_s + most_s)}};
  }
  return clock;
}

/// Who computes, for how long, and instead of what.
std::string verdict_of(const Inputs& in, const Outputs& out) {
  const std::string time = figure(out.attention_s, "s"), busy = figure(out.busy_percent, "%");
  if (in.ranks == 1) return "One rank holds the whole sequence: attention takes " + time + " per layer.";
  if (in.method == ContextMethod::gather)
    return "Gathering all keys first costs " + figure(out.exposed_s, "s") + " of waiting: attention takes " + time +
           ", ranks busy for " + busy + " of it.";
  if (in.method == ContextMethod::all_to_all)
    return "All-to-all deals whole heads out: attention takes " + time + ", and " + figure(out.exposed_s, "s") +
           " of that is waiting for transfers.";
  const bool waits = out.exposed_s > 1e-3 * out.attention_s;
  if (!in.causal)
    return "Without a causal mask every tile is full, in any order: attention takes " + time + ", ranks busy for " +
           busy + " of it.";
  if (in.order == ContextOrder::contiguous)
    return "Contiguous order leaves the first ranks idle: attention takes " + time + ", ranks busy for " + busy +
           " of it; zig-zag would take " + figure(out.beside_s, "s") + ".";
  const std::string order = in.order == ContextOrder::zig_zag ? "Zig-zag order" : "Striped order";
  return order + (waits ? " shares the work evenly: attention takes " : " keeps every rank busy: attention takes ") +
         time + " instead of the " + figure(out.beside_s, "s") + " of contiguous order" +
         (waits ? ", ranks busy for " + busy + " of it." : ".");
}

/// What sending keys costs, and from how many tokens on it would cost nothing.
std::string transfers_text(const Inputs& in, const Outputs& out) {
  if (in.method != ContextMethod::ring)
    return "A ring in the same order would take " + figure(out.ring_s, "s") +
           (out.ring_s < out.attention_s ? ": it computes while keys travel." : ".");
  const std::string tokens = "each rank has " + figure(out.rank_tokens, "tokens");
  if (!(out.exposed_s > 1e-3 * out.attention_s))
    return "Sending keys costs no time: " + tokens + ", and " + figure(out.hiding_tokens, "tokens") +
           " would be enough.";
  if (out.rank_tokens < out.hiding_tokens)
    return "Sending keys costs " + figure(out.exposed_s, "s") + ": " + tokens + ", and from " +
           figure(out.hiding_tokens, "tokens") + " on it would cost nothing.";
  if (in.pass == AttentionPass::backward)
    return "The keys' gradients travel one step further, back to their rank: " + figure(out.exposed_s, "s") +
           " that no compute hides.";
  return "Each message waits before its first byte: " + figure(out.exposed_s, "s") + " that no compute hides.";
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  return in.ranks == 1 ? verdict_of(in, out) : verdict_of(in, out) + "\n" + transfers_text(in, out);
}

/// A step's slowest tile and its transfer against the tokens of a rank.
void add_hiding(const ContextSetup& setup, Picture& p) {
  if (setup.ranks < 2) return;
  const double yours = as_double(setup.sequence / setup.ranks);
  const double lo = std::max(64.0, std::min(256.0, yours / 4)), hi = std::max(65536.0, 4 * yours);
  widgets::Curve tile{.label = "slowest tile",
                      .info = "pairs x flops per pair / rate",
                      .tint = widgets::Meaning::forward,
                      .named = false};
  widgets::Curve transfer{.label = "transfer",
                          .info = "message + bytes of keys and values / link",
                          .tint = widgets::Meaning::communication,
                          .named = false};
  for (double tokens = lo; tokens <= hi * 1.001; tokens *= std::sqrt(2.0)) {
    ContextSetup at = setup;
    const auto even = static_cast<std::int64_t>(2 * std::llround(tokens / 2));
    at.sequence = even * at.ranks;
    double pairs = 0;
    for (const std::int64_t keys : {std::int64_t{0}, at.ranks - 1})
      pairs = std::max(pairs, tile_pairs(at.order, at.sequence, at.ranks, at.ranks - 1, keys, at.causal));
    tile.add(as_double(even), pairs * at.flops_per_pair() / at.flops_per_s);
    transfer.add(as_double(even), at.message_s + at.block_bytes() / at.link_bytes_per_s);
  }
  p.hiding = {std::move(tile), std::move(transfer)};
}

void add_ring(const Inputs& in, const Run& run, Picture& p) {
  const auto n = static_cast<std::size_t>(p.drawn_ranks);
  p.whole_work.assign(n, 0);
  for (std::size_t step = 0; step < n; ++step) {
    std::vector<double> work = run.pairs[step];
    std::vector<std::string> meets;
    for (std::size_t rank = 0; rank < n; ++rank) {
      p.whole_work[rank] += work[rank];
      const std::int64_t owner =
          key_owner(p.drawn_ranks, static_cast<std::int64_t>(rank), static_cast<std::int64_t>(step));
      meets.push_back("K" + std::to_string(owner) + ", " + format_text(run.small_pairs[step][rank], "") + " pairs");
    }
    const double full = *std::max_element(work.begin(), work.end());
    for (double& w : work) w /= full;
    p.work.push_back(std::move(work));
    p.meets.push_back(std::move(meets));
    p.step_names.push_back(std::to_string(step));
    p.key_names.push_back("K" + std::to_string(step));
    p.rank_names.push_back("rank " + std::to_string(step));
  }
  const double most = *std::max_element(p.whole_work.begin(), p.whole_work.end());
  for (double& w : p.whole_work) w = in.method == ContextMethod::all_to_all ? 1 : w / most;
}

/// The two rings; of a method without steps its ring and itself.
void add_clocks(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const bool contiguous = in.order == ContextOrder::contiguous;
  Clock own = clock_of(run.chosen);
  if (in.method == ContextMethod::ring || in.ranks == 1) {
    own.chosen = true;
    p.clocks[contiguous ? 1 : 0] = clock_of(run.beside);
    p.clocks[contiguous ? 0 : 1] = std::move(own);
  } else {
    const ContextCost& cost = out.methods[static_cast<std::size_t>(in.method)].cost;
    p.clocks[1] = clock_of_method(in.method, cost, own, out.busy_percent);
    own.title += " ring";
    p.clocks[0] = std::move(own);
    p.method_words = in.method == ContextMethod::gather
                         ? "colour: who computes. Every rank has gathered all keys, and has no steps to wait for."
                         : "each cell is computed by every rank, for its own heads: there are no steps.";
    p.held_words = in.method == ContextMethod::gather ? "all keys" : "all tokens";
  }
  p.clock_end_s = std::max(p.clocks[0].end_s, p.clocks[1].end_s);
}

std::string check_of(const Inputs& in, const Outputs& out, std::int64_t drawn) {
  const bool dealt = in.method == ContextMethod::all_to_all;
  std::string text = "Computed on " + std::to_string(drawn) + (drawn == 1 ? " rank" : " ranks") +
                     (dealt ? ": all-to-all is off by " : ": the ring is off by ") +
                     format_text(dealt ? out.all_to_all_error : out.ring_error, "", 1) +
                     " of the whole's largest number";
  if (drawn > 1 && !dealt)
    text += ", averaging its blocks instead would be off by " + format_text(out.averaged_error, "%", 2);
  return text + ".";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.pairs.empty()) return p;
  p.answer = answer_of(in, out);
  p.drawn_ranks = run.square.ranks;
  p.ranks_note = std::to_string(run.square.tokens) + " tokens drawn";
  if (p.drawn_ranks != in.ranks)
    p.ranks_note =
        "drawn with " + std::to_string(p.drawn_ranks) + " of " + std::to_string(in.ranks) + " ranks, " + p.ranks_note;
  add_ring(in, run, p);
  add_clocks(in, out, run, p);
  p.check = check_of(in, out, p.drawn_ranks);
  add_hiding(run.chosen.setup, p);
  widgets::Curve reach{.label = "fits",
                       .info = "states, activations and loss within the chip's memory",
                       .tint = widgets::Meaning::forward,
                       .named = false};
  p.longest = as_double(out.sequence);
  for (const ReachPoint& point : run.reach) {
    reach.add(as_double(point.ranks), as_double(point.tokens));
    p.longest = std::max(p.longest, as_double(point.tokens));
  }
  p.reach.push_back(std::move(reach));
  return p;
}

}  // namespace chapters::distributed::context
