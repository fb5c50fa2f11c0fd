#include "models/hang/hang_program.h"

#include <algorithm>
#include <utility>

#include "models/base/counter_random.h"
#include "models/hang/hang_parts.h"

namespace models::hang {
namespace {

constexpr std::int64_t hidden = 4096, tokens = 2048, bucket = 6'553'600, last_bucket = 1'310'720;

/// Groups and calls, and the programs without a fault.
class ProgramMaker {
 public:
  explicit ProgramMaker(const HangJob& job) : job_(job) {
    out_.ranks.resize(index_of(job.ranks()));
    add_groups();
    add_calls();
    for (std::int64_t rank = 0; rank < job.ranks(); ++rank) write(rank);
  }
  HangPrograms& programs() { return out_; }

  // Which call of HangPrograms::calls it is.
  std::int32_t norm = 0, broadcast = 0, gather = 0, first_bucket = 0, second_bucket = 0, layer = 0, exchange = 0;

 private:
  std::int64_t t_of(std::int64_t rank) const { return rank % job_.tensor_parallel; }
  std::int64_t d_of(std::int64_t rank) const { return rank / job_.tensor_parallel % job_.data_parallel; }
  std::int64_t p_of(std::int64_t rank) const { return rank / (job_.tensor_parallel * job_.data_parallel); }

  void add_groups() {
    const std::int64_t n = job_.ranks(), tp = job_.tensor_parallel, dp = job_.data_parallel,
                       pp = job_.pipeline_parallel;
    JobGroup all{"0", "default_pg", {}, false};
    for (std::int64_t r = 0; r < n; ++r) all.members.push_back(r);
    out_.groups.push_back(std::move(all));
    const auto add = [&](const char* what, std::int64_t groups, std::int64_t size, auto first, std::int64_t stride) {
      const auto from = static_cast<std::int32_t>(out_.groups.size());
      for (std::int64_t g = 0; g < groups; ++g) {
        JobGroup group{std::to_string(out_.groups.size()), what, {}, false};
        for (std::int64_t i = 0; i < size; ++i) group.members.push_back(first(g) + i * stride);
        out_.groups.push_back(std::move(group));
      }
      return from;
    };
    tensor_ = add(
        "tp", dp * pp, tp, [&](std::int64_t g) { return g * tp; }, 1);
    data_ = add(
        "dp", tp * pp, dp, [&](std::int64_t g) { return g % tp + g / tp * tp * dp; }, tp);
    pipeline_ = add(
        "pp", tp * dp, pp, [](std::int64_t g) { return g; }, tp * dp);
  }

  std::int32_t add_call(const char* operation, std::int64_t in, std::int64_t out, const char* dtype) {
    FlightCall call{"nccl", operation, "", {{in}}, {{out}}, {dtype}, {dtype}};
    out_.calls.push_back(std::move(call));
    return static_cast<std::int32_t>(out_.calls.size() - 1);
  }
  void add_calls() {
    layer = add_call("all_reduce", tokens * hidden, tokens * hidden, "BFloat16");
    first_bucket = add_call("all_reduce", bucket, bucket, "Float");
    second_bucket = add_call("all_reduce", last_bucket, last_bucket, "Float");
    norm = add_call("all_reduce", 1, 1, "Float");
    broadcast = add_call("broadcast", 512, 512, "Long");
    exchange = add_call("all_to_all_single", tokens * 8, tokens * 8, "BFloat16");
    gather = add_call("all_gather", 8, 8 * job_.ranks(), "Float");
  }
  std::int32_t message(bool sends, std::int64_t from, std::int64_t to) {
    FlightCall call{"nccl", sends ? "send" : "recv", "", {}, {}, {}, {}};
    call.peers =
        sends ? std::to_string(from) + "->" + std::to_string(to) : std::to_string(to) + "<-" + std::to_string(from);
    (sends ? call.input_sizes : call.output_sizes) = {{tokens, hidden}};
    (sends ? call.input_dtypes : call.output_dtypes) = {"BFloat16"};
    const auto at = std::find(out_.calls.begin(), out_.calls.end(), call);
    if (at != out_.calls.end()) return static_cast<std::int32_t>(at - out_.calls.begin());
    out_.calls.push_back(std::move(call));
    return static_cast<std::int32_t>(out_.calls.size() - 1);
  }

  void write(std::int64_t rank) {
    std::vector<ProgramCall>& program = out_.ranks[index_of(rank)];
    const std::int64_t t = t_of(rank), d = d_of(rank), p = p_of(rank), pp = job_.pipeline_parallel;
    const auto tensor = static_cast<std::int32_t>(tensor_ + d + p * job_.data_parallel),
               data = static_cast<std::int32_t>(data_ + t + p * job_.tensor_parallel),
               pipeline = static_cast<std::int32_t>(pipeline_ + t + d * job_.tensor_parallel);
    std::int32_t step = 0;
    const auto call = [&](std::int32_t group, std::int32_t what) {
      if (out_.groups[index_of(group)].members.size() > 1)
        program.push_back({.group = group, .call = what, .source = -1, .destination = -1, .root = 0, .step = step});
    };
    const auto send = [&](bool sends, std::int64_t from, std::int64_t to) {
      if (from < 0 || to < 0 || from >= pp || to >= pp) return;
      program.push_back({.group = pipeline,
                         .call = message(sends, from, to),
                         .source = static_cast<std::int32_t>(from),
                         .destination = static_cast<std::int32_t>(to),
                         .root = 0,
                         .step = step});
    };
    for (std::int64_t s = 0; s < job_.steps; ++s) {
      step = static_cast<std::int32_t>(s);
      send(false, p - 1, p);
      for (std::int64_t l = 0; l < job_.layers; ++l) call(tensor, layer);
      send(true, p, p + 1);
      send(false, p + 1, p);
      for (std::int64_t l = 0; l < job_.layers; ++l) call(tensor, layer);
      send(true, p, p - 1);
      call(data, first_bucket);
      call(data, second_bucket);
      if (job_.fault == HangFault::split_sizes) call(0, exchange);  // a mixture of experts
      call(0, norm);
      call(0, broadcast);
    }
    step = static_cast<std::int32_t>(job_.steps);
    call(0, gather);
  }

  const HangJob& job_;
  HangPrograms out_;
  std::int64_t tensor_ = 0, data_ = 0, pipeline_ = 0;
};

/// Puts the fault into one step of one rank's program, or of some ranks' where it takes several.
class Planter {
 public:
  Planter(const HangJob& job, ProgramMaker& maker)
      : job_(job), maker_(maker), out_(maker.programs()), stream_(random_stream(job.seed, 0x48)) {}

  void plant() {
    if (job_.fault == HangFault::none) return;
    rank_ = pick(0, job_.ranks());
    out_.step = 1 + pick(1, std::max<std::int64_t>(1, job_.steps - 1));
    out_.step = std::min(out_.step, job_.steps - 1);
    out_.culprits = {rank_};
    switch (job_.fault) {
      case HangFault::straggler:
        return delay();
      case HangFault::group_order:
        return cross_groups();
      case HangFault::p2p_order:
        return turn_messages();
      case HangFault::undecided:
        return turn_roots();
      case HangFault::uneven_inputs:
        return end_early();
      case HangFault::not_arrived:
      case HangFault::died:
        out_.died = job_.fault == HangFault::died;
        return stop();
      default:
        return change_call();
    }
  }

 private:
  std::int64_t pick(std::uint64_t use, std::int64_t n) const {
    return static_cast<std::int64_t>(unit_draw(stream_, use) * static_cast<double>(n));
  }
  std::vector<ProgramCall>& program(std::int64_t rank) { return out_.ranks[index_of(rank)]; }
  /// Places of the step's calls in a rank's program, those of groups alone where that is asked.
  std::vector<std::size_t> places(std::int64_t rank, bool collectives) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < program(rank).size(); ++i)
      if (program(rank)[i].step == out_.step && (!collectives || program(rank)[i].source < 0)) out.push_back(i);
    return out;
  }

  void delay() {
    out_.step = -1;
    std::int32_t step = -1;
    for (ProgramCall& c : program(rank_)) {
      if (c.step != step && c.step < job_.steps) c.delay_s = 0.25 + 0.2 * unit_draw(stream_, 7);
      step = c.step;
    }
  }
  void stop() {
    const auto at = places(rank_, false);
    program(rank_)[at[index_of(pick(2, static_cast<std::int64_t>(at.size())))]].stop = true;
  }
  void end_early() {
    auto& calls = program(rank_);
    calls.erase(std::remove_if(calls.begin(), calls.end(),
                               [&](const ProgramCall& c) { return c.step >= out_.step && c.step < job_.steps; }),
                calls.end());
  }
  void turn_roots() {
    out_.culprits.clear();
    const std::int64_t first = job_.ranks() / 2;
    for (std::int64_t r = first; r < job_.ranks(); ++r) {
      out_.culprits.push_back(r);
      for (ProgramCall& c : program(r))
        if (c.step == out_.step && c.call == maker_.broadcast) c.root = static_cast<std::int32_t>(first);
    }
  }
  /// In one stage every second rank, as on a chess board, calls its data group before its last tensor group.
  void cross_groups() {
    const std::int64_t stage = job_.tensor_parallel * job_.data_parallel, first = rank_ / stage * stage;
    out_.culprits.clear();
    for (std::int64_t i = 0; i < stage; ++i) {
      out_.culprits.push_back(first + i);
      if ((i % job_.tensor_parallel + i / job_.tensor_parallel) % 2 == 0) continue;
      auto& calls = program(first + i);
      std::size_t tensor = calls.size(), data = calls.size();
      for (std::size_t c = 0; c < calls.size(); ++c) {
        if (calls[c].step != out_.step) continue;
        if (calls[c].call == maker_.layer) tensor = c;
        if (calls[c].call == maker_.first_bucket) data = c;
      }
      if (tensor < calls.size() && data < calls.size()) std::swap(calls[tensor], calls[data]);
    }
  }
  /// A stage waits for the gradient before it has sent what the next stage needs for it.
  void turn_messages() {
    const std::int64_t stage = job_.tensor_parallel * job_.data_parallel;
    rank_ %= stage * (job_.pipeline_parallel - 1);
    out_.culprits = {rank_};
    auto& calls = program(rank_);
    for (std::size_t i = 0; i + 1 < calls.size(); ++i)
      if (calls[i].step == out_.step && calls[i + 1].step == out_.step && calls[i].source >= 0 &&
          calls[i + 1].source == calls[i].destination && calls[i + 1].destination == calls[i].source)
        return std::swap(calls[i], calls[i + 1]);
  }

  std::int32_t changed(std::int32_t call, bool dtype) {
    FlightCall other = out_.calls[index_of(call)];
    if (dtype) {
      const std::string type = other.input_dtypes[0] == "BFloat16" ? "Half" : "BFloat16";
      other.input_dtypes = other.output_dtypes = {type};
    } else {
      // As when one rank's batch has fewer rows, or its model a layer of another width.
      other.input_sizes[0][0] += 64;
      other.output_sizes[0][0] =
          other.operation == "all_gather" ? other.input_sizes[0][0] * job_.ranks() : other.input_sizes[0][0];
    }
    out_.calls.push_back(std::move(other));
    return static_cast<std::int32_t>(out_.calls.size() - 1);
  }
  void change_call() {
    auto& calls = program(rank_);
    const auto at = places(rank_, true);
    const auto n = static_cast<std::int64_t>(at.size());
    std::size_t i = at[index_of(pick(2, n))];
    switch (job_.fault) {
      case HangFault::skipped_collective:
        calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(i));
        return;
      case HangFault::extra_collective: {
        const ProgramCall again = calls[i];
        calls.insert(calls.begin() + static_cast<std::ptrdiff_t>(i), again);
        return;
      }
      case HangFault::order: {
        // Neighbours in one group that are not the same call: the buckets, or the norm and the broadcast.
        std::vector<std::size_t> pairs;
        for (const std::size_t k : at)
          if (k + 1 < calls.size() && calls[k + 1].group == calls[k].group && calls[k + 1].call != calls[k].call &&
              calls[k + 1].step == out_.step)
            pairs.push_back(k);
        i = pairs[index_of(pick(3, static_cast<std::int64_t>(pairs.size())))];
        std::swap(calls[i], calls[i + 1]);
        return;
      }
      case HangFault::split_sizes:
        for (const std::size_t k : at)
          if (calls[k].call == maker_.exchange) i = k;
        out_.calls.push_back(out_.calls[index_of(maker_.exchange)]);
        out_.calls.back().output_sizes[0][0] += 64;
        calls[i].call = static_cast<std::int32_t>(out_.calls.size() - 1);
        return;
      default: {
        const bool dtype = job_.fault == HangFault::dtype;
        calls[i].call = changed(calls[i].call, dtype);
        return;
      }
    }
  }

  const HangJob& job_;
  ProgramMaker& maker_;
  HangPrograms& out_;
  std::uint64_t stream_;
  std::int64_t rank_ = 0;
};

}  // namespace

std::string cannot_plant(const HangJob& job) {
  if (job.ranks() < 2) return "One rank waits for nobody: take at least two.";
  if (job.ranks() > max_simulated_ranks) return "More than 1,024 ranks are not made up here: take fewer.";
  if (job.fault == HangFault::group_order && (job.tensor_parallel < 2 || job.data_parallel < 2))
    return "Groups cross only where a rank is in two of them: take at least 2 tensor and 2 data ranks.";
  if (job.fault == HangFault::p2p_order && job.pipeline_parallel < 2)
    return "Messages are sent only between pipeline stages: take at least 2 of them.";
  if (job.fault == HangFault::straggler && job.ahead > 0)
    return "A host that runs ahead enters every call early or late alike: take 0 calls ahead for a straggler.";
  return {};
}

HangPrograms make_programs(const HangJob& job) {
  ProgramMaker maker(job);
  Planter(job, maker).plant();
  return std::move(maker.programs());
}

}  // namespace models::hang
