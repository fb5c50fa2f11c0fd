#include "models/serving/engine/serving_pool.h"

#include <algorithm>

namespace models::serving {

void ReplicaPool::set_link(double bytes_per_s, double latency_s, double bytes_per_token) {
  link_bytes_per_s_ = bytes_per_s;
  link_latency_s_ = latency_s;
  bytes_per_token_ = bytes_per_token;
}

std::size_t ReplicaPool::add(const ServingSetup& setup, Duty duty, bool pictured, std::vector<std::int32_t> ids) {
  const std::size_t place = members_.size();
  members_.push_back(std::make_unique<Member>(requests_, std::move(ids), setup, run_, duty, pictured, this));
  members_.back()->replica.stand_at(place);
  next_us_.push_back(never_us);
  return place;
}

/// At equal times requests come first, then caches, then the owner's timer, then steps end.
void ReplicaPool::run(PoolRules& rules) {
  rules_ = &rules;
  std::int64_t arrival_us = rules.arrival_us();
  for (;;) {
    const auto next = std::min_element(next_us_.begin(), next_us_.end());
    const std::int64_t step_us = next == next_us_.end() ? never_us : *next,
                       sent_us = wire_.empty() ? never_us : wire_.top().time_us,
                       work_us = std::min({step_us, sent_us, arrival_us});
    if (work_us == never_us || run_.stopped || !rules.goes_on(work_us)) return;
    now_us_ = std::min(work_us, rules.timer_us());
    if (arrival_us <= now_us_) {
      rules.arrive();
      arrival_us = rules.arrival_us();
    } else if (sent_us <= now_us_) {
      land();
    } else if (rules.timer_us() <= now_us_) {
      rules.timer();
    } else {
      go_on(rules, static_cast<std::size_t>(next - next_us_.begin()));
    }
  }
}

void ReplicaPool::offer(std::size_t place, std::size_t id) {
  members_[place]->share.ids.push_back(static_cast<std::int32_t>(id));
  offer_next(place);
}

void ReplicaPool::offer_next(std::size_t place) {
  Member& m = *members_[place];
  m.replica.offer(m.offered++);
  noted(place);
}

void ReplicaPool::seat(std::size_t place, std::size_t id, std::int64_t tokens) {
  Member& m = *members_[place];
  m.share.ids.push_back(static_cast<std::int32_t>(id));
  m.replica.offer({.request = m.offered++, .generated = 1, .remote = tokens, .source = -1}, 0);
  noted(place);
}

void ReplicaPool::go_on(PoolRules& rules, std::size_t place) {
  Member& m = *members_[place];
  m.replica.go_on();
  m.ledger.may_go_on(static_cast<std::size_t>(m.replica.sequences()));
  if (cancelled_ && cancelled_->load(std::memory_order_relaxed)) run_.stopped = true;
  for (const Waiting& read : m.replica.take_read()) write(rules, place, read);
  noted(place);
  rules.stepped(place);
}

/// A prompt has been read: its answer is written elsewhere.
void ReplicaPool::write(PoolRules& rules, std::size_t sender, Waiting read) {
  const std::int32_t id = members_[sender]->share.ids[read.request];
  const std::size_t place = rules.writer_of(static_cast<std::size_t>(id));
  Member& m = *members_[place];
  senders_.resize(requests_.size());
  senders_[static_cast<std::size_t>(id)] = {read.token_us, sender, read.request, read.remote_blocks, read.remote};
  m.share.ids.push_back(id);
  read.request = m.offered++;
  read.source = static_cast<std::int32_t>(sender);
  m.replica.offer(read, read.token_us);
  noted(place);
}

/// A cache is sent to the replica at `place` as soon as both ends are free. A request that was seated brings its own.
std::int64_t ReplicaPool::send(std::size_t place, std::int64_t now_us, const Waiting& from) {
  if (from.source < 0) return now_us;
  Member &target = *members_[place], &source = *members_[static_cast<std::size_t>(from.source)];
  const auto id = static_cast<std::size_t>(target.share.ids[from.request]);
  Sent sent = senders_[id];
  const double bytes = static_cast<double>(from.remote) * bytes_per_token_;
  const std::int64_t start_us = std::max({now_us, target.link_free_us, source.link_free_us}),
                     end_us = start_us + microseconds_in(bytes / link_bytes_per_s_ + link_latency_s_, 1);
  if (rules_) rules_->sends({id, start_us, end_us, start_us - sent.time_us, bytes});
  ++run_.events;
  sent.time_us = target.link_free_us = source.link_free_us = end_us;
  wire_.push(sent);
  return end_us;
}

void ReplicaPool::land() {
  const Sent sent = wire_.top();
  wire_.pop();
  members_[sent.sender]->replica.free_sent(sent.time_us, sent.request, sent.blocks, sent.tokens);
  noted(sent.sender);
}

}  // namespace models::serving
