#include "models/serving/prefix/prefix_cache_trace.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace models {
namespace {

std::int64_t take_number(std::string_view& text) {
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return value;
}

bool take_char(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

/// By request the earliest one that has the same first block.
std::vector<std::int32_t> first_of_family(const PromptTrace& trace) {
  std::vector<std::int32_t> out(trace.requests.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const PromptRequest& r = trace.requests[i];
    out[i] = r.like >= 0 ? out[static_cast<std::size_t>(r.like)] : static_cast<std::int32_t>(i);
  }
  return out;
}

}  // namespace

PromptTrace most_shared_families(const PromptTrace& trace, std::int64_t families) {
  if (families == 0) return trace;
  const std::vector<std::int32_t> family = first_of_family(trace);
  std::vector<std::int32_t> count(family.size(), 0), firsts;
  for (std::size_t i = 0; i < family.size(); ++i) {
    if (family[i] == static_cast<std::int32_t>(i)) firsts.push_back(family[i]);
    ++count[static_cast<std::size_t>(family[i])];
  }
  std::stable_sort(firsts.begin(), firsts.end(), [&](std::int32_t a, std::int32_t b) {
    return count[static_cast<std::size_t>(a)] > count[static_cast<std::size_t>(b)];
  });
  firsts.resize(std::min(firsts.size(), static_cast<std::size_t>(families)));
  std::vector<bool> kept(family.size(), false);
  for (const std::int32_t f : firsts) kept[static_cast<std::size_t>(f)] = true;
  PromptTrace out{trace.block_tokens, {}, {}};
  std::vector<std::int32_t> place(family.size(), -1);
  for (std::size_t i = 0; i < family.size(); ++i) {
    if (!kept[static_cast<std::size_t>(family[i])]) continue;
    place[i] = static_cast<std::int32_t>(out.requests.size());
    out.requests.push_back(trace.requests[i]);
    std::int32_t& like = out.requests.back().like;
    if (like >= 0) like = place[static_cast<std::size_t>(like)];
    if (!trace.sessions.empty()) out.sessions.push_back(trace.sessions[i]);
  }
  return out;
}

std::vector<std::int32_t> order_of_time(const PromptTrace& trace) {
  std::vector<std::int32_t> order(trace.requests.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return trace.requests[static_cast<std::size_t>(a)].time_ms < trace.requests[static_cast<std::size_t>(b)].time_ms;
  });
  return order;
}

PromptTrace parse_prompt_rows(std::string_view rows, std::int64_t block_tokens, bool partial) {
  PromptTrace out{block_tokens, {}, {}};
  const bool sessions = rows.find(';') != std::string_view::npos;
  std::int32_t session = 0;
  std::int64_t time_ms = 0;
  for (;;) {
    rows.remove_prefix(std::min(rows.find_first_not_of(" \n"), rows.size()));
    if (rows.empty()) return out;
    if (take_char(rows, ';')) {
      ++session;
      time_ms = 0;
      continue;
    }
    PromptRequest r;
    r.time_ms = time_ms += take_number(rows);
    take_char(rows, ',');
    r.tokens = take_number(rows);
    r.blocks = static_cast<std::int32_t>((r.tokens + (partial ? block_tokens - 1 : 0)) / block_tokens);
    if (take_char(rows, ',')) {
      const bool all = take_char(rows, '*');
      r.shared = all ? 0 : static_cast<std::int32_t>(take_number(rows));
      const std::int64_t back = take_char(rows, ',') ? take_number(rows) : 1;
      r.like = static_cast<std::int32_t>(static_cast<std::int64_t>(out.requests.size()) - back);
      if (all) r.shared = out.requests[static_cast<std::size_t>(r.like)].blocks;
    }
    out.requests.push_back(r);
    if (sessions) out.sessions.push_back(session);
  }
}

PromptTrace mooncake_synthetic_trace() { return parse_prompt_rows(mooncake_synthetic_rows(), 512, true); }

PromptTrace agent_session_trace() { return parse_prompt_rows(agent_session_rows(), 64, false); }

NamedPrompts named_prompts(const PromptTrace& trace) {
  NamedPrompts out{.block_tokens = trace.block_tokens, .names = {}, .first = {0}};
  std::int32_t fresh = 0;
  for (const PromptRequest& r : trace.requests) {
    const auto full = static_cast<std::size_t>(std::min<std::int64_t>(r.blocks, r.tokens / trace.block_tokens));
    std::size_t known = 0;
    if (r.like >= 0) {
      const std::size_t from = out.first[static_cast<std::size_t>(r.like)],
                        there = out.first[static_cast<std::size_t>(r.like) + 1] - from;
      known = std::min({static_cast<std::size_t>(r.shared), there, full});
      for (std::size_t i = 0; i < known; ++i) out.names.push_back(out.names[from + i]);
    }
    for (std::size_t i = known; i < full; ++i) out.names.push_back(fresh++);
    out.first.push_back(out.names.size());
  }
  return out;
}

}  // namespace models
