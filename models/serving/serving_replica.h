#pragma once
#include <deque>
#include <vector>

#include "models/serving/serving_ledger.h"
#include "models/serving/serving_prefix_store.h"

/// One replica of a model that changes its batch at every step, advanced from event to event. Time is kept in whole
/// microseconds: a step lasts its price, rounded, and at least one.
namespace models::serving {

inline constexpr std::int64_t never_us = std::numeric_limits<std::int64_t>::max();
inline double seconds_of(std::int64_t us) { return static_cast<double>(us) / 1e6; }
/// The first whole microsecond that is not before `time_s`; exact where the time was given in microseconds.
std::int64_t microseconds_from(double time_s);
/// A span of time in whole microseconds, and at least `least`.
std::int64_t microseconds_in(double span_s, std::int64_t least = 0);

/// A sequence in the batch. Stored tokens have their keys and values in the cache; the newest token has not.
struct Sequence {
  std::size_t request = 0;
  std::int64_t lane = 0;
  std::int64_t stored = 0, blocks = 0;
  std::int64_t prompt_left = 0;  ///< tokens to put through before it decodes
  std::int64_t tokens_left = 0;  ///< to generate
  std::int64_t since_us = 0;     ///< beginning of the span that goes on
  std::int64_t token_us = -1;    ///< time of its newest token; before the first, -1
};
/// A request in the queue; one that was preempted, or that another replica has read, comes with what it has.
struct Waiting {
  std::size_t request = 0;
  std::int64_t generated = 0, swapped = 0;  ///< tokens generated; tokens of cache on the host
  std::int64_t token_us = -1;               ///< as of a sequence
  std::int64_t remote = 0;                  ///< tokens of cache that lie on another replica
  std::int64_t remote_blocks = 0;           ///< that they hold there
  std::int32_t source = -1;                 ///< that replica
};

/// What a replica is for: whole requests, prompts alone, or the tokens after the first alone.
enum class Duty : std::uint8_t { all, prefill, decode };

/// Moves caches between replicas.
class Links {
 public:
  virtual ~Links() = default;
  /// When the cache of this request, admitted now, is here in whole.
  virtual std::int64_t send(std::int64_t now_us, const Waiting& from) = 0;
};

class Replica {
 public:
  Replica(const Share& share, const ServingSetup& setup, Ledger& ledger, Duty duty = Duty::all, Links* links = nullptr);

  /// Request `i` of the share joins the queue at its time of arrival.
  void offer(std::size_t i);
  /// A request that another replica has read joins the queue.
  void offer(const Waiting& read, std::int64_t now_us);
  /// When the step under way ends; never_us while there is nothing to do.
  std::int64_t next_us() const { return work_.kind == Work::Kind::none ? never_us : work_.end_us; }
  /// The step under way ends, and the next one begins.
  void go_on();
  /// Blocks that were kept for a cache on its way are free from now on; a session may go on from its tokens.
  void free_sent(std::int64_t now_us, std::size_t request, std::int64_t blocks, std::int64_t tokens);
  /// Requests whose prompts were read here and that another replica must go on with; empties the list.
  std::vector<Waiting> take_read() { return std::exchange(read_, {}); }

  std::int64_t requests() const {
    return static_cast<std::int64_t>(queue_.size() + running_.size() + incoming_.size());
  }
  std::int64_t waiting() const { return static_cast<std::int64_t>(queue_.size()); }
  std::int64_t running() const { return static_cast<std::int64_t>(running_.size() + incoming_.size()); }
  /// Tokens of prompts that wait here or are not through, without what was found in the store.
  std::int64_t prompt_tokens_left() const;
  /// Blocks taken, and those that the queue will take for its prompts.
  std::int64_t blocks_claimed() const { return setup_.blocks - room() + blocks_of(queued_tokens_, setup_); }
  /// Tokens at the beginning of this request whose cache is kept here.
  std::int64_t kept_tokens(std::int32_t session, std::int64_t shared) const;
  bool idle() const { return requests() == 0 && sent_blocks_ == 0; }
  /// Blocks that somebody holds.
  std::int64_t blocks_held() const { return setup_.blocks - room(); }

 private:
  struct Work {
    enum class Kind : std::uint8_t { none, wait, prompts, mixed, decode } kind = Kind::none;
    std::int64_t start_us = 0, end_us = 0, steps = 0;
    double batch = 0;  ///< sequences in it
    Ramp ramp;
  };
  struct Incoming {
    Sequence sequence;
    std::int64_t ready_us = 0;
  };

  void interrupt(std::int64_t now_us);
  void begin();
  void land();
  void drop_late();
  std::size_t admit();
  bool admit_first();
  bool plan(std::size_t held);
  void plan_prompts();
  bool plan_mixed();
  bool plan_decode();
  void set(Work::Kind kind, double span_s);
  void finish_prompts();
  void finish_mixed();
  void finish_decode();
  void token(Sequence& s, std::int64_t now_us);
  void tick(const Sequence& s, std::int64_t now_us);
  void emit_first(Sequence& s);
  std::int64_t lacking(const Sequence& s, std::int64_t steps) const;
  std::int64_t growth(std::int64_t steps) const;
  bool grow(std::int64_t steps);
  void preempt();
  void retire();
  void hand_over();
  void release(const Sequence& s, bool preempted, std::int64_t kept_blocks);
  void take_blocks(std::int64_t blocks);
  std::int64_t room() const { return free_ + store_.blocks(); }
  double now_s() const { return seconds_of(now_us_); }
  const PromptPrefix* prefix_of(std::size_t i) const;
  std::int64_t find_kept(std::size_t i, std::int64_t prompt);

  const Share& share_;
  const ServingSetup& setup_;
  const ServingCost& cost_;
  Ledger& ledger_;
  Duty duty_;
  Links* links_;
  std::deque<Waiting> queue_;
  std::vector<Sequence> running_;
  std::vector<Incoming> incoming_;
  std::vector<Waiting> read_;
  std::vector<std::int64_t> lanes_, chunks_;
  PrefixStore store_;
  Work work_;
  std::int64_t free_ = 0, sent_blocks_ = 0, prefilling_ = 0, queued_tokens_ = 0;
  std::int64_t now_us_ = 0, delay_us_ = 0;  ///< delay: transfers before the next step begins
  bool resting_ = false;  ///< after a preemption nobody is admitted until somebody is done: the blocks just freed are
                          ///< for those who stay
};

}  // namespace models::serving
