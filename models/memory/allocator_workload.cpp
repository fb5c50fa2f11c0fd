#include "models/memory/allocator_workload.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "models/base/counter_random.h"

namespace models::memory {
namespace {

/// The owners of a generated list, in the order of their places.
enum Owner : std::uint32_t { weights, activations, logits, gradients, temporary, cache };
const std::vector<std::string> owner_names{"weights", "activations", "logits", "gradients", "temporary", "KV cache"};

class ProgramWriter {
 public:
  explicit ProgramWriter(const AllocatorWorkloadSetup& setup) : s_(setup) { out_.list.owners = owner_names; }

  AllocatorProgram write() {
    switch (s_.workload) {
      case AllocatorWorkload::lengths:
        train();
        break;
      case AllocatorWorkload::requests:
        serve();
        break;
      case AllocatorWorkload::growing:
        decode();
        break;
      case AllocatorWorkload::pins:
        pin();
        break;
      case AllocatorWorkload::buckets:
        reduce();
        break;
    }
    return std::move(out_);
  }

 private:
  bool full() const { return out_.list.events.size() + 8 * static_cast<std::size_t>(s_.layers) > max_allocator_events; }

  std::int32_t take(Owner owner, double elements, double bytes_each = 2, std::int32_t stream = 0) {
    out_.list.events.push_back({.action = AllocatorAction::allocate,
                                .id = out_.list.ids,
                                .stream = stream,
                                .owner = owner,
                                .bytes = static_cast<std::uint64_t>(std::max(1.0, elements) * bytes_each)});
    return out_.list.ids++;
  }
  void give(std::int32_t id) { out_.list.events.push_back({.action = AllocatorAction::free, .id = id}); }
  void end_step() {
    if (s_.empty_cache) out_.list.events.push_back({.action = AllocatorAction::empty_cache});
  }

  double width() const { return static_cast<double>(s_.width); }
  double inner() const { return 3.5 * width(); }
  double keys() const { return width() / 4; }

  /// Tokens of a sequence by step: whole numbers from the shortest to the longest.
  std::vector<std::int64_t> lengths(std::size_t n) const {
    const std::uint64_t stream = random_stream(s_.seed, 41);
    const double lo = std::min(s_.shortest, s_.longest), hi = std::max(s_.shortest, s_.longest);
    std::vector<std::int64_t> out(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double at = s_.order == LengthOrder::drawn ? unit_draw(stream, i)
                        : n == 1                       ? 0.5
                                                       : static_cast<double>(i) / static_cast<double>(n - 1);
      out[i] = std::llround(lo + (hi - lo) * (s_.order == LengthOrder::falling ? 1 - at : at));
    }
    return out;
  }

  void load_weights() {
    const double h = width();
    take(weights, static_cast<double>(s_.vocabulary) * h);
    for (std::int64_t layer = 0; layer < s_.layers; ++layer)
      for (const double n : {h * h, h * keys(), h * keys(), h * h, h * inner(), h * inner(), h * inner()})
        take(weights, n);
    take(weights, static_cast<double>(s_.vocabulary) * h);
  }

  void train() {
    load_weights();
    const double h = width(), v = static_cast<double>(s_.vocabulary);
    for (std::int64_t layer = 0; layer < s_.layers; ++layer) take(gradients, 0.01 * h * (2.5 * h + 3 * inner()), 16);
    for (const std::int64_t length : lengths(static_cast<std::size_t>(s_.steps))) {
      if (full()) return;
      out_.steps.push_back({out_.list.events.size(), length});
      const double t = static_cast<double>(length * s_.batch);
      std::vector<std::vector<std::int32_t>> kept;
      for (std::int64_t layer = 0; layer < s_.layers; ++layer) {
        std::vector<std::int32_t> mine;
        for (const double n : {h, h, keys(), keys(), h}) mine.push_back(take(activations, t * n));
        const std::int32_t projected = take(temporary, t * h);  // The attention's result, before it is added.
        mine.push_back(take(activations, t * h));
        give(projected);
        mine.push_back(take(activations, t * h));
        for (int i = 0; i < 3; ++i) mine.push_back(take(activations, t * inner()));
        const std::int32_t down = take(temporary, t * h);
        kept.push_back(std::move(mine));
        kept.back().push_back(take(activations, t * h));
        give(down);
      }
      const std::int32_t half = take(logits, t * v), single = take(logits, t * v, 4), gradient = take(logits, t * v, 4);
      give(single);
      const std::int32_t half_gradient = take(logits, t * v);
      give(gradient);
      give(half);
      std::int32_t flowing = take(gradients, t * h);
      give(half_gradient);
      for (auto layer = kept.rbegin(); layer != kept.rend(); ++layer) {
        for (auto id = layer->rbegin(); id != layer->rend(); ++id) {
          const std::size_t place = static_cast<std::size_t>(layer->rend() - id) - 1;
          const double n = place >= 7 && place <= 9 ? inner() : place == 2 || place == 3 ? keys() : h;
          const std::int32_t gradient_of = take(gradients, t * n);
          give(flowing);
          give(*id);
          flowing = gradient_of;
        }
      }
      give(flowing);
      end_step();
    }
  }

  /// Requests come when one leaves; each asks for a cache as long as it may become.
  void serve() {
    load_weights();
    const auto n = static_cast<std::size_t>(100 * s_.steps);
    const auto tokens = lengths(n);
    const std::uint64_t stream = random_stream(s_.seed, 42);
    std::vector<std::vector<std::int32_t>> live;
    for (std::size_t i = 0; i < n && !full(); ++i) {
      if (live.size() == static_cast<std::size_t>(s_.batch)) {
        const auto leaves = static_cast<std::ptrdiff_t>(unit_draw(stream, i) * static_cast<double>(live.size()));
        for (const std::int32_t id : live[static_cast<std::size_t>(leaves)]) give(id);
        live.erase(live.begin() + leaves);
        end_step();
      }
      if (i % 100 == 0) out_.steps.push_back({out_.list.events.size(), tokens[i]});
      // Keys and values of all layers in one tensor, as a static cache keeps them.
      live.push_back({take(cache, static_cast<double>(tokens[i] * 2 * s_.layers) * keys())});
    }
  }

  void decode() {
    load_weights();
    std::vector<std::int32_t> caches(static_cast<std::size_t>(2 * s_.layers), -1);
    const auto blocks = static_cast<std::int64_t>(std::max(1.0, s_.longest / 64));
    for (std::int64_t block = 1; block <= blocks && !full(); ++block) {
      if (block % std::max<std::int64_t>(1, blocks / s_.steps) == 0)
        out_.steps.push_back({out_.list.events.size(), 64 * block});
      for (std::int32_t& held : caches) {  // the longer one is made before the shorter one goes
        const std::int32_t longer = take(cache, static_cast<double>(64 * block * s_.batch) * keys());
        if (held >= 0) give(held);
        held = longer;
      }
      end_step();
    }
  }

  void pin() {
    const auto n = static_cast<std::size_t>(10 * s_.steps);
    const double bytes = static_cast<double>(s_.batch) * s_.longest * width() / 8 * 2;
    std::vector<std::int32_t> ids;
    out_.steps.push_back({0, std::llround(s_.longest)});
    for (std::size_t i = 0; i < n; ++i) ids.push_back(take(activations, bytes, 1));
    for (std::size_t i = 0; i < n; i += 2) give(ids[i]);
    end_step();
    out_.steps.push_back({out_.list.events.size(), std::llround(s_.longest)});
    for (std::size_t i = 0; i < n / 4; ++i) take(temporary, bytes * 2, 1);
  }

  void reduce() {
    const double h = width();
    load_weights();
    for (std::int64_t step = 0; step < s_.steps && !full(); ++step) {
      out_.steps.push_back({out_.list.events.size(), std::llround(s_.longest)});
      std::vector<std::int32_t> open, buckets;
      double filled = 0;
      for (std::int64_t layer = 0; layer < s_.layers; ++layer)
        for (const double n : {h * inner(), h * inner(), h * inner(), h * h, h * keys(), h * keys(), h * h}) {
          open.push_back(take(gradients, n));
          filled += n;
          if (filled * 2 < 25.0 * static_cast<double>(mib)) continue;
          buckets.push_back(take(temporary, filled));
          out_.list.events.push_back({.action = AllocatorAction::record_stream, .id = buckets.back(), .stream = 1});
          for (const std::int32_t id : open) give(id);
          give(buckets.back());
          open.clear();
          filled = 0;
          if (buckets.size() % 8 == 0)
            out_.list.events.push_back({.action = AllocatorAction::stream_done, .stream = 1});
        }
      for (const std::int32_t id : open) give(id);
      out_.list.events.push_back({.action = AllocatorAction::stream_done, .stream = 1});
      end_step();
    }
  }

  AllocatorWorkloadSetup s_;
  AllocatorProgram out_;
};

}  // namespace

AllocatorProgram make_allocator_program(const AllocatorWorkloadSetup& setup) { return ProgramWriter(setup).write(); }

}  // namespace models::memory
