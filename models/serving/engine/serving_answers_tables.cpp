#include <algorithm>

#include "models/base/counter_random.h"
#include "models/serving/engine/serving_answers.h"

/// Blocks that several answers read, and that are copied when one of them writes.
namespace models::serving {

AnswerTables::AnswerTables(std::span<const ServingRequest> requests, const ServingSetup& setup)
    : setup_(setup),
      lengths_(requests, setup.answers),
      pool_(setup.blocks, setup.block_tokens),
      stream_(random_stream(static_cast<std::int64_t>(setup.answers.seed), 71)),
      groups_(static_cast<std::size_t>(setup.slots)) {}

/// Blocks for `many` answers of so many tokens each, of which `prompt` are the same.
std::int64_t AnswerTables::blocks_of_answers(std::int64_t prompt, std::int64_t tokens, std::int64_t many) const {
  if (!setup_.answers.share) return many * pool_.blocks_for(tokens);
  if (tokens <= prompt) return pool_.blocks_for(prompt);
  const std::int64_t whole = prompt / pool_.block_tokens();
  return whole + many * (pool_.blocks_for(tokens) - whole);
}

std::int64_t AnswerTables::final_blocks(std::size_t id) const {
  std::int32_t longest = 1;
  for (std::size_t k = 0; k < lengths_.count(); ++k) longest = std::max(longest, lengths_.tokens(id, k));
  const std::int64_t prompt = lengths_.prompt(id);
  return blocks_of_answers(prompt, prompt + longest - 1, static_cast<std::int64_t>(lengths_.count()));
}

std::int64_t AnswerTables::lost_blocks() const {
  std::int64_t named = 0;
  std::vector<bool> seen(static_cast<std::size_t>(pool_.blocks()));
  for (const Group& g : groups_)
    for (const PagedTable& table : g.tables)
      for (const std::int32_t block : table.blocks) {
        if (!seen[static_cast<std::size_t>(block)]) ++named;
        seen[static_cast<std::size_t>(block)] = true;
      }
  return pool_.taken_blocks() - named;
}

bool AnswerTables::take(std::int64_t lane, std::size_t id, std::int32_t produced, std::int64_t kept) {
  const std::int64_t prompt = lengths_.prompt(id);
  std::int64_t many = 0;
  for (std::size_t k = 0; k < lengths_.count(); ++k) many += produced < lengths_.tokens(id, k);
  if (pool_.free_blocks() - blocks_of_answers(prompt, prompt + produced, many) < kept) return false;
  Group& g = at(lane);
  g.id = id;
  g.live = many;
  g.tables.resize(lengths_.count());
  const PagedTable* first = nullptr;
  for (std::size_t k = 0; k < g.tables.size(); ++k) {
    if (produced >= lengths_.tokens(id, k)) continue;
    if (setup_.answers.share && first)
      g.tables[k] = pool_.fork(*first);
    else
      pool_.take(g.tables[k], prompt);
    if (!first) first = &g.tables[k];
  }
  for (PagedTable& table : g.tables)
    for (std::int32_t i = 0; !table.blocks.empty() && i < produced; ++i) pool_.write(table);
  return true;
}

/// Beam search: one answer is dropped, and another goes on twice.
void AnswerTables::replace(std::int64_t lane, std::int32_t produced) {
  Group& g = at(lane);
  if (!(setup_.answers.replaced > 0) || g.tables.size() < 2 || !setup_.answers.share) return;
  const std::uint64_t draws = counter_hash(stream_, static_cast<std::uint64_t>(g.id));
  const auto draw = 3 * static_cast<std::uint64_t>(produced);
  if (!(unit_draw(draws, draw) < setup_.answers.replaced)) return;
  const std::size_t n = g.tables.size(), from = counter_hash(draws, draw + 1) % n,
                    to = (from + 1 + counter_hash(draws, draw + 2) % (n - 1)) % n;
  if (g.tables[from].blocks.empty() || g.tables[to].blocks.empty()) return;
  pool_.release(g.tables[to]);
  g.tables[to] = pool_.fork(g.tables[from]);
}

/// Free blocks that the next token of each answer takes: a new one behind a full one, a copy for all but the last of
/// those who read one that is not full.
std::int64_t AnswerTables::blocks_to_write(const Group& g) const {
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

bool AnswerTables::can_write(std::int64_t lane) const {
  const Group& g = group(lane);
  // An answer takes one block at most, so that as many as there are answers are enough without a look at each.
  return pool_.free_blocks() >= g.live || blocks_to_write(g) <= pool_.free_blocks();
}

std::int64_t AnswerTables::write(std::int64_t lane) {
  std::int64_t copies = 0;
  for (PagedTable& table : at(lane).tables)
    if (!table.blocks.empty()) copies += pool_.write(table) == PagedWrite::copied;
  return copies;
}

std::int64_t AnswerTables::end_answers(std::int64_t lane, std::int32_t produced) {
  Group& g = at(lane);
  for (std::size_t k = 0; k < g.tables.size(); ++k) {
    if (g.tables[k].blocks.empty() || produced < lengths_.tokens(g.id, k)) continue;
    pool_.release(g.tables[k]);
    --g.live;
  }
  return g.live;
}

std::int64_t AnswerTables::release(std::int64_t lane) {
  const std::int64_t before = pool_.free_blocks();
  Group& g = at(lane);
  for (PagedTable& table : g.tables) pool_.release(table);
  g.tables.clear();
  g.live = 0;
  return pool_.free_blocks() - before;
}

}  // namespace models::serving
