// A whole rung in the emulation: inputs, launches with their arguments, and the comparison.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "tests/kernels/cuda_emulator.h"

using namespace kernels;
using namespace kernels::cuda;

namespace cuda_emulator {
namespace {

/// Memory for kernels: on a boundary of 16 bytes, poison at first.
class Memory {
 public:
  explicit Memory(std::int64_t bytes) : words_(static_cast<std::size_t>(bytes + 3) / 4 + 8, poison_word) {
    const auto address = reinterpret_cast<std::uintptr_t>(words_.data());
    start_ = reinterpret_cast<std::byte*>(words_.data()) + (16 - address % 16) % 16;
  }
  std::byte* at(std::int64_t offset) { return start_ + offset; }

 private:
  std::vector<std::uint32_t> words_;
  std::byte* start_ = nullptr;
};

union Value {
  std::byte* pointer;
  std::uint32_t whole;
  float real;
};

}  // namespace

std::vector<std::byte> output_of(const Operation& o, const Rung& rung, std::int64_t size, std::uint32_t seed) {
  std::vector<Memory> inputs;
  for (std::size_t i = 0; i < o.inputs.size(); ++i) {
    const std::vector<std::byte> bytes = input_bytes(o, size, seed, static_cast<int>(i));
    inputs.emplace_back(static_cast<std::int64_t>(bytes.size()));
    std::copy(bytes.begin(), bytes.end(), inputs.back().at(0));
  }
  const std::int64_t out_bytes = o.output_bytes(size);
  Memory out(out_bytes), scratch(o.scratch_bytes ? o.scratch_bytes(size) : 0);
  for (const Launch& l : o.launches(rung.id, size, 4)) {
    std::array<Value, 16> values{};
    std::array<void*, 16> addresses{};
    std::vector<Argument> given = l.arguments;
    if (given.empty()) {
      given = {input(0), output(4 * l.output_offset), whole(l.n)};
      if (o.inputs.size() > 1) given.insert(given.begin() + 1, input(1));
      if (l.input_offset >= 0) given[0] = output(4 * l.input_offset);
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Argument& a = given[i];
      switch (a.kind) {
        case Argument::Kind::input:
          values[i].pointer = inputs[static_cast<std::size_t>(a.input)].at(a.offset);
          break;
        case Argument::Kind::output:
          values[i].pointer = out.at(a.offset);
          break;
        case Argument::Kind::scratch:
          values[i].pointer = scratch.at(a.offset);
          break;
        case Argument::Kind::whole:
          values[i].whole = a.whole;
          break;
        case Argument::Kind::real:
          values[i].real = a.real;
          break;
      }
      addresses[i] = &values[i];
    }
    launch(l.entry.empty() ? rung.entry : l.entry, l, addresses.data());
  }
  return {out.at(0), out.at(out_bytes)};
}

Deviation run(const Operation& o, const Rung& rung, std::int64_t size, std::uint32_t seed) {
  return o.compare({o, rung.id, size, output_of(o, rung, size, seed), seed});
}

}  // namespace cuda_emulator
