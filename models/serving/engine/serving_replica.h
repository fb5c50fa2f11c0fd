#pragma once
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/serving/engine/serving_answers.h"
#include "models/serving/engine/serving_ledger.h"
#include "models/serving/prefix/serving_prefix_store.h"
#include "models/serving/prefix/serving_prefix_tree.h"

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
  std::int64_t shared = 0;       ///< those of its blocks that lie in the tree, down to `node`
  std::int64_t prompt_left = 0;  ///< tokens to put through before it decodes
  std::int64_t tokens_left = 0;  ///< to generate
  std::int64_t since_us = 0;     ///< beginning of the span that goes on
  std::int64_t token_us = -1;    ///< time of its newest token; before the first, -1
  std::int32_t node = -1;
  bool stalled = false;  ///< stands still for lack of a block
};
/// A request in the queue; one that was preempted, or that another replica has read, comes with what it has.
struct Waiting {
  std::size_t request = 0;
  std::int64_t generated = 0, swapped = 0;  ///< tokens generated; tokens of cache on the host
  std::int64_t host_blocks = 0;             ///< that they hold there, where blocks are followed
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
  /// When the cache of this request, admitted now by the replica at `place`, is there in whole.
  virtual std::int64_t send(std::size_t place, std::int64_t now_us, const Waiting& from) = 0;
};

class Replica;
/// Looks on as a replica works.
class ReplicaWatch {
 public:
  virtual ~ReplicaWatch() = default;
  /// Nothing changes from then to then.
  virtual void passes(std::int64_t from_us, std::int64_t to_us, const Replica& replica) = 0;
  virtual void sent_back(std::size_t, std::int64_t /*now_us*/) {}             ///< request, by its number
  virtual void copied(std::size_t, std::int64_t, std::int64_t /*now_us*/) {}  ///< request, and how many blocks
};

class Replica {
 public:
  Replica(const Share& share, const ServingSetup& setup, Ledger& ledger, Duty duty, Links* links);
  /// Its place among the replicas that its links know.
  void stand_at(std::size_t place) { place_ = place; }

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
  /// Tokens at the beginning of request number `id` whose cache is kept here.
  std::int64_t kept_tokens(std::size_t id) const;
  bool idle() const { return requests() == 0 && sent_blocks_ == 0; }
  /// Blocks that somebody holds.
  std::int64_t blocks_held() const { return setup_.blocks - room(); }
  /// Blocks that nobody gives back any more, or that were taken and not there: more than 0 would be a fault.
  std::int64_t blocks_left() const { return answers_ ? answers_->lost_blocks() : blocks_held() + overdrawn_; }

  // For those who look on.
  void watch(ReplicaWatch* watch) { watch_ = watch; }
  /// The clock goes on for whoever looks on.
  void pass(std::int64_t now_us);
  const std::deque<Waiting>& queue() const { return queue_; }
  const std::vector<Sequence>& batch() const { return running_; }
  const AnswerCache* answers() const { return answers_.get(); }
  std::size_t number_of(std::size_t request) const { return static_cast<std::size_t>(share_.ids[request]); }
  /// Sequences in the step under way; where blocks are counted, those that run.
  std::int64_t sequences() const { return answers_ ? rows_ : running(); }
  std::int64_t still_since_us() const { return still_since_us_; }  ///< nobody has moved since then; -1: somebody does
  std::int64_t host_blocks() const { return host_blocks_; }        ///< taken in the host

 private:
  struct Work {
    enum class Kind : std::uint8_t { none, wait, prompts, mixed, decode, all } kind = Kind::none;
    std::int64_t start_us = 0, end_us = 0, steps = 0;
    double batch = 0;  ///< sequences in it
    Ramp ramp;
  };
  struct Incoming {
    Sequence sequence;
    std::int64_t ready_us = 0;
  };

  std::int64_t rank(std::size_t i) const { return share_.ids[i] == setup_.urgent ? -1 : static_cast<std::int64_t>(i); }
  void enqueue(const Waiting& w);
  void interrupt(std::int64_t now_us);
  void begin();
  void land();
  void drop_late();
  std::size_t admit();
  bool admit_first();
  bool take_counted(Sequence& s, const Waiting& w, std::int64_t kept);
  bool take_followed(Sequence& s, const Waiting& w, std::int64_t kept);
  // serving_replica_answers.cpp: where blocks are followed one by one.
  void begin_followed();
  bool find_slots();
  void plan_all();
  void finish_all();
  std::int64_t leave_cache(const Sequence& s);
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
  std::int64_t room() const { return free_ + store_.blocks() + tree_.blocks(); }
  bool has_tree() const { return tree_on_; }
  double now_s() const { return seconds_of(now_us_); }
  const PromptPrefix* prefix_of(std::size_t i) const;
  std::span<const std::int32_t> names_of(std::size_t id, std::int64_t tokens) const;
  std::int64_t kept_of_session(const PromptPrefix& prefix, std::int64_t shared) const;
  std::int64_t find_session(std::size_t i, std::int64_t prompt);
  void share_prompt(Sequence& s);

  const Share& share_;
  const ServingSetup& setup_;
  const ServingCost& cost_;
  Ledger& ledger_;
  Duty duty_;
  Links* links_;
  std::size_t place_ = 0;
  std::deque<Waiting> queue_;
  std::vector<Sequence> running_;
  std::vector<Incoming> incoming_;
  std::vector<Waiting> read_;
  std::vector<std::int64_t> lanes_, chunks_;
  PrefixStore store_;
  PrefixTreeStore tree_;
  std::unordered_map<std::size_t, std::int32_t> sent_nodes_;  ///< where prompts on their way end in the tree
  std::unique_ptr<AnswerCache> answers_;                      ///< null: blocks are counted
  ReplicaWatch* watch_ = nullptr;
  Work work_;
  std::int64_t overdrawn_ = 0;  ///< blocks by which more were taken than there are
  std::int64_t free_ = 0, sent_blocks_ = 0, prefilling_ = 0, queued_tokens_ = 0;
  std::int64_t now_us_ = 0, delay_us_ = 0;  ///< delay: transfers before the next step begins
  bool tree_on_ = false;
  std::int64_t seen_us_ = 0, rows_ = 0, still_since_us_ = -1, host_blocks_ = 0, moved_blocks_ = 0;
  bool resting_ = false;  ///< after a preemption nobody is admitted until somebody is done: the blocks just freed are
                          ///< for those who stay
};

}  // namespace models::serving
