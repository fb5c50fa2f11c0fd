// The ladders in teaching order, and who runs them.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/cpu/cpu.h"
#include "kernels/cuda/cuda.h"
#include "kernels/kernel.h"
#include "kernels/opengl/opengl.h"
#include "kernels/turns.h"

namespace kernels {
namespace {

constexpr double max_seconds = 60;

/// "a, b and c"
template <class List>
std::string ids_of(const List& list) {
  std::string out;
  for (std::size_t i = 0; i < list.size(); ++i)
    (out += i == 0 ? "" : i + 1 == list.size() ? " and " : ", ") += list[i].id;
  return out;
}

std::string quoted(std::string_view text) { return "\"" + std::string(text.substr(0, 40)) + "\""; }

models::Status check_for(const Request& r, const Ladder& ladder) {
  const std::string name(ladder.id);
  for (const auto& rung : r.rungs)
    if (!find_rung(ladder, rung))
      return models::Status::fail("The ladder " + name + " has no rung " + quoted(rung) + ": it has " +
                                  ids_of(ladder.rungs) + ".");
  if (r.size != 0 && !(ladder.size_lo <= r.size && r.size <= ladder.size_hi))
    return models::Status::fail("The ladder " + name + " takes sizes (" + std::string(ladder.size_label) + ") from " +
                                std::to_string(ladder.size_lo) + " to " + std::to_string(ladder.size_hi) + "; " +
                                std::to_string(r.size) + " is outside.");
  if (!(r.seconds_per_rung > 0 && r.seconds_per_rung <= max_seconds))
    return models::Status::fail("The time for a rung must be more than 0 s and at most 60 s.");
  if (r.check_only && ladder.device == Device::cpu)
    return models::Status::fail("Only CUDA ladders are checked alone: a CPU's are checked whenever they run.");
  if (r.edited_rung.empty()) return models::Status::ok();
  if (ladder.device == Device::cpu)
    return models::Status::fail("Only kernels of a GPU can be edited: the rungs of " + name +
                                " are part of the program.");
  if (!find_rung(ladder, r.edited_rung))
    return models::Status::fail("The ladder " + name + " has no rung " + quoted(r.edited_rung) + " to edit: it has " +
                                ids_of(ladder.rungs) + ".");
  if (find_rung(ladder, r.edited_rung)->entry.empty())
    return models::Status::fail("The rung " + quoted(r.edited_rung) + " of " + name +
                                " is what the host does, a part of the program: it has no kernel to edit.");
  return models::Status::ok();
}

}  // namespace

std::int64_t size_of_tiles(double size) {
  if (size < 64) return static_cast<std::int64_t>(std::lround(size));
  const double unit = std::exp2(std::floor(std::log2(size)) - 1);
  return static_cast<std::int64_t>(std::llround(std::floor(size / unit) * unit));
}

std::int64_t part_of_size(const Ladder& ladder, double parts) {
  return std::clamp(size_of_tiles(static_cast<double>(ladder.size_default) / parts), ladder.size_lo, ladder.size_hi);
}

std::span<const Ladder> all_ladders() {
  static const std::vector<Ladder> all = [] {
    std::vector<Ladder> list;
    for (const auto& part : {cpu::ladders(), cuda::ladders(), opengl::ladders()})
      list.insert(list.end(), part.begin(), part.end());
    return list;
  }();
  return all;
}

const Ladder* find_ladder(std::string_view id) {
  const auto all = all_ladders();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Ladder& l) { return l.id == id; });
  return at == all.end() ? nullptr : &*at;
}

const Rung* find_rung(const Ladder& ladder, std::string_view id) {
  const auto at = std::find_if(ladder.rungs.begin(), ladder.rungs.end(), [&](const Rung& r) { return r.id == id; });
  return at == ladder.rungs.end() ? nullptr : &*at;
}

models::Status can_be_timed(const Ladder& ladder) {
  switch (ladder.device) {
    case Device::cpu:
      break;
    case Device::cuda:
      return cuda::can_be_timed();
    case Device::opengl:
      return opengl::can_be_timed();
  }
  return models::Status::ok();
}

models::Status check(const Request& request) {
  const Ladder* ladder = find_ladder(request.ladder);
  if (!ladder)
    return models::Status::fail("There is no ladder " + quoted(request.ladder) + ": there are " +
                                ids_of(all_ladders()) + ".");
  return check_for(request, *ladder);
}

models::Status run(const Request& request, const Listener& listener) {
  if (auto checked = check(request); !checked) return checked;
  const Ladder* ladder = find_ladder(request.ladder);
  switch (ladder->device) {
    case Device::cpu:
      break;
    case Device::cuda:
      return cuda::run(request, *ladder, listener);
    case Device::opengl:
      return opengl::run(request, *ladder, listener);
  }
  return cpu::run(request, *ladder, listener);
}

models::Status check(const TurnsRequest& request) {
  const Request both{.ladder = request.ladder, .rungs = {request.a, request.b}, .size = request.size};
  if (auto checked = check(both); !checked) return checked;
  if (find_ladder(request.ladder)->device != Device::cpu)
    return models::Status::fail("Runs are kept one by one for ladders of the CPU alone; " + request.ladder +
                                " runs on a GPU.");
  const auto letters = request.turns.find_first_not_of("AB");
  if (request.turns.empty() || request.turns.size() > max_turns || letters != std::string::npos)
    return models::Status::fail("The order of the runs is written in letters A and B, from 1 to " +
                                std::to_string(max_turns) + " of them; it is " + quoted(request.turns) + ".");
  return models::Status::ok();
}

models::Status run_turns(const TurnsRequest& request, const TakeTurn& take) {
  if (auto checked = check(request); !checked) return checked;
  return cpu::run_turns(request, *find_ladder(request.ladder), take);
}

Roofs measure_roofs(Device device, double seconds, const Listener& listener) {
  if (!(seconds > 0 && seconds <= max_seconds))
    return {.device = device, .failure = "The time for measuring must be more than 0 s and at most 60 s."};
  switch (device) {
    case Device::cpu:
      break;
    case Device::cuda:
      return cuda::measure_roofs(seconds, listener);
    case Device::opengl:
      return opengl::measure_roofs(seconds, listener);
  }
  return cpu::measure_roofs(seconds, listener);
}

double Roofs::value(std::string_view id) const {
  const auto at = std::find_if(roofs.begin(), roofs.end(), [&](const Roof& r) { return r.id == id; });
  return at == roofs.end() ? 0 : at->value;
}

}  // namespace kernels
