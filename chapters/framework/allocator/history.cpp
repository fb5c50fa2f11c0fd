#include "chapters/framework/allocator/history.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace chapters::framework::allocator {
namespace {

using namespace models::memory;

constexpr std::uint32_t for_ever = ~0u;
constexpr std::size_t max_points = 1500;

/// Writes down what lies where from which event on.
class History : public AllocatorWatcher {
 public:
  History(Run& run, std::vector<std::uint32_t> owners) : run_(run), owners_(std::move(owners)) {}
  /// What stands before the first event.
  void start_from(const CachingAllocator& allocator) {
    const std::vector<SegmentView> segments = allocator.snapshot();
    for (const SegmentView& s : segments) {
      reserved(s.address, s.bytes, s.small, s.expandable);
      for (const auto& p : s.parts)
        if (p.state != BlockState::free) taken(p.address, p.bytes, p.id);
    }
    note(allocator.figures());
    ++event_;
  }
  /// In the order of addresses, and the curves no longer than a plot can show.
  void finish() {
    const std::size_t done = levels_.size() - 1, step = std::max<std::size_t>(1, done / max_points);
    for (std::size_t i = 0; i <= done; ++i) {
      if (i % step != 0 && i != done) continue;
      run_.at.push_back(static_cast<double>(i));
      run_.reserved.push_back(levels_[i].first);
      run_.allocated.push_back(levels_[i].second);
    }
    std::sort(run_.ranges.begin(), run_.ranges.end(),
              [](const RangeSpan& a, const RangeSpan& b) { return a.address < b.address; });
    std::sort(run_.blocks.begin(), run_.blocks.end(),
              [](const BlockSpan& a, const BlockSpan& b) { return a.address < b.address; });
  }

  void event_done(const AllocatorFigures& figures) override {
    note(figures);
    ++event_;
  }
  void reserved(std::uint64_t address, std::uint64_t bytes, bool small, bool expandable) override {
    open_ranges_[address] = run_.ranges.size();
    run_.ranges.push_back({address, bytes, event_, for_ever, small, expandable});
  }
  /// Any pages of an expandable segment may go: what is left of a range goes on as a new one.
  void released(std::uint64_t address, std::uint64_t bytes) override {
    const std::uint64_t end = address + bytes;
    auto at = open_ranges_.upper_bound(address);
    if (at != open_ranges_.begin()) --at;
    while (at != open_ranges_.end() && at->first < end) {
      const RangeSpan r = run_.ranges[at->second];
      if (r.address + r.bytes <= address) {
        ++at;
        continue;
      }
      run_.ranges[at->second].last = event_;
      at = open_ranges_.erase(at);
      if (r.address < address) reserved(r.address, address - r.address, r.small, r.expandable);
      if (r.address + r.bytes > end) {
        reserved(end, r.address + r.bytes - end, r.small, r.expandable);
        break;
      }
    }
  }
  void taken(std::uint64_t address, std::uint64_t bytes, std::int32_t id) override {
    open_blocks_[address] = run_.blocks.size();
    const std::uint32_t owner =
        id >= 0 && static_cast<std::size_t>(id) < owners_.size() ? owners_[static_cast<std::size_t>(id)] : 0;
    run_.blocks.push_back({address, bytes, event_, for_ever, for_ever, owner});
  }
  void pending(std::uint64_t address) override {
    if (const auto at = open_blocks_.find(address); at != open_blocks_.end()) run_.blocks[at->second].pending = event_;
  }
  void returned(std::uint64_t address) override {
    const auto at = open_blocks_.find(address);
    if (at == open_blocks_.end()) return;
    run_.blocks[at->second].last = event_;
    open_blocks_.erase(at);
  }

 private:
  void note(const AllocatorFigures& figures) {
    levels_.emplace_back(static_cast<double>(figures.reserved_bytes()), static_cast<double>(figures.active_bytes));
    if (levels_.size() > 1 && figures.reserved_bytes() <= most_reserved_) return;
    most_reserved_ = figures.reserved_bytes();
    run_.fullest_event = event_;
  }

  Run& run_;
  std::vector<std::uint32_t> owners_;
  std::uint32_t event_ = 0;                        ///< events done once the one at hand is
  std::vector<std::pair<double, double>> levels_;  ///< reserved and in use after each event
  std::uint64_t most_reserved_ = 0;
  std::map<std::uint64_t, std::size_t> open_ranges_;
  std::unordered_map<std::uint64_t, std::size_t> open_blocks_;
};

}  // namespace

AllocatorRun replay_with_history(const Asked& asked, bool stop_at_failure, Run& run) {
  const AllocatorList& list = asked.program.list;
  std::vector<std::uint32_t> owners(static_cast<std::size_t>(list.ids), 0);
  std::copy(asked.initial_owners.begin(), asked.initial_owners.end(), owners.begin());
  for (const AllocatorEvent& e : list.events)
    if (e.action == AllocatorAction::allocate) owners[static_cast<std::size_t>(e.id)] = e.owner;
  run.owners = list.owners;
  run.device_bytes = static_cast<double>(asked.config.capacity_bytes);
  run.page_bytes = asked.config.large_segment_bytes;
  History history(run, std::move(owners));
  history.start_from(CachingAllocator(asked.config, list.ids, asked.initial, asked.placement));
  const AllocatorRun done = replay_allocator(list, asked.config,
                                             {.stop_at_failure = stop_at_failure,
                                              .initial = asked.initial,
                                              .placement = asked.placement,
                                              .watcher = &history});
  history.finish();
  if (done.failure) run.failed_event = static_cast<std::int64_t>(done.failure->event) + 1;
  return done;
}

}  // namespace chapters::framework::allocator
