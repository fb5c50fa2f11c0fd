#include "models/debugging/twin_search.h"

#include <algorithm>

namespace models::debugging {
namespace {

/// Hash over hashes: differs from the first difference on, whatever becomes equal again.
std::uint64_t chained(std::uint64_t before, std::uint64_t next) {
  std::uint64_t h = (before ^ next) * 0xD1342543DE82EF95u + 1;
  h ^= h >> 29;
  return h * 0x9E3779B97F4A7C15u;
}

/// Weights and moments alone: what an entry of the log covers between steps.
std::uint64_t state_hash(const TwinHashes& cells) {
  std::uint64_t h = 0;
  for (std::size_t i = 2 * twin_layers; i < cells.size(); ++i) h = chained(h, cells[i]);
  return h;
}

/// Chained hashes of the states after the steps that are logged; a run that ended early has none for the rest.
std::vector<std::uint64_t> chain_of(const std::vector<TwinHashes>& hashes, const std::vector<int>& logged) {
  std::vector<std::uint64_t> chain;
  std::uint64_t h = 0;
  for (const int step : logged) {
    h = chained(h, step < static_cast<int>(hashes.size()) ? state_hash(hashes[static_cast<std::size_t>(step)]) : 0);
    chain.push_back(h);
  }
  return chain;
}

struct Search {
  HashSearch found;

  bool differs(ProbeLevel level, int lo, int hi, int at, std::uint64_t a, std::uint64_t b) {
    found.probes.push_back({.level = level, .lo = lo, .hi = hi, .at = at, .equal = a == b});
    return a != b;
  }

  /// The first cell of a step, from the chain over its cells.
  void find_cell(const TwinHashes& a, const TwinHashes& b) {
    std::array<std::uint64_t, twin_cells> ca{}, cb{};
    for (std::size_t i = 0; i < a.size(); ++i) {
      ca[i] = chained(i ? ca[i - 1] : 0, a[i]);
      cb[i] = chained(i ? cb[i - 1] : 0, b[i]);
    }
    const int index = first_by_halving(twin_cells, [&](int at, int lo, int hi) {
      return differs(ProbeLevel::cell, lo, hi, at, ca[static_cast<std::size_t>(at)], cb[static_cast<std::size_t>(at)]);
    });
    found.cell = twin_cell(index);
    found.in_order += index + 1;
    found.end = SearchEnd::cell;
  }
};

/// The steps `from` to `to` once more, from the state that both runs shared before them. What lasted one step does not
/// come again.
TwinSecond run_again(const TwinHealthy& healthy, TwinFault fault, int from, int to) {
  if (!comes_again(fault.kind)) fault.kind = PlantedFault::none;
  TwinSecond again;
  TwinState state = healthy.states[static_cast<std::size_t>(from)];
  TwinPass pass;
  for (int s = from; s <= to; ++s) {
    twin_step(healthy.seed, s, step_fault(fault, s, nullptr), state, pass);
    again.hashes.push_back(hashes_of(pass, state));
  }
  return again;
}

}  // namespace

HashSearch search_hashes(const TwinHealthy& healthy, const TwinSecond& second, const TwinFault& fault, int steps,
                         int interval) {
  Search s;
  std::vector<int> logged;
  // A run that ECC stopped has no log beyond its end, and nobody needs one: the machine has said where.
  const int last = second.stopped ? static_cast<int>(second.hashes.size()) : steps;
  for (int end = interval; end < last; end += interval) logged.push_back(end - 1);
  if (last > 0) logged.push_back(last - 1);
  s.found.logged_entries = static_cast<int>(logged.size());
  if (logged.empty()) return s.found;
  const auto a = chain_of(healthy.hashes, logged), b = chain_of(second.hashes, logged);
  if (!s.differs(ProbeLevel::logged, 0, last - 1, logged.back(), a.back(), b.back())) {
    s.found.in_order = s.found.logged_entries;
    return s.found;
  }
  const auto begin_of = [&](int entry) { return entry > 0 ? logged[static_cast<std::size_t>(entry - 1)] + 1 : 0; };
  const int entry = first_by_halving(static_cast<int>(logged.size()), [&](int at, int lo, int hi) {
    const auto i = static_cast<std::size_t>(at);
    return s.differs(ProbeLevel::logged, begin_of(lo), logged[static_cast<std::size_t>(hi)], logged[i], a[i], b[i]);
  });
  s.found.in_order += entry + 1;
  const int from = begin_of(entry), to = logged[static_cast<std::size_t>(entry)];
  s.found.from_step = from;
  s.found.to_step = to;
  s.found.end = SearchEnd::interval;
  const auto healthy_at = [&](int step) { return healthy.hashes[static_cast<std::size_t>(step)]; };
  if (from == to) {
    if (to < static_cast<int>(second.hashes.size()))
      s.find_cell(healthy_at(to), second.hashes[static_cast<std::size_t>(to)]);
    return s.found;
  }
  const TwinSecond again = run_again(healthy, fault, from, to);
  s.found.replayed_steps = to - from + 1;
  std::vector<std::uint64_t> ca, cb;
  for (int step = from; step <= to; ++step) {
    const auto i = static_cast<std::size_t>(step - from);
    ca.push_back(chained(i ? ca.back() : 0, state_hash(healthy_at(step))));
    cb.push_back(chained(i ? cb.back() : 0, state_hash(again.hashes[i])));
  }
  if (!s.differs(ProbeLevel::replayed, from, to, to, ca.back(), cb.back())) return s.found;
  const int own = first_by_halving(to - from + 1, [&](int at, int lo, int hi) {
    const auto i = static_cast<std::size_t>(at);
    return s.differs(ProbeLevel::replayed, from + lo, from + hi, from + at, ca[i], cb[i]);
  });
  s.found.in_order += own + 1;
  s.found.from_step = s.found.to_step = from + own;
  s.find_cell(healthy_at(from + own), again.hashes[static_cast<std::size_t>(own)]);
  return s.found;
}

}  // namespace models::debugging
