#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <random>
#include <sstream>

#include "models/trace/measure/metrics.h"
#include "tests/models/trace/files.h"
#include "tests/support/base/effort.h"

// A recording is larger than the window through which it is read.
using namespace models::trace;

namespace {

std::string event_json(int i, const std::string& args) {
  return "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"op\", \"pid\": 1, \"tid\": 1, \"ts\": " +
         std::to_string(10 * i) + ", \"dur\": 9, \"args\": " + args + "}";
}

std::vector<std::string> odd_arguments(int count) {
  std::mt19937 random(11);
  static constexpr const char* parts[] = {"{",        "}", "[", "]", "\\\"", "\\\\",    "x",
                                          "aten::mm", ":", ",", " ", "\\n",  "\xC3\xA9"};
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) {
    std::string text;
    for (std::size_t n = random() % 120; n > 0; --n) text += parts[random() % std::size(parts)];
    if (i % 1000 == 7) text.append(300'000, 'b');  // longer than an event is expected to be
    out.push_back("{\"number\": " + std::to_string(i) + ", \"text\": \"" + text + "\", \"list\": [[1, {}], \"]\"]}");
  }
  return out;
}

}  // namespace

TEST_CASE("arguments of events at every place of the window, read again afterwards", "[trace]") {
  const auto arguments_of = odd_arguments(9000);
  std::string plain = "{\"before\": \"" + std::string(1'500'000, 'm') +
                      "\", \"deviceProperties\": [{\"name\": \"H200\"}], \"traceEvents\": [";
  for (std::size_t i = 0; i < arguments_of.size(); ++i)
    plain += (i > 0 ? ",\n " : "") + event_json(static_cast<int>(i), arguments_of[i]);
  plain += "], \"distributedInfo\": {\"rank\": 3}}";
  REQUIRE(plain.size() > 5'000'000);
  for (const bool packed : {false, true}) {
    INFO(packed);
    const auto read = read_trace(packed ? trace_test::gzipped(plain) : plain, "t");
    REQUIRE(read);
    CHECK(read->losses.empty());
    CHECK(read->rank == 3);
    REQUIRE(read->device_names.size() == 1);
    REQUIRE(read->events.size() == arguments_of.size());
    CHECK(read->text->size() == plain.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < arguments_of.size(); ++i)
      wrong += *read->args(read->events[i]) == arguments_of[i] ? 0 : 1;
    CHECK(wrong == 0);
  }
}

TEST_CASE("an event is found whole wherever its bytes lie", "[trace]") {
  // Sixty-four bytes are looked at together: every offset of a text, an escape and a bracket against that.
  for (std::size_t shift = 0; shift < 130; ++shift) {
    const std::string inner =
        R"({"a": "}]\\", "b": "\"{[", "c": {"d": [1, 2, {"e": ")" + std::string(shift, 'z') + R"("}]}})";
    const std::string plain = "[" + std::string(shift % 64, ' ') + event_json(1, inner) + "," + event_json(2, "{}") +
                              "," + event_json(3, inner) + "]";
    const auto read = read_trace(plain, "t");
    REQUIRE(read);
    CHECK(read->losses.empty());
    REQUIRE(read->events.size() == 3);
    CHECK(*read->args(read->events[0]) == inner);
    CHECK(*read->args(read->events[2]) == inner);
  }
}

TEST_CASE("damage in the middle of many windows loses the damaged events alone", "[trace]") {
  std::string plain = "[";
  for (int i = 0; i < 40'000; ++i) {
    plain += (i > 0 ? ", " : "") + event_json(i, "{\"i\": " + std::to_string(i) + "}");
    if (i % 10'000 == 5'000) plain.resize(plain.size() - 30);  // cut inside, and the next follows
  }
  const auto read = read_trace(plain + "]", "t");
  REQUIRE(read);
  CHECK(read->events.size() >= 40'000 - 8);
  CHECK(read->events.size() <= 40'000 - 4);
  CHECK_FALSE(read->losses.empty());
}

TEST_CASE("a file that is shortened while it is read: what was read is kept, and the reason said", "[trace]") {
  std::string plain = "[";
  for (int i = 0; i < 20'000; ++i) plain += (i > 0 ? ", " : "") + event_json(i, "{\"i\": 1}");
  const auto held = in_memory(plain + "]");
  const Bytes bytes{held.size, [&](std::uint64_t offset, char* to, std::size_t n) {
                      return offset + n > 1'200'000 ? models::Status::fail("The file t was shortened.")
                                                    : held.read(offset, to, n);
                    }};
  const auto read = read_trace(bytes, "t");
  REQUIRE(read);
  CHECK(read->events.size() > 5'000);
  CHECK(read->events.size() < 12'000);
  bool said = false;
  for (const auto& loss : read->losses)
    said = said || loss == "The file t was shortened. What came before it was kept.";
  CHECK(said);
}

TEST_CASE("the text of a recording stays in its file: an event takes 64 bytes or fewer", "[trace]") {
  if (support::sanitized()) SKIP("AddressSanitizer keeps freed memory.");
  // 400 bytes an event, made when they are asked for, so that the text is nowhere but where the reader puts it.
  constexpr std::uint64_t each = 400, events = 500'000;
  const auto bytes_at = [](std::uint64_t offset, char* to, std::size_t n) {
    for (std::size_t done = 0; done < n;) {
      const std::uint64_t i = (offset + done) / each;
      char line[each + 1];
      const int length = std::snprintf(line, sizeof line,
                                       "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"op\", \"pid\": 1, \"tid\": 1, "
                                       "\"ts\": %llu, \"dur\": 9, \"args\": {\"i\": %llu, \"pad\": \"",
                                       static_cast<unsigned long long>(10 * i), static_cast<unsigned long long>(i));
      std::fill(line + length, line + each, 'x');
      std::copy_n("\"}},", 4, line + each - 4);
      if (i == events - 1) line[each - 1] = ']';
      const std::size_t from = (offset + done) % each, some = std::min<std::size_t>(each - from, n - done);
      std::copy_n(line + from, some, to + done);
      done += some;
    }
    return models::Status::ok();
  };
  const Bytes bytes{1 + each * events, [&](std::uint64_t offset, char* to, std::size_t n) {
                      if (n > 0 && offset == 0) {
                        *to++ = '[';
                        ++offset;
                        --n;
                      }
                      return bytes_at(offset - 1, to, n);
                    }};
  const auto resident_bytes = [] {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) * 1024;
    return 0.0;
  };
  const double before = resident_bytes();
  if (before == 0) SKIP("this system does not say what is resident");
  const auto read = read_trace(bytes, "t");
  REQUIRE(read);
  REQUIRE(read->events.size() == events);
  CHECK(argument(*read, read->events[123'456], "i") == "123456");
  // 40 bytes each, a tenth more reserved, and the window.
  CHECK(resident_bytes() - before < 64.0 * static_cast<double>(events));
}
