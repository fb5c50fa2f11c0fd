#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "models/serving/engine/paged_kv_blocks.h"
#include "models/serving/engine/serving.h"

/// The cache of a replica that follows each block or slot: what several answers to one prompt share, and copy when they
/// part.
namespace models::serving {

/// How long each answer of each request is.
class AnswerLengths {
 public:
  AnswerLengths(std::span<const ServingRequest> requests, const ServingAnswers& how) : requests_(requests), how_(how) {}
  std::size_t count() const { return static_cast<std::size_t>(how_.count); }
  std::int32_t prompt(std::size_t id) const { return requests_[id].prompt_tokens; }
  std::int32_t tokens(std::size_t id, std::size_t answer) const {
    return how_.tokens.empty() ? requests_[id].output_tokens : how_.tokens[id * count() + answer];
  }
  std::int64_t all_tokens(std::size_t id) const;

 private:
  std::span<const ServingRequest> requests_;
  const ServingAnswers& how_;
};

/// Requests are named by their number, and those under way by their lane.
class AnswerCache {
 public:
  virtual ~AnswerCache() = default;
  virtual std::int64_t free_blocks() const = 0;
  /// Taken, and held by nobody who is under way: more than 0 would be a leak.
  virtual std::int64_t lost_blocks() const = 0;
  /// Room for the prompt and `produced` tokens of each answer that goes on then; all of it with `kept` blocks free
  /// afterwards, or none.
  virtual bool take(std::int64_t lane, std::size_t id, std::int32_t produced, std::int64_t kept) = 0;
  /// An answer may be dropped for a copy of another before they write token number `produced`.
  virtual void replace(std::int64_t, std::int32_t /*produced*/) {}
  /// Is there a slot for the next token of each answer?
  virtual bool can_write(std::int64_t) const { return true; }
  /// Takes those slots; returns how many blocks were copied for it.
  virtual std::int64_t write(std::int64_t) { return 0; }
  /// Answers that have all their tokens give up what they hold; returns how many go on.
  virtual std::int64_t end_answers(std::int64_t lane, std::int32_t produced) = 0;
  /// Gives up all that the lane holds; returns how many blocks are free by it.
  virtual std::int64_t release(std::int64_t lane) = 0;
  virtual std::int64_t live(std::int64_t lane) const = 0;  ///< answers that go on
  /// How many times its prompt is computed.
  virtual std::int64_t prompts(std::int64_t lane) const = 0;
};

/// Tables over a pool of blocks, with copy on write.
class AnswerTables final : public AnswerCache {
 public:
  struct Group {
    std::size_t id = 0;
    std::int64_t live = 0;
    std::vector<PagedTable> tables;  ///< by answer; empty once it is done
  };
  AnswerTables(std::span<const ServingRequest> requests, const ServingSetup& setup);

  std::int64_t free_blocks() const override { return pool_.free_blocks(); }
  std::int64_t lost_blocks() const override;
  bool take(std::int64_t lane, std::size_t id, std::int32_t produced, std::int64_t kept) override;
  void replace(std::int64_t lane, std::int32_t produced) override;
  bool can_write(std::int64_t lane) const override;
  std::int64_t write(std::int64_t lane) override;
  std::int64_t end_answers(std::int64_t lane, std::int32_t produced) override;
  std::int64_t release(std::int64_t lane) override;
  std::int64_t live(std::int64_t lane) const override { return group(lane).live; }
  std::int64_t prompts(std::int64_t lane) const override { return setup_.answers.share ? 1 : live(lane); }

  const PagedBlocks& pool() const { return pool_; }
  const Group& group(std::int64_t lane) const { return groups_[static_cast<std::size_t>(lane)]; }
  /// Blocks that the request takes when its answers are all as long as the longest: enough, whoever ends first.
  std::int64_t final_blocks(std::size_t id) const;

 private:
  Group& at(std::int64_t lane) { return groups_[static_cast<std::size_t>(lane)]; }
  std::int64_t blocks_of_answers(std::int64_t prompt, std::int64_t tokens, std::int64_t many) const;
  std::int64_t blocks_to_write(const Group& g) const;

  const ServingSetup& setup_;
  AnswerLengths lengths_;
  PagedBlocks pool_;
  std::uint64_t stream_;  ///< draws which answer is replaced
  std::vector<Group> groups_;
};

/// Runs of slots that are reserved ahead.
class AnswerRuns final : public AnswerCache {
 public:
  /// A run of slots and what its answer will fill of it.
  struct Reservation {
    std::int64_t start = 0, slots = 0, final_tokens = 0;
    bool done = false;
  };
  struct Group {
    std::size_t id = 0;
    std::int64_t live = 0;
    std::vector<Reservation> answers;
  };
  AnswerRuns(std::span<const ServingRequest> requests, const ServingSetup& setup);

  std::int64_t free_blocks() const override { return slots_.free_slots() / setup_.block_tokens; }
  std::int64_t lost_blocks() const override;
  bool take(std::int64_t lane, std::size_t id, std::int32_t produced, std::int64_t kept) override;
  std::int64_t end_answers(std::int64_t lane, std::int32_t produced) override;
  std::int64_t release(std::int64_t lane) override;
  std::int64_t live(std::int64_t lane) const override { return group(lane).live; }
  std::int64_t prompts(std::int64_t lane) const override { return live(lane); }

  const SlotRuns& slots() const { return slots_; }
  const Group& group(std::int64_t lane) const { return groups_[static_cast<std::size_t>(lane)]; }
  /// Slots that this answer gets in a row.
  std::int64_t slots_of(std::size_t id, std::size_t answer) const;
  bool ever_fits(std::size_t id) const;

 private:
  std::int64_t final_tokens(std::size_t id, std::size_t answer) const {
    return std::int64_t{lengths_.prompt(id)} + lengths_.tokens(id, answer) - 1;
  }
  const ServingSetup& setup_;
  AnswerLengths lengths_;
  std::int64_t all_slots_;
  SlotRuns slots_;
  std::vector<Group> groups_;
};

/// The cache that the setup asks for; none where blocks are only counted.
std::unique_ptr<AnswerCache> make_answer_cache(std::span<const ServingRequest> requests, const ServingSetup& setup);

/// Slots of an answer under a rule.
std::int64_t reserved_slots(std::int64_t prompt, std::int64_t output, ReserveRule rule, std::int64_t reserve_tokens);

/// Which requests an empty replica could serve.
class RoomCheck {
 public:
  RoomCheck(std::span<const ServingRequest> requests, const ServingSetup& setup)
      : requests_(requests), setup_(setup), cache_(make_answer_cache(requests, setup)) {}
  bool ever_fits(std::size_t id) const;

 private:
  std::span<const ServingRequest> requests_;
  const ServingSetup& setup_;
  std::unique_ptr<AnswerCache> cache_;
};

}  // namespace models::serving
