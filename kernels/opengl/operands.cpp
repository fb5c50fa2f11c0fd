#include "kernels/opengl/operands.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "models/base/counter_random.h"

namespace kernels::opengl {
namespace {

constexpr std::int64_t canary_bytes = 4096;

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
      input_bytes_(4 * operation.input_floats(size)),
      output_bytes_(4 * operation.output_floats(size)) {
  const std::string what = std::string(operation.ladder->id) + " at size " + std::to_string(size);
  for (std::int64_t i = 0; i < sets; ++i) {
    Set& set = sets_.emplace_back();
    for (int input = 0; input < operation.inputs; ++input)
      set.inputs.push_back(std::make_unique<Buffer>(session, input_bytes_, what));
    set.output = std::make_unique<Buffer>(session, all_output_bytes(), what);
  }
}

std::int64_t Operands::all_output_bytes() const { return output_bytes_ + 2 * canary_bytes; }

void Operands::fill(std::uint32_t seed) {
  host_.resize(static_cast<std::size_t>(operation_.inputs));
  for (std::size_t input = 0; input < host_.size(); ++input) {
    std::vector<float>& values = host_[input];
    values.resize(static_cast<std::size_t>(input_bytes_ / 4));
    const std::uint64_t key = (static_cast<std::uint64_t>(seed) << 8) + input;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] =
          operation_.lo + operation_.scale * (static_cast<float>(models::counter_hash(key, i) >> 40) * 0x1p-24f);
    for (const Set& set : sets_) set.inputs[input]->write(0, input_bytes_, values.data());
  }
  session_.must("filling the inputs");
}

void Operands::poison(std::int64_t set) {
  poisoned_.assign(static_cast<std::size_t>(all_output_bytes() / 4), poison_word);
  sets_[static_cast<std::size_t>(set)].output->write(0, all_output_bytes(), poisoned_.data());
  session_.must("filling memory");
}

void Operands::enqueue(const Program& program, std::span<const Launch> launches, std::int64_t set,
                       const std::string& name) const {
  const Set& s = sets_[static_cast<std::size_t>(set)];
  const Gl& gl = session_.gl();
  for (const Launch& l : launches) {
    program.use(l.n);
    const auto bind = [&](unsigned index, const Buffer& buffer, std::int64_t offset, std::int64_t bytes) {
      gl.bind_buffer_range(gl_storage_buffer, index, buffer.name(), static_cast<std::ptrdiff_t>(offset),
                           static_cast<std::ptrdiff_t>(bytes));
    };
    if (l.input_offset < 0)
      bind(0, *s.inputs[0], 0, input_bytes_);
    else
      bind(0, *s.output, canary_bytes + 4 * l.input_offset, output_bytes_ - 4 * l.input_offset);
    if (operation_.inputs > 1) bind(1, *s.inputs[1], 0, input_bytes_);
    bind(2, *s.output, canary_bytes + 4 * l.output_offset, output_bytes_ - 4 * l.output_offset);
    session_.dispatch(l, name);
    session_.barrier();
  }
}

std::vector<float> Operands::output(std::int64_t set) const {
  std::vector<float> host(static_cast<std::size_t>(output_bytes_ / 4));
  sets_[static_cast<std::size_t>(set)].output->read(canary_bytes, output_bytes_, host.data());
  session_.must("reading the result");
  return host;
}

bool Operands::canaries_intact(std::int64_t set) const {
  std::vector<std::uint32_t> words(2 * canary_bytes / 4);
  const Buffer& buffer = *sets_[static_cast<std::size_t>(set)].output;
  buffer.read(0, canary_bytes, words.data());
  buffer.read(canary_bytes + output_bytes_, canary_bytes, words.data() + canary_bytes / 4);
  session_.must("reading around the result");
  return std::all_of(words.begin(), words.end(), [](std::uint32_t w) { return w == poison_word; });
}

std::int64_t cold_sets(const Operation& operation, std::int64_t size) {
  const std::int64_t set = 4 * (operation.inputs * operation.input_floats(size) + operation.output_floats(size));
  return std::clamp<std::int64_t>(((1 << 28) + set - 1) / set, 1, 64);
}

Deviation check(const Session& session, const Operation& operation, Operands& operands, const Program& program,
                std::span<const Launch> launches, std::uint32_t seed, const Rung& rung) {
  const std::string at = " at size " + std::to_string(operands.size()), name(rung.entry);
  const auto run_once = [&] {
    operands.poison(0);
    operands.enqueue(program, launches, 0, name);
    session.synchronize("running " + name + at);
    return operands.output(0);
  };
  operands.fill(seed);
  const std::vector<float> out = run_once();
  if (!operands.canaries_intact(0)) throw Failure("The kernel wrote outside its output array" + at + ".");
  const Deviation d = operation.compare(rung.id, operands.size(), operands.inputs(), out, seed);
  if (d.never_written > 0)
    throw Failure("The result is wrong" + at + ": " + std::to_string(d.never_written) +
                  " of its numbers were never written or are not numbers.");
  if (!(d.error <= d.bound))
    throw Failure("The result is wrong" + at + ": it is off by " + short_number(100 * d.error) +
                  " % from float64, and " +
                  (d.bound > 0 ? short_number(100 * d.bound) + " % is accepted." : "it must be exact."));
  if (operation.repeatable) {
    const std::vector<float> again = run_once();
    if (std::memcmp(again.data(), out.data(), 4 * out.size()) != 0)
      throw Failure("Two runs on the same input differ" + at + ": invocations race, a barrier is missing.");
  }
  return d;
}

}  // namespace kernels::opengl
