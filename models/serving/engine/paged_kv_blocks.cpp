#include "models/serving/engine/paged_kv_blocks.h"

#include <algorithm>

namespace models {
namespace {

std::size_t at(std::int32_t block) { return static_cast<std::size_t>(block); }

}  // namespace

PagedBlocks::PagedBlocks(std::int64_t blocks, std::int64_t block_tokens)
    : block_tokens_(std::max<std::int64_t>(1, block_tokens)) {
  const auto n = static_cast<std::size_t>(std::max<std::int64_t>(0, blocks));
  readers_.assign(n, 0);
  filled_.assign(n, 0);
  free_.reserve(n);
  for (std::size_t i = n; i > 0; --i) free_.push_back(static_cast<std::int32_t>(i - 1));
}

std::int32_t PagedBlocks::take_one(std::int32_t filled) {
  const std::int32_t block = free_.back();
  free_.pop_back();
  readers_[at(block)] = 1;
  filled_[at(block)] = filled;
  filled_slots_ += filled;
  return block;
}

bool PagedBlocks::take(PagedTable& table, std::int64_t tokens) {
  if (blocks_for(tokens) > free_blocks()) return false;
  for (std::int64_t left = tokens; left > 0; left -= block_tokens_)
    table.blocks.push_back(take_one(static_cast<std::int32_t>(std::min(left, block_tokens_))));
  named_blocks_ += static_cast<std::int64_t>(table.blocks.size());
  table.tokens = tokens;
  return true;
}

PagedTable PagedBlocks::fork(const PagedTable& table) {
  for (const std::int32_t block : table.blocks) ++readers_[at(block)];
  named_blocks_ += static_cast<std::int64_t>(table.blocks.size());
  return table;
}

PagedWrite PagedBlocks::write(PagedTable& table) {
  if (is_full(table)) {
    if (free_.empty()) return PagedWrite::refused;
    table.blocks.push_back(take_one(1));
    ++named_blocks_;
    ++table.tokens;
    return PagedWrite::new_block;
  }
  std::int32_t& last = table.blocks.back();
  if (readers_[at(last)] == 1) {
    ++filled_[at(last)];
    ++filled_slots_;
    ++table.tokens;
    return PagedWrite::in_place;
  }
  if (free_.empty()) return PagedWrite::refused;
  --readers_[at(last)];
  last = take_one(filled_[at(last)] + 1);
  ++table.tokens;
  return PagedWrite::copied;
}

void PagedBlocks::release(PagedTable& table) {
  named_blocks_ -= static_cast<std::int64_t>(table.blocks.size());
  for (const std::int32_t block : table.blocks) {
    if (--readers_[at(block)] > 0) continue;
    filled_slots_ -= filled_[at(block)];
    filled_[at(block)] = 0;
    free_.push_back(block);
  }
  table.blocks.clear();
  table.tokens = 0;
}

}  // namespace models
