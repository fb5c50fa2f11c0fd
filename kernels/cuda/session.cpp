#include "kernels/cuda/session.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "kernels/cuda/compile.h"
#include "kernels/sources.h"

namespace kernels::cuda {

std::string binary_bytes(std::int64_t bytes) {
  char text[48];
  const double b = static_cast<double>(bytes);
  if (bytes >= 1 << 30)
    std::snprintf(text, sizeof text, "%.1f GiB", b / 0x1p30);
  else
    std::snprintf(text, sizeof text, "%.1f MiB", b / 0x1p20);
  return text;
}

std::string why_no_device(const Machine& machine) {
  if (!machine.no_driver.empty()) return machine.no_driver;
  if (const Status status = machine.driver.init(0); status != 0)
    return sentence(machine.driver, status, "starting the driver");
  int count = 0;
  if (const Status status = machine.driver.device_count(&count); status != 0)
    return sentence(machine.driver, status, "counting devices");
  return count > 0 ? ""
                   : "The CUDA driver is there, but it sees no device: check that a GPU is present and that "
                     "CUDA_VISIBLE_DEVICES does not hide it.";
}

DeviceArray::DeviceArray(const Driver& driver, std::int64_t bytes, const std::string& what) : driver_(driver) {
  const Status status = driver.allocate(&address_, static_cast<std::size_t>(bytes));
  if (status == 2) {
    std::size_t free = 0, total = 0;
    driver.memory_info(&free, &total);
    throw Failure("The GPU has too little free memory for " + what + ": " + binary_bytes(bytes) + " are needed and " +
                      binary_bytes(static_cast<std::int64_t>(free)) +
                      " are free. Choose a smaller size or close what else uses the GPU.",
                  false);
  }
  must(driver, status, "allocating memory for " + what);
}

LoadedModule::LoadedModule(const Driver& driver, const std::string& image) : driver_(driver) {
  must(driver, driver.load(&module_, image.data()), "loading the kernel");
}

Function LoadedModule::function(std::string_view name) const {
  Function f = nullptr;
  must(driver_, driver_.function(&f, module_, std::string(name).c_str()),
       "looking for the kernel " + std::string(name));
  return f;
}

Session::Session(const Machine& machine) : machine_(machine) {
  if (const std::string why = why_no_device(machine); !why.empty()) throw Failure(why, false);
  const Driver& d = machine.driver;
  must(d, d.device_get(&device_, 0), "opening the GPU");
  std::array<char, 256> name{};
  d.device_name(name.data(), static_cast<int>(name.size()) - 1, device_);
  facts_.name = name.data();
  const auto attribute = [&](int which) {
    int value = 0;
    must(d, d.device_attribute(&value, which, device_), "asking the GPU what it is");
    return value;
  };
  facts_.capability = 10 * attribute(attribute_capability_major) + attribute(attribute_capability_minor);
  facts_.multiprocessors = std::max(1, attribute(attribute_multiprocessors));
  facts_.l2_bytes = attribute(attribute_l2_bytes);
  facts_.multiprocessor_threads = attribute(attribute_multiprocessor_threads);
  facts_.multiprocessor_shared_bytes = attribute(attribute_multiprocessor_shared_bytes);
  int clock_khz = 0;
  if (d.device_attribute(&clock_khz, attribute_clock_khz, device_) == 0 && clock_khz > 0) facts_.clock_khz = clock_khz;
  facts_.watchdog = attribute(attribute_execution_timeout) != 0;
  const Compilation compiled = compile(machine.nvrtc, embedded_source("cuda/rungs/instruments.cu"), "instruments.cu",
                                       "fill_uniform", facts_.capability);
  if (!compiled.failure.empty()) throw Failure(compiled.failure, false);

  Context context = nullptr;
  must(d, d.context_retain(&context, device_), "starting a context on the GPU");
  retained_ = true;
  try {
    must(d, d.context_set_current(context), "starting a context on the GPU");
    std::size_t free = 0, total = 0;
    must(d, d.memory_info(&free, &total), "asking how much memory the GPU has");
    facts_.memory_bytes = static_cast<std::int64_t>(total);
    must(d, d.stream_create(&stream_, 1), "making a stream");  // 1: not ordered with the default stream
    instruments_ = std::make_unique<LoadedModule>(d, compiled.image);
    fill_uniform_ = instrument("fill_uniform");
    fill_halves_ = instrument("fill_halves");
    fill_bytes_ = instrument("fill_bytes");
    fill_below_ = instrument("fill_below");
    fill_bf16_ = instrument("fill_bf16");
    spin_ = instrument("spin");
  } catch (...) {
    close();
    throw;
  }
}

Session::~Session() { close(); }

void Session::close() {
  instruments_.reset();
  if (stream_) driver().stream_destroy(stream_);
  stream_ = nullptr;
  if (retained_) driver().context_release(device_);
  retained_ = false;
}

void Session::launch(Function function, const Launch& l, std::span<void*> arguments, const std::string& name) const {
  must(driver(),
       driver().launch(function, l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, 1, l.shared_bytes, stream_,
                       arguments.data(), nullptr),
       "launching " + name);
}

void Session::synchronize(const std::string& doing) const {
  must(driver(), driver().stream_synchronize(stream_), doing);
}

namespace {

Launch grid_over(std::int64_t n, int multiprocessors) {
  return {.grid_x = static_cast<unsigned>(std::clamp<std::int64_t>((n + 255) / 256, 1, 16ll * multiprocessors)),
          .block_x = 256};
}

}  // namespace

void Session::fill(DevicePointer out, const Array& array, std::int64_t count, std::uint32_t seed) const {
  const std::int64_t bytes = (count * bits_of(array.element) + 7) / 8;
  auto n = static_cast<unsigned long long>(count);
  switch (array.element) {
    case Element::f32:
      return fill_uniform(out, count, seed, array.lo, array.scale);
    case Element::f16:
    case Element::bf16: {
      float lo = array.lo, scale = array.scale;
      unsigned brain = array.element == Element::bf16 ? 1 : 0;
      std::array<void*, 6> arguments{&out, &n, &seed, &lo, &scale, &brain};
      return launch(fill_halves_, grid_over(count, facts_.multiprocessors), arguments, "fill_halves");
    }
    case Element::u32: {
      unsigned below = array.below;
      std::array<void*, 4> arguments{&out, &n, &seed, &below};
      return launch(fill_below_, grid_over(count, facts_.multiprocessors), arguments, "fill_below");
    }
    default: {  // bytes: four a word; the array ends on a boundary of 4 KiB, so a last word that is whole does no harm
      auto words = static_cast<unsigned long long>((bytes + 3) / 4);
      unsigned without = array.element == Element::i8 ? 1 : array.element == Element::e4m3 ? 2 : 0;
      std::array<void*, 4> arguments{&out, &words, &seed, &without};
      return launch(fill_bytes_, grid_over(static_cast<std::int64_t>(words), facts_.multiprocessors), arguments,
                    "fill_bytes");
    }
  }
}

void Session::fill_uniform(DevicePointer out, std::int64_t n, std::uint32_t seed, float lo, float scale) const {
  auto count = static_cast<unsigned long long>(n);
  std::array<void*, 5> arguments{&out, &count, &seed, &lo, &scale};
  launch(fill_uniform_, grid_over(n, facts_.multiprocessors), arguments, "fill_uniform");
}

void Session::fill_bf16(DevicePointer out, std::int64_t words, std::uint32_t seed) const {
  auto count = static_cast<unsigned long long>(words);
  std::array<void*, 3> arguments{&out, &count, &seed};
  launch(fill_bf16_, grid_over(words, facts_.multiprocessors), arguments, "fill_bf16");
}

void Session::fill_words(DevicePointer out, std::uint32_t word, std::int64_t words) const {
  must(driver(), driver().fill_words(out, word, static_cast<std::size_t>(words), stream_), "filling memory");
}

void Session::spin(std::int64_t nanoseconds) const {
  auto cycles = static_cast<long long>(nanoseconds) * facts_.clock_khz / 1'000'000;
  std::array<void*, 1> arguments{&cycles};
  launch(spin_, {}, arguments, "spin");
}

}  // namespace kernels::cuda
