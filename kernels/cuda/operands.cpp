#include "kernels/cuda/operands.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace kernels::cuda {
namespace {

constexpr std::int64_t canary_bytes = 4096;  // also the alignment of every array

std::int64_t aligned(std::int64_t bytes) { return (bytes + canary_bytes - 1) / canary_bytes * canary_bytes; }

std::int64_t bytes_of_set(const Operation& o, std::int64_t size) {
  return o.inputs * aligned(4 * o.input_floats(size)) + canary_bytes + aligned(4 * o.output_floats(size)) +
         canary_bytes;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

}  // namespace

Operands::Operands(const Session& session, const Operation& operation, std::int64_t size, std::int64_t sets)
    : session_(session),
      operation_(operation),
      size_(size),
      sets_(sets),
      input_bytes_(aligned(4 * operation.input_floats(size))),
      output_bytes_(4 * operation.output_floats(size)),
      set_bytes_(bytes_of_set(operation, size)),
      memory_(session.driver(), sets * set_bytes_,
              std::string(operation.ladder->id) + " at size " + std::to_string(size)) {}

DevicePointer Operands::input_at(std::int64_t set, int input) const {
  return memory_.address() + static_cast<DevicePointer>(set * set_bytes_ + input * input_bytes_);
}

DevicePointer Operands::output_at(std::int64_t set) const { return input_at(set, operation_.inputs) + canary_bytes; }

void Operands::fill(std::uint32_t seed) const {
  for (std::int64_t set = 0; set < sets_; ++set)
    for (int i = 0; i < operation_.inputs; ++i)
      session_.fill_uniform(input_at(set, i), operation_.input_floats(size_), input_seed(seed, i), operation_.lo,
                            operation_.scale);
}

void Operands::poison(std::int64_t set) const {
  session_.fill_words(output_at(set) - canary_bytes, poison_word, (2 * canary_bytes + aligned(output_bytes_)) / 4);
}

void Operands::enqueue(Function function, std::span<const Launch> launches, std::int64_t set,
                       const std::string& name) const {
  DevicePointer first = 0, second = 0, out = 0;
  unsigned n = 0;
  std::array<void*, 4> arguments{&first, &second, &out, &n};
  if (operation_.inputs == 1) arguments = {&first, &out, &n, nullptr};
  for (const Launch& l : launches) {
    first = l.input_offset < 0 ? input_at(set, 0) : output_at(set) + static_cast<DevicePointer>(4 * l.input_offset);
    second = input_at(set, 1);
    out = output_at(set) + static_cast<DevicePointer>(4 * l.output_offset);
    n = l.n;
    session_.launch(function, l, arguments, name);
  }
}

std::vector<float> Operands::output(std::int64_t set) const {
  std::vector<float> host(static_cast<std::size_t>(output_bytes_ / 4));
  must(session_.driver(),
       session_.driver().copy_to_host(host.data(), output_at(set), static_cast<std::size_t>(output_bytes_)),
       "reading the result");
  return host;
}

bool Operands::canaries_intact(std::int64_t set) const {
  // The rest of the last page of the output belongs to the canary after it.
  const std::int64_t after_bytes = aligned(output_bytes_) - output_bytes_ + canary_bytes;
  std::vector<std::uint32_t> words(static_cast<std::size_t>((canary_bytes + after_bytes) / 4));
  const Driver& d = session_.driver();
  must(d, d.copy_to_host(words.data(), output_at(set) - canary_bytes, static_cast<std::size_t>(canary_bytes)),
       "reading around the result");
  must(d,
       d.copy_to_host(words.data() + canary_bytes / 4, output_at(set) + static_cast<DevicePointer>(output_bytes_),
                      static_cast<std::size_t>(after_bytes)),
       "reading around the result");
  return std::all_of(words.begin(), words.end(), [](std::uint32_t w) { return w == poison_word; });
}

std::int64_t cold_sets(const Session& session, const Operation& operation, std::int64_t size) {
  const std::int64_t set = bytes_of_set(operation, size) - 2 * canary_bytes;
  return std::clamp<std::int64_t>((3 * session.facts().l2_bytes + set - 1) / set, 1, 4096);
}

Deviation check(const Session& session, const Operation& operation, const Operands& operands, Function function,
                std::span<const Launch> launches, std::uint32_t seed, const std::string& name) {
  const std::string at = " at size " + std::to_string(operands.size());
  const auto run_once = [&] {
    operands.poison(0);
    operands.enqueue(function, launches, 0, name);
    session.synchronize("running " + name + at);
    return operands.output(0);
  };
  operands.fill(seed);
  const std::vector<float> out = run_once();
  if (!operands.canaries_intact(0)) throw Failure("The kernel wrote outside its output array" + at + ".", false);
  const Deviation d = operation.compare(operation, operands.size(), out, seed);
  if (d.never_written > 0)
    throw Failure("The result is wrong" + at + ": " + std::to_string(d.never_written) +
                      " of its numbers were never written or are not numbers.",
                  false);
  if (!(d.error <= d.bound))
    throw Failure("The result is wrong" + at + ": it is off by " + short_number(100 * d.error) +
                      " % from float64, and " +
                      (d.bound > 0 ? short_number(100 * d.bound) + " % is accepted." : "it must be exact."),
                  false);
  if (operation.repeatable) {
    const std::vector<float> again = run_once();
    if (std::memcmp(again.data(), out.data(), 4 * out.size()) != 0)
      throw Failure("Two runs on the same input differ" + at + ": threads race, a barrier is missing.", false);
  }
  return d;
}

}  // namespace kernels::cuda
