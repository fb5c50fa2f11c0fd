#include <algorithm>
#include <cmath>
#include <utility>

#include "models/base/counter_random.h"
#include "models/serving/paged_kv_blocks.h"
#include "models/serving/paged_kv_ledger.h"

/// Serving out of blocks, with preemption.
namespace models {
namespace {

using paged_detail::Ledger, paged_detail::PoolLevels, paged_detail::StepLoad, paged_detail::step_us;

/// A request that runs, or that waits again with what it has produced.
struct PagedGroup {
  std::int32_t request = 0, produced = 0;  ///< tokens of each answer so far
  bool prefill = true;                     ///< its tokens are computed in the next step
  bool stalled = false;
  std::int64_t live = 0;           ///< answers that still go on, while it runs
  std::vector<PagedTable> tables;  ///< by answer; empty once it is done
  std::int64_t host_blocks = 0;    ///< while it is swapped out
};

class PagedEngine {
 public:
  PagedEngine(const PagedDemand& demand, const PagedSetup& setup)
      : demand_(demand),
        setup_(setup),
        ledger_(demand, setup),
        pool_(setup.pool_tokens / setup.block_tokens, setup.block_tokens),
        stream_(random_stream(static_cast<std::int64_t>(setup.seed), 71)) {}

  PagedRun run() {
    while (!ledger_.over()) {
      take_arrivals();
      load_ = {};
      const bool sent_back = make_room();
      if (!sent_back) admit_all();
      ledger_.run.peak_running = std::max(ledger_.run.peak_running, static_cast<std::int64_t>(running_.size()));
      const bool moves = std::any_of(running_.begin(), running_.end(), [](const PagedGroup& g) { return !g.stalled; });
      if (moves) {
        stuck_us_ = -1;
        step();
        continue;
      }
      if (!running_.empty() && stuck_us_ < 0) stuck_us_ = ledger_.now_us;
      if (!ledger_.more_come()) break;
      ledger_.advance(ledger_.next_arrival_us(), levels(), [&] { return frame(); });
    }
    take_arrivals();  // who comes at the very end
    note_end();
    return ledger_.finished();
  }

 private:
  void take_arrivals() {
    ledger_.arrivals([&](const PagedRequest& r) { return final_blocks(r) <= pool_.blocks(); });
  }
  std::size_t answers() const { return static_cast<std::size_t>(demand_.answers); }
  const PagedRequest& request_of(const PagedGroup& g) const {
    return demand_.requests[static_cast<std::size_t>(g.request)];
  }
  bool live(const PagedGroup& g, std::size_t k) const { return g.produced < request_of(g).output_tokens[k]; }
  std::int64_t live_answers(const PagedGroup& g) const {
    std::int64_t out = 0;
    for (std::size_t k = 0; k < answers(); ++k) out += live(g, k);
    return out;
  }

  /// Blocks for `many` answers of so many tokens each, of which `prompt` are the same.
  std::int64_t blocks_of(std::int64_t prompt, std::int64_t tokens, std::int64_t many) const {
    if (!setup_.share) return many * pool_.blocks_for(tokens);
    if (tokens <= prompt) return pool_.blocks_for(prompt);
    const std::int64_t whole = prompt / pool_.block_tokens();
    return whole + many * (pool_.blocks_for(tokens) - whole);
  }
  /// What it takes when its answers are all as long as the longest: enough, whoever ends first.
  std::int64_t final_blocks(const PagedRequest& r) const {
    std::int32_t longest = 1;
    for (std::size_t k = 0; k < answers(); ++k) longest = std::max(longest, r.output_tokens[k]);
    return blocks_of(r.prompt_tokens, r.prompt_tokens + longest - 1, demand_.answers);
  }

  /// Free blocks that the next token of each answer takes: a new one behind a full one, a copy for all but the last
  /// of those who read one that is not full.
  std::int64_t blocks_to_write(const PagedGroup& g) const {
    if (pool_.free_blocks() >= g.live) return g.live;  // at most: enough to know that they are there
    std::int64_t out = 0;
    for (std::size_t k = 0; k < g.tables.size(); ++k) {
      const PagedTable& table = g.tables[k];
      if (table.blocks.empty()) continue;
      if (pool_.is_full(table)) {
        ++out;
        continue;
      }
      const std::int32_t last = table.blocks.back();
      std::int32_t before = 0;
      for (std::size_t j = 0; j < k; ++j) before += !g.tables[j].blocks.empty() && g.tables[j].blocks.back() == last;
      out += before < pool_.readers(last) - 1;
    }
    return out;
  }
  void write(PagedGroup& g) {
    for (PagedTable& table : g.tables) {
      if (table.blocks.empty()) continue;
      if (pool_.write(table) != PagedWrite::copied) continue;
      ++ledger_.run.copies;
      if (ledger_.run.copied.size() < paged_events_max) ledger_.run.copied.push_back({ledger_.now_us, g.request});
    }
  }

  /// Slots for the next token of all who run, the oldest first. True if somebody was sent back for it.
  bool make_room() {
    bool sent_back = false;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      running_[i].stalled = false;
      replace_answer(running_[i]);
      while (blocks_to_write(running_[i]) > pool_.free_blocks()) {
        if (setup_.when_full == PoolFull::wait) {
          running_[i].stalled = true;
          break;
        }
        preempt();
        sent_back = true;
        if (i >= running_.size()) return true;  // it was the youngest itself
      }
      if (!running_[i].stalled) write(running_[i]);
    }
    return sent_back;
  }
  /// Beam search: one answer is dropped, and another goes on twice.
  void replace_answer(PagedGroup& g) {
    if (!(setup_.replaced > 0) || g.tables.size() < 2 || !setup_.share) return;
    const std::uint64_t draws = counter_hash(stream_, static_cast<std::uint64_t>(g.request));
    const auto at = 3 * static_cast<std::uint64_t>(g.produced);
    if (!(unit_draw(draws, at) < setup_.replaced)) return;
    const std::size_t n = g.tables.size(), from = counter_hash(draws, at + 1) % n,
                      to = (from + 1 + counter_hash(draws, at + 2) % (n - 1)) % n;
    if (g.tables[from].blocks.empty() || g.tables[to].blocks.empty()) return;
    pool_.release(g.tables[to]);
    g.tables[to] = pool_.fork(g.tables[from]);
  }

  /// The youngest who runs goes back into the line.
  void preempt() {
    PagedGroup g = std::move(running_.back());
    running_.pop_back();
    ++ledger_.run.preemptions;
    ++ledger_.run.served[static_cast<std::size_t>(g.request)].preempted;
    if (ledger_.run.preempted.size() < paged_events_max) ledger_.run.preempted.push_back({ledger_.now_us, g.request});
    const std::int64_t before = pool_.free_blocks();
    for (PagedTable& table : g.tables) pool_.release(table);
    const std::int64_t blocks = pool_.free_blocks() - before;
    const bool room = host_taken_ + blocks <= setup_.host_blocks;
    g.prefill = setup_.when_full != PoolFull::swap || !room;
    if (!g.prefill) {
      g.host_blocks = blocks;
      host_taken_ += blocks;
      ledger_.run.swapped_out_blocks += blocks;
      load_.moved_bytes += block_bytes() * static_cast<double>(blocks);
    } else if (setup_.when_full == PoolFull::swap) {
      ++ledger_.run.host_full;
    }
    ledger_.wait(g.request);
    back_.push_back(std::move(g));
  }
  double block_bytes() const { return static_cast<double>(pool_.block_tokens()) * setup_.token_bytes; }

  void admit_all() {
    while (!ledger_.queue.empty() && static_cast<std::int64_t>(running_.size()) < setup_.max_running) {
      const std::int32_t request = ledger_.queue.front();
      const auto known =
          std::find_if(back_.begin(), back_.end(), [&](const PagedGroup& g) { return g.request == request; });
      PagedGroup fresh{.request = request};
      PagedGroup& g = known != back_.end() ? *known : fresh;
      const std::int64_t prompt = request_of(g).prompt_tokens, many = live_answers(g);
      // Who comes back by swap writes a token in the same step.
      const std::int64_t need = blocks_of(prompt, prompt + g.produced, many),
                         kept = running_.empty() ? 0 : setup_.watermark_blocks;
      if (pool_.free_blocks() - need < kept) return;
      ledger_.queue.pop_front();
      ledger_.start(request);
      fill_tables(g);
      const auto place =
          std::upper_bound(running_.begin(), running_.end(), request,
                           [&](std::int32_t a, const auto& b) { return ledger_.rank(a) < ledger_.rank(b.request); });
      running_.insert(place, std::move(g));
      if (known != back_.end()) back_.erase(known);
    }
  }
  /// Blocks for prompt and what was produced: computed in the next step, or brought back from the host with the slot of
  /// the token that the step writes.
  void fill_tables(PagedGroup& g) {
    const std::int64_t prompt = request_of(g).prompt_tokens;
    g.tables.resize(answers());
    g.live = live_answers(g);
    std::size_t first = answers();
    for (std::size_t k = 0; k < answers(); ++k) {
      if (!live(g, k)) continue;
      if (setup_.share && first < k)
        g.tables[k] = pool_.fork(g.tables[first]);
      else
        pool_.take(g.tables[k], prompt);
      first = std::min(first, k);
    }
    for (PagedTable& table : g.tables)
      for (std::int32_t i = 0; !table.blocks.empty() && i < g.produced; ++i) pool_.write(table);
    if (!g.prefill) {
      host_taken_ -= g.host_blocks;
      load_.moved_bytes += block_bytes() * static_cast<double>(g.host_blocks);
      g.host_blocks = 0;
      return;
    }
    const std::int64_t many = live_answers(g), computed = (setup_.share ? 1 : many) * prompt + many * g.produced;
    load_.tokens += static_cast<double>(computed);
    load_.chunk_s += (setup_.share ? 1 : static_cast<double>(many)) *
                     setup_.cost->chunk_attention_s(static_cast<double>(prompt + g.produced), 0);
    if (g.produced > 0) ledger_.run.recomputed_tokens += computed;
  }

  void step() {
    std::int64_t sequences = 0;
    for (const PagedGroup& g : running_) {
      if (g.stalled) continue;
      for (const PagedTable& table : g.tables) {
        if (table.blocks.empty()) continue;
        ++sequences;
        if (g.prefill) continue;
        ++load_.tokens;
        load_.context += static_cast<double>(table.tokens);
      }
    }
    load_.rows = static_cast<double>(sequences);
    ledger_.count_step(sequences);
    if (!ledger_.advance(ledger_.now_us + step_us(load_, setup_), levels(), [&] { return frame(); })) return;
    for (PagedGroup& g : running_) {
      if (g.stalled) continue;
      g.prefill = false;
      ++g.produced;
      for (std::size_t k = 0; k < g.tables.size(); ++k) {
        if (g.tables[k].blocks.empty()) continue;
        ++ledger_.run.tokens;
        if (live(g, k)) continue;
        pool_.release(g.tables[k]);
        --g.live;
      }
    }
    std::erase_if(running_, [&](const PagedGroup& g) {
      if (g.live == 0) ledger_.finish(g.request);
      return g.live == 0;
    });
  }

  PoolLevels levels() const {
    PoolLevels out;
    const std::int64_t slots = pool_.taken_blocks() * pool_.block_tokens();
    out.used = static_cast<double>(pool_.filled_slots());
    out.never = static_cast<double>(slots - pool_.filled_slots());
    out.outside = static_cast<double>(setup_.pool_tokens - slots);
    out.running = static_cast<double>(running_.size());
    out.blocks = static_cast<double>(pool_.taken_blocks());
    out.named_blocks = static_cast<double>(pool_.named_blocks());
    for (const PagedGroup& g : running_) out.sequences += static_cast<double>(g.live);
    return out;
  }
  PoolFrame frame() const {
    PoolFrame out;
    for (const PagedGroup& g : running_)
      for (std::size_t k = 0; k < g.tables.size(); ++k) {
        const PagedTable& table = g.tables[k];
        if (table.blocks.empty()) continue;
        const PagedRequest& r = request_of(g);
        out.sequences.push_back({g.request, static_cast<std::int32_t>(k), static_cast<std::int64_t>(out.blocks.size()),
                                 static_cast<std::int64_t>(table.blocks.size()), table.tokens,
                                 r.prompt_tokens + r.output_tokens[k] - 1, g.stalled});
        out.blocks.insert(out.blocks.end(), table.blocks.begin(), table.blocks.end());
      }
    out.free_slots = pool_.free_blocks() * pool_.block_tokens();
    out.longest_hole = out.free_slots;
    out.host_blocks = host_taken_;
    return out;
  }

  void note_end() {
    PagedRun& run = ledger_.run;
    run.stuck_us = stuck_us_;
    if (stuck_us_ >= 0) run.stuck_requests = static_cast<std::int64_t>(running_.size());
    if (setup_.until_us != std::numeric_limits<std::int64_t>::max())
      ledger_.advance(std::max(ledger_.now_us, setup_.until_us), levels(), [&] { return frame(); });
    std::int64_t named = 0;
    std::vector<bool> seen(static_cast<std::size_t>(pool_.blocks()));
    for (const PagedGroup& g : running_)
      for (const PagedTable& table : g.tables)
        for (const std::int32_t block : table.blocks)
          if (!seen[static_cast<std::size_t>(block)]) {
            seen[static_cast<std::size_t>(block)] = true;
            ++named;
          }
    run.blocks_left = pool_.taken_blocks() - named;
  }

  const PagedDemand& demand_;
  const PagedSetup& setup_;
  Ledger ledger_;
  PagedBlocks pool_;
  std::uint64_t stream_;
  StepLoad load_;
  std::vector<PagedGroup> running_;  ///< by rank
  std::vector<PagedGroup> back_;     ///< who was preempted and waits
  std::int64_t host_taken_ = 0, stuck_us_ = -1;
};

}  // namespace

PagedRun simulate_paged(const PagedDemand& demand, const PagedSetup& setup) { return PagedEngine(demand, setup).run(); }

}  // namespace models
