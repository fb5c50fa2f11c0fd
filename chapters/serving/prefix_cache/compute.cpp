#include <algorithm>
#include <map>
#include <numeric>

#include "chapters/mechanism/catalog.h"
#include "chapters/serving/prefix_cache/lab.h"
#include "models/serving/prefix/prefix_cache_cost.h"
#include "models/transformer/layer_ops.h"
#include "widgets/number/number.h"

namespace chapters::serving::prefix_cache {
namespace {

using models::PrefixEviction, models::PrefixPass;

std::vector<std::int64_t> times_of(const models::PromptTrace& trace, const std::vector<std::int32_t>& order) {
  std::vector<std::int64_t> out;
  out.reserve(order.size());
  for (const std::int32_t request : order) out.push_back(trace.requests[index_of(request)].time_ms);
  return out;
}

/// Trees and passes that the size of the cache does not touch.
Laid lay(const LaidKey& key, std::shared_ptr<const Workload> workload) {
  Laid out;
  if (key.families > 0) {
    auto part = std::make_shared<Workload>(*workload);
    part->trace = models::most_shared_families(workload->trace, key.families);
    workload = std::move(part);
  }
  const models::PromptTrace& trace = workload->trace;
  out.tree = models::prefix_tree(trace, key.rule);
  out.counts = models::count_prefix_tree(out.tree);
  std::vector<std::int32_t> order(trace.requests.size());
  std::iota(order.begin(), order.end(), 0);
  if (key.at_once) order = models::order_of_time(trace);
  const auto times = times_of(trace, order);
  out.as_came = models::pass_prefix_cache(out.tree, order, times);
  const auto along = models::order_along_tree(out.tree);
  out.along = models::pass_prefix_cache(out.tree, along, times);
  out.as_came_leaf = prefix_hits_by_capacity(out.tree, out.as_came, PrefixEviction::lru);
  out.as_came_root = prefix_hits_by_capacity(out.tree, out.as_came, PrefixEviction::lru_root_first);
  out.along_leaf = prefix_hits_by_capacity(out.tree, out.along, PrefixEviction::lru);
  out.along_root = prefix_hits_by_capacity(out.tree, out.along, PrefixEviction::lru_root_first);
  out.tree_place.resize(along.size());
  for (std::size_t i = 0; i < along.size(); ++i) out.tree_place[index_of(along[i])] = static_cast<std::int32_t>(i);
  out.workload = std::move(workload);
  return out;
}

LaidKey laid_key(const Inputs& in) {
  LaidKey key{.workload = workload_key(in), .rule = in.rule};
  if (in.source >= Source::mooncake) key.families = in.families;
  if (in.source >= Source::agents) key.at_once = in.at_once;
  return key;
}

/// The order of the learner's own: by the number of each, as they came where they are equal.
std::vector<std::int32_t> own_order(const std::vector<std::int32_t>& as_came, const std::vector<double>& places) {
  std::vector<std::size_t> by_place(as_came.size());
  std::iota(by_place.begin(), by_place.end(), std::size_t{0});
  const auto wanted = [&](std::size_t i) { return i < places.size() ? places[i] : static_cast<double>(i + 1); };
  std::stable_sort(by_place.begin(), by_place.end(),
                   [&](std::size_t a, std::size_t b) { return wanted(a) < wanted(b); });
  std::vector<std::int32_t> out;
  for (const std::size_t i : by_place) out.push_back(as_came[i]);
  return out;
}

std::shared_ptr<const PrefixPass> pass_of(const Inputs& in, const std::shared_ptr<const Laid>& laid) {
  if (in.order == Order::as_came) return {laid, &laid->as_came};
  if (in.order == Order::along_tree) return {laid, &laid->along};
  return std::make_shared<const PrefixPass>(
      models::pass_prefix_cache(laid->tree, own_order(laid->as_came.order, in.places), laid->as_came.time_ms));
}

std::int64_t up_to(const std::vector<std::int64_t>& by_capacity, std::int64_t capacity) {
  return by_capacity[static_cast<std::size_t>(
      std::min<std::int64_t>(capacity, static_cast<std::int64_t>(by_capacity.size()) - 1))];
}

/// The same cache in the two named orders, and the two orders of eviction in the order that is set.
void fill_others(const Laid& laid, const PrefixPass& pass, const models::PrefixCacheSetting& setting, Outputs& out) {
  const std::int64_t all = out.figures.total_blocks, capacity = setting.capacity_blocks;
  const auto in_order = [&](const PrefixPass& order, const std::vector<std::int64_t>& leaf,
                            const std::vector<std::int64_t>& root) {
    if (setting.eviction == PrefixEviction::lru) return percent_of(up_to(leaf, capacity), all);
    if (setting.eviction == PrefixEviction::lru_root_first) return percent_of(up_to(root, capacity), all);
    return percent_of(models::count_prefix_hits(laid.tree, order, setting).hit_blocks, all);
  };
  out.as_came_percent = in_order(laid.as_came, laid.as_came_leaf, laid.as_came_root);
  out.along_percent = in_order(laid.along, laid.along_leaf, laid.along_root);
  const auto by = [&](PrefixEviction eviction) {
    return percent_of(models::count_prefix_hits(laid.tree, pass, {eviction, capacity, 0}).hit_blocks, all);
  };
  out.leaf_first_percent = by(PrefixEviction::lru);
  out.root_first_percent = by(PrefixEviction::lru_root_first);
  out.ideal_percent = percent_of(out.figures.seen_blocks, all);
  out.capacity_for_all = pass.capacity_for_all;
}

/// The share that each session finds of its blocks: mean and lower median.
void fill_sessions(const Laid& laid, const PrefixPass& pass, const std::vector<std::int64_t>& hits, Outputs& out) {
  const std::vector<std::int32_t>& sessions = laid.workload->trace.sessions;
  if (sessions.empty()) return;
  std::map<std::int32_t, std::pair<std::int64_t, std::int64_t>> sums;
  for (std::size_t place = 0; place < hits.size(); ++place) {
    auto& [found, blocks] = sums[sessions[index_of(pass.order[place])]];
    found += hits[place];
    blocks += laid.tree.blocks[index_of(pass.order[place])];
  }
  std::vector<double> shares;
  for (const auto& [session, sum] : sums) shares.push_back(percent_of(sum.first, sum.second));
  std::sort(shares.begin(), shares.end());
  out.session_hit_mean = std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
  out.session_hit_median = shares[(shares.size() - 1) / 2];
}

void fill_savings(const models::LanguageModel& model, const models::Chip& chip, const Laid& laid,
                  const PrefixPass& pass, const std::vector<std::int64_t>& hits, Outputs& out) {
  const models::PrefillPrice price = models::prefill_price(model.architecture);
  for (std::size_t place = 0; place < hits.size(); ++place) {
    const std::size_t request = index_of(pass.order[place]);
    const auto tokens = static_cast<double>(laid.tree.tokens[request]);
    out.whole_flops += price.flops(tokens, 0);
    out.saved_flops += price.flops(static_cast<double>(laid.tree.hit_tokens(request, hits[place])), 0);
  }
  out.prefill_flops = out.whole_flops - out.saved_flops;
  out.saved_percent = 100 * out.saved_flops / out.whole_flops;
  out.saved_s = out.saved_flops / chip.peak_flops_per_s(models::Format::bf16).value_or(std::nan(""));
  out.kv_bytes_per_token = models::kv_bytes_per_token(model.architecture, 2);
  const double block_bytes = static_cast<double>(out.block_tokens) * out.kv_bytes_per_token;
  out.cached_bytes = block_bytes * static_cast<double>(out.cached_blocks);
  out.tree_bytes = block_bytes * static_cast<double>(out.tree.nodes);
  out.unshared_bytes = block_bytes * static_cast<double>(out.figures.total_blocks);
}

std::string losses_of(const Workload& workload) {
  if (workload.rows_left_out == 0) return {};
  const std::string rows = widgets::format_text(static_cast<double>(workload.rows_left_out), "", 9);
  return rows + (workload.rows_left_out == 1 ? " row is" : " rows are") + " left out. " + workload.first_fault;
}

/// What the picture needs beyond the facts.
void keep_picture(const models::PrefixCacheSetting& setting, Run& run) {
  const Laid& laid = *run.laid;
  const PrefixPass& pass = *run.pass;
  run.leaf = prefix_hits_by_capacity(laid.tree, pass, PrefixEviction::lru);
  run.root = prefix_hits_by_capacity(laid.tree, pass, PrefixEviction::lru_root_first);
  for (double ms = 100; ms < 1.2e9; ms *= 1.2) run.ttl_ms.push_back(std::llround(ms));
  run.ttl_hits = prefix_hits_by_ttl(pass, run.ttl_ms);
  if (pass.order.size() > max_dragged) return;
  for (std::size_t place = 0; place < pass.order.size(); ++place)
    run.contents.push_back(prefix_cache_contents(laid.tree, pass, setting, place));
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Kept& kept) {
  const auto model = find_model(in.model);
  const auto chip = find_chip(in.chip);
  if (!model || !chip) return {{.reason = !model ? model.error : chip.error}};
  const LaidKey key = laid_key(in);
  const auto workload = workload_of(key.workload, kept);
  if (!workload->refused.empty()) return {{.reason = workload->refused}};
  Run run;
  run.laid =
      kept.laid.get(key, [&](const LaidKey& asked) { return std::make_shared<const Laid>(lay(asked, workload)); });
  const Laid& laid = *run.laid;
  run.pass = pass_of(in, run.laid);
  const models::PrefixCacheSetting setting{in.eviction, in.capacity_blocks, std::llround(1000 * in.ttl_s)};
  Outputs out;
  out.figures = models::count_prefix_hits(laid.tree, *run.pass, setting, &run.hits);
  out.tree = laid.counts;
  out.block_tokens = laid.tree.block_tokens;
  out.hit_percent = percent_of(out.figures.hit_blocks, out.figures.total_blocks);
  out.computed_blocks = out.figures.total_blocks - out.figures.hit_blocks;
  out.recomputed_blocks = out.figures.recomputed_blocks();
  fill_others(laid, *run.pass, setting, out);
  fill_sessions(laid, *run.pass, run.hits, out);
  const auto left = models::prefix_cache_contents(laid.tree, *run.pass, setting, run.pass->order.size() - 1);
  out.cached_blocks = std::accumulate(left.begin(), left.end(), std::int64_t{0});
  fill_savings(**model, **chip, laid, *run.pass, run.hits, out);
  out.rows_left_out = workload->rows_left_out;
  out.without_ids = workload->without_ids;
  out.losses = losses_of(*workload);
  if (progress.facts_alone) return {std::move(out)};
  keep_picture(setting, run);
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::serving::prefix_cache
