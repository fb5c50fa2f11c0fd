#pragma once
#include <cstdint>
#include <vector>

/// A pool of cache blocks: a free list, a count of readers for each block, and tables that name the blocks of a
/// sequence in order, as vLLM's block manager has them (Kwon et al. 2023, sections 4.2 to 4.4).
namespace models {

/// Blocks of one sequence in order: token i lies in block `blocks[i / block_tokens]`, slot `i % block_tokens`.
struct PagedTable {
  std::vector<std::int32_t> blocks;
  std::int64_t tokens = 0;
};

/// What the writing of one token took. in_place: a free slot of its own last block. new_block: the last block was full.
/// copied: others read the last block too, so that it was copied first. refused: no block was free; nothing changed.
enum class PagedWrite : std::uint8_t { in_place, new_block, copied, refused };

/// A block is free, or is named by as many tables as it has readers. Only a block with one reader is written to.
class PagedBlocks {
 public:
  /// Both from 1 on.
  PagedBlocks(std::int64_t blocks, std::int64_t block_tokens);

  std::int64_t blocks() const { return static_cast<std::int64_t>(readers_.size()); }
  std::int64_t block_tokens() const { return block_tokens_; }
  std::int64_t free_blocks() const { return static_cast<std::int64_t>(free_.size()); }
  std::int64_t taken_blocks() const { return blocks() - free_blocks(); }
  /// Slots of taken blocks that hold a token, each counted once however many read it.
  std::int64_t filled_slots() const { return filled_slots_; }
  /// Entries of all tables: blocks that they would take unshared.
  std::int64_t named_blocks() const { return named_blocks_; }
  std::int32_t readers(std::int32_t block) const { return readers_[static_cast<std::size_t>(block)]; }
  std::int32_t filled(std::int32_t block) const { return filled_[static_cast<std::size_t>(block)]; }
  /// Does the next token need a block of its own?
  bool is_full(const PagedTable& table) const {
    return table.tokens == static_cast<std::int64_t>(table.blocks.size()) * block_tokens_;
  }
  std::int64_t blocks_for(std::int64_t tokens) const { return (tokens + block_tokens_ - 1) / block_tokens_; }

  /// Blocks of its own for an empty table and so many tokens; all or none.
  bool take(PagedTable& table, std::int64_t tokens);
  /// A second table over the same blocks: each gets one reader more, none is copied.
  PagedTable fork(const PagedTable& table);
  PagedWrite write(PagedTable& table);
  /// Gives the table's blocks up; those without another reader are free again. The table is empty afterwards.
  void release(PagedTable& table);

 private:
  std::int32_t take_one(std::int32_t filled);
  std::int64_t block_tokens_;
  std::int64_t filled_slots_ = 0, named_blocks_ = 0;
  std::vector<std::int32_t> free_;  ///< the last one is taken next
  std::vector<std::int32_t> readers_, filled_;
};

}  // namespace models
