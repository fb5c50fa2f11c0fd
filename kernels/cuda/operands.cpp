#include "kernels/cuda/operands.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace kernels::cuda {
namespace {

constexpr std::int64_t canary_bytes = 4096;  // also the alignment of every array

std::int64_t aligned(std::int64_t bytes) { return (bytes + canary_bytes - 1) / canary_bytes * canary_bytes; }

std::int64_t scratch_of(const Operation& o, std::int64_t size) { return o.scratch_bytes ? o.scratch_bytes(size) : 0; }

std::int64_t bytes_of_set(const Operation& o, std::int64_t size) {
  std::int64_t bytes = canary_bytes + aligned(o.output_bytes(size)) + canary_bytes;
  for (std::size_t i = 0; i < o.inputs.size(); ++i) bytes += aligned(bytes_of_input(o, size, static_cast<int>(i)));
  if (const std::int64_t scratch = scratch_of(o, size)) bytes += aligned(scratch) + canary_bytes;
  return bytes;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

}  // namespace

std::vector<Function> functions_of(const Session& session, const LoadedModule& module, std::string_view entry,
                                   std::span<const Launch> launches) {
  constexpr unsigned allowed_unasked = 48 * 1024;
  std::vector<Function> functions;
  for (const Launch& l : launches) {
    functions.push_back(module.function(l.entry.empty() ? entry : l.entry));
    if (l.shared_bytes > allowed_unasked)
      must(session.driver(),
           session.driver().function_set(functions.back(), function_dynamic_shared_bytes,
                                         static_cast<int>(l.shared_bytes)),
           "asking for " + std::to_string(l.shared_bytes) + " bytes of shared memory a block");
  }
  return functions;
}

Operands::Operands(const Session& session, const Operation& operation, std::int64_t size, std::int64_t sets)
    : session_(session),
      operation_(operation),
      size_(size),
      sets_(sets),
      output_bytes_(operation.output_bytes(size)),
      scratch_bytes_(scratch_of(operation, size)),
      set_bytes_(bytes_of_set(operation, size)),
      input_from_{0},
      memory_(session.driver(), sets * set_bytes_,
              std::string(operation.ladder->id) + " at size " + std::to_string(size)) {
  for (std::size_t i = 0; i < operation.inputs.size(); ++i)
    input_from_.push_back(input_from_.back() + aligned(bytes_of_input(operation, size, static_cast<int>(i))));
}

DevicePointer Operands::input_at(std::int64_t set, int input) const {
  return memory_.address() +
         static_cast<DevicePointer>(set * set_bytes_ + input_from_[static_cast<std::size_t>(input)]);
}

DevicePointer Operands::output_at(std::int64_t set) const {
  return memory_.address() + static_cast<DevicePointer>(set * set_bytes_ + input_from_.back() + canary_bytes);
}

DevicePointer Operands::scratch_at(std::int64_t set) const {
  return output_at(set) + static_cast<DevicePointer>(aligned(output_bytes_) + canary_bytes);
}

void Operands::fill(std::uint32_t seed) const {
  for (std::size_t i = 0; i < operation_.inputs.size(); ++i) {
    const Array& array = operation_.inputs[i];
    const int which = static_cast<int>(i);
    std::vector<std::byte> made;
    if (array.element == Element::made) made = input_bytes(operation_, size_, seed, which);
    for (std::int64_t set = 0; set < sets_; ++set)
      if (array.element == Element::made)
        must(session_.driver(), session_.driver().copy_to_device(input_at(set, which), made.data(), made.size()),
             "bringing an input");
      else
        session_.fill(input_at(set, which), array, array.count(size_), input_seed(seed, which));
  }
}

void Operands::poison(std::int64_t set) const {
  std::int64_t bytes = 2 * canary_bytes + aligned(output_bytes_);
  if (scratch_bytes_ > 0) bytes += aligned(scratch_bytes_) + canary_bytes;
  session_.fill_words(output_at(set) - canary_bytes, poison_word, bytes / 4);
}

void Operands::enqueue_given(Function function, const Launch& launch, std::int64_t set, const std::string& name) const {
  union Value {
    DevicePointer pointer;
    std::uint32_t whole;
    float real;
  };
  std::array<Value, 16> values{};
  std::array<void*, 16> addresses{};
  const std::size_t count = std::min(launch.arguments.size(), values.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Argument& a = launch.arguments[i];
    const auto offset = static_cast<DevicePointer>(a.offset);
    switch (a.kind) {
      case Argument::Kind::input:
        values[i].pointer = input_at(set, a.input) + offset;
        break;
      case Argument::Kind::output:
        values[i].pointer = output_at(set) + offset;
        break;
      case Argument::Kind::scratch:
        values[i].pointer = scratch_at(set) + offset;
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
  session_.launch(function, launch, std::span(addresses).first(count), name);
}

void Operands::enqueue(std::span<const Function> functions, std::span<const Launch> launches, std::int64_t set,
                       const std::string& name) const {
  DevicePointer first = 0, second = 0, out = 0;
  unsigned n = 0;
  std::array<void*, 4> arguments{&first, &second, &out, &n};
  if (operation_.inputs.size() == 1) arguments = {&first, &out, &n, nullptr};
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Launch& l = launches[i];
    if (!l.arguments.empty()) {
      enqueue_given(functions[i], l, set, name);
      continue;
    }
    first = l.input_offset < 0 ? input_at(set, 0) : output_at(set) + static_cast<DevicePointer>(4 * l.input_offset);
    if (operation_.inputs.size() > 1) second = input_at(set, 1);
    out = output_at(set) + static_cast<DevicePointer>(4 * l.output_offset);
    n = l.n;
    session_.launch(functions[i], l, arguments, name);
  }
}

std::vector<std::byte> Operands::output(std::int64_t set) const {
  std::vector<std::byte> host(static_cast<std::size_t>(output_bytes_));
  must(session_.driver(), session_.driver().copy_to_host(host.data(), output_at(set), host.size()),
       "reading the result");
  return host;
}

bool Operands::canaries_intact(std::int64_t set) const {
  const Driver& d = session_.driver();
  std::vector<std::byte> bytes;
  // `written` bytes at `from` belong to the kernel; the rest of their last page and the page after them do not.
  const auto intact_after = [&](DevicePointer from, std::int64_t written) {
    bytes.resize(static_cast<std::size_t>(aligned(written) - written + canary_bytes));
    must(d, d.copy_to_host(bytes.data(), from + static_cast<DevicePointer>(written), bytes.size()),
         "reading around the result");
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (bytes[i] != static_cast<std::byte>(poison_word >> (8 * ((static_cast<std::size_t>(written) + i) % 4)) & 0xff))
        return false;
    return true;
  };
  return intact_after(output_at(set) - canary_bytes, 0) && intact_after(output_at(set), output_bytes_) &&
         (scratch_bytes_ == 0 || intact_after(scratch_at(set), scratch_bytes_));
}

std::int64_t cold_sets(const Session& session, const Operation& operation, std::int64_t size) {
  std::int64_t set = bytes_of_set(operation, size) - 2 * canary_bytes;
  // A rung with work of its own touches a part of a set, and that part has to have left the L2.
  for (const Rung& rung : operation.ladder->rungs)
    if (rung.cost) set = std::clamp<std::int64_t>(static_cast<std::int64_t>(rung.cost(size).bytes()), 1, set);
  return std::clamp<std::int64_t>((3 * session.facts().l2_bytes + set - 1) / set, 1, 4096);
}

void must_agree(const Deviation& d, std::int64_t size) {
  const std::string at = " at size " + std::to_string(size);
  if (d.never_written > 0)
    throw Failure("The result is wrong" + at + ": " + std::to_string(d.never_written) +
                      " of its numbers were never written or are not numbers.",
                  false);
  if (!(d.error <= d.bound))
    throw Failure("The result is wrong" + at + ": it is off by " + short_number(100 * d.error) +
                      " % from float64, and " +
                      (d.bound > 0 ? short_number(100 * d.bound) + " % is accepted." : "it must be exact."),
                  false);
}

Deviation check(const Session& session, const Operation& operation, const Operands& operands, const Prepared& prepared,
                std::uint32_t seed, ExpectedSums& expected) {
  const std::string at = " at size " + std::to_string(operands.size()), name(prepared.rung->entry);
  const auto run_once = [&] {
    operands.poison(0);
    operands.enqueue(prepared.functions, prepared.launches, 0, name);
    session.synchronize("running " + name + at);
    return operands.output(0);
  };
  operands.fill(seed);
  const std::vector<std::byte> out = run_once();
  if (!operands.canaries_intact(0)) throw Failure("The kernel wrote outside its output array" + at + ".", false);
  const Deviation d = operation.compare({operation, prepared.rung->id, operands.size(), out, seed, &expected});
  must_agree(d, operands.size());
  if (operation.repeatable) {
    if (run_once() != out)
      throw Failure("Two runs on the same input differ" + at + ": threads race, a barrier is missing.", false);
  }
  return d;
}

}  // namespace kernels::cuda
