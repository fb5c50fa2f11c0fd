#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "models/trace/measure/metrics.h"
#include "models/trace/readers/number.h"
#include "models/trace/readers/plain_event.h"
#include "tests/models/trace/files.h"
#include "tests/models/trace/written.h"

// Events as profilers write them are read in one pass, all others by simdjson: both must say the same.

using namespace models::trace;
using trace_test::opened_trace;

namespace {

/// The text with a member in every event that holds an escape, which the one pass leaves to simdjson.
std::string with_escapes(const std::string& text) {
  std::string out;
  int depth = 0;
  bool in_text = false;
  const std::size_t begin = text.find('[', text.find("\"traceEvents\""));
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && text[i - 1] != '\\') in_text = !in_text;
    if (i >= begin && !in_text) {
      if (c == '{' || c == '[') ++depth;
      if (c == '}' && depth == 2) out += out.back() == '{' ? R"("escaped": "\\")" : R"(, "escaped": "\\")";
      if (c == '}' || c == ']') --depth;
    }
    out += c;
  }
  return out;
}

void check_same(const Trace& a, const Trace& b) {
  CHECK(a.losses == b.losses);
  CHECK(a.records == b.records);
  CHECK(a.phase_counts == b.phase_counts);
  CHECK(a.categories == b.categories);
  CHECK(a.category_counts == b.category_counts);
  CHECK(a.strings == b.strings);
  CHECK(a.flows.size() == b.flows.size());
  CHECK(a.memory.size() == b.memory.size());
  CHECK(a.out_of_order == b.out_of_order);
  REQUIRE(a.tracks.size() == b.tracks.size());
  for (std::size_t i = 0; i < a.tracks.size(); ++i) {
    CHECK(a.tracks[i].pid == b.tracks[i].pid);
    CHECK(a.tracks[i].tid == b.tracks[i].tid);
    CHECK(a.tracks[i].stream == b.tracks[i].stream);
    CHECK(a.tracks[i].name == b.tracks[i].name);
  }
  REQUIRE(a.events.size() == b.events.size());
  bool same = true;
  for (std::size_t i = 0; i < a.events.size(); ++i) {
    const Event &x = a.events[i], &y = b.events[i];
    same = same && x.start_ns == y.start_ns && x.duration_ns == y.duration_ns && x.kind == y.kind &&
           x.correlated == y.correlated && x.cls == y.cls && x.args_bytes == y.args_bytes && x.name == y.name &&
           x.track == y.track && x.link == y.link && x.category == y.category && x.depth == y.depth;
    if (i % 97 == 0) CHECK(*a.args(x) == *b.args(y));
  }
  CHECK(same);
}

}  // namespace

TEST_CASE("an event in one pass and the same event by simdjson are the same", "[trace]") {
  for (const char* name : {"small.json", "mtia.json", "tensorflow.json", "jax.json"}) {
    INFO(name);
    const std::string text = trace_test::own_trace(name);
    check_same(opened_trace(text), opened_trace(with_escapes(text)));
  }
  const auto folder = trace_test::real_traces();
  const auto real = folder / "pair_rank0of128.json.gz";
  if (folder.empty() || !std::filesystem::exists(real)) return;
  const Trace packed = opened_trace(support::read_text(real));
  check_same(packed, opened_trace(with_escapes(*packed.text->all())));
}

TEST_CASE("one pass reads what is plain and leaves alone what is not", "[trace]") {
  PlainEvents used_to_them;
  const auto read = [&](std::string json, Record& r) {
    json += ",";
    const std::size_t bytes = json.size();
    json.append(64, '\0');
    PlainEvents fresh_each_time;
    Record again;
    const char* const after = fresh_each_time.read(json.data(), json.data() + bytes, 1000, r = {});
    CHECK(used_to_them.read(json.data(), json.data() + bytes, 1000, again) == after);
    if (after) {
      CHECK(again.name == r.name);
      CHECK(again.category == r.category);
      CHECK(again.pid == r.pid);
      CHECK(again.tid == r.tid);
      CHECK(again.stream == r.stream);
      CHECK(again.time_ns == r.time_ns);
      CHECK(again.duration_ns == r.duration_ns);
      CHECK(again.correlation == r.correlation);
      CHECK(again.args_offset == r.args_offset);
      CHECK(again.args_bytes == r.args_bytes);
    }
    // The texts of the record point into a string that ends here.
    r.name = r.category = r.pid = r.tid = r.id = r.device = r.stream = {};
    return after ? after - json.data() : 0;
  };
  Record r;
  const std::string plain =
      R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 12.5, "dur": 3, )"
      R"("args": {"a": [1, {"b": "]}"}], "correlation": 42}, "bp": "e"})";
  REQUIRE(read(plain, r) == static_cast<std::ptrdiff_t>(plain.size()));
  CHECK(r.phase == 'X');
  CHECK(r.time_ns == 12'500);
  CHECK(r.duration_ns == 3'000);
  CHECK(r.correlation == 42);
  CHECK(plain.substr(r.args_offset - 1000, r.args_bytes) == R"({"a": [1, {"b": "]}"}], "correlation": 42})");
  for (std::size_t n = 0; n < plain.size(); ++n) {
    INFO(n);
    CHECK(read(plain.substr(0, n), r) == 0);  // cut at every byte
  }
  for (const char* odd : {
           R"({})",
           R"({"name": "a\"b", "ts": 1})",
           "{\"name\": \"caf\xC3\xA9\", \"ts\": 1}",
           "{\"name\": \"a\tb\", \"ts\": 1}",
           R"({"name": 7, "ts": 1})",
           R"({"ts": 1,})",
           R"({"ts": 1 "dur": 2})",
           R"({"ts" 1})",
           R"({"args": {"a": 1}, "args": {"a": 2}})",
           R"({"args": {"correlation": 1e3}})",
           R"({"args": {"a": 1,}})",
           R"({"args": {"a": "\\"}})",
           R"({"cat": "cpu_op", "args": {"a": ["\n"]}})",
           "{\"cat\": \"cpu_op\", \"args\": {\"a\": \"\xFF\"}}",
       }) {
    INFO(odd);
    CHECK(read(odd, r) == 0);
  }
}

TEST_CASE("events of many shapes in turn are read as each alone", "[trace]") {
  PlainEvents used_to_them;
  const auto read = [](PlainEvents& events, const std::string& json, Record& r) {
    r = {};
    const char* const after = events.read(json.data(), json.data() + json.size() - 64, 0, r);
    return after ? after - json.data() : 0;
  };
  const auto event = [](int shape, int round) {
    // Blanks in changing places, keys in changing order, keys too long to be remembered, more shapes than there is room
    // for: 40 rounds of 300.
    const std::string blanks(static_cast<std::size_t>(shape % 7), ' '), n = std::to_string(shape);
    std::string out = "{" + blanks + "\"ph\":" + blanks + "\"X\"" + (shape % 2 > 0 ? " ," : ", ");
    const std::string ts = "\"ts\": " + std::to_string(round) + "." + std::to_string(shape % 10) + ", ";
    if (shape % 3 == 0) out += ts;
    out += "\"cat\": \"" + std::string(shape % 5 == 0 ? "cpu_op" : "kernel") + "\", \"key" + n +
           "\": [1, {\"a\": " + n + "}], ";
    if (shape % 3 != 0) out += ts;
    out += "\"args\": {\"" + std::string(static_cast<std::size_t>(shape % 60), 'k') + "\": 1, \"k" + n +
           "\":  \"v\", \"correlation\": " + std::to_string(round + shape) + blanks + "}, \"dur\": " + n + blanks + "}";
    return out + std::string(64, '\0');
  };
  for (int round = 0; round < 40; ++round)
    for (int shape = 0; shape < 300; ++shape) {
      const std::string json = event(shape, round);
      Record used, alone;
      PlainEvents fresh;
      const auto after = read(used_to_them, json, used);
      if (after != static_cast<std::ptrdiff_t>(json.size() - 64) || read(fresh, json, alone) != after ||
          used.time_ns != alone.time_ns || used.time_ns != round * 1000 + shape % 10 * 100 ||
          used.duration_ns != 1000 * shape || used.category != alone.category ||
          used.correlation != (shape % 5 == 0 ? -1 : round + shape) || alone.correlation != used.correlation ||
          used.args_offset != alone.args_offset || used.args_bytes != alone.args_bytes)
        FAIL("shape " << shape << " in round " << round << ": " << json);
    }
}

TEST_CASE("plain microseconds are parsed as all others are", "[trace]") {
  for (const char* text :
       {"0", "7", "2.5", "0.001", "1.0", "5.", "4458676416788.066", "4458676416788", "12345678", "12345678.9",
        "999999999999999.99", "123456789012345.67", "99999999999999999", "1234567.890"}) {
    INFO(text);
    std::int64_t plain = -1, general = -1;
    REQUIRE(parse_plain_us(text, plain) == (std::string_view(text) != "99999999999999999"));
    CHECK(parse_us(std::string(text) + "e0", general) == parse_us(text, plain));
    if (std::string_view(text).size() < 17) CHECK(plain == general);  // a double holds so many digits
  }
  std::int64_t ns = 0;
  for (const char* other :
       {"", ".", "-1", "1.2345", "1e3", "12:45678.000", "1234567x.0000000", "12345678901234567.89"}) {
    INFO(other);
    CHECK_FALSE(parse_plain_us(other, ns));
  }
}

TEST_CASE("times in an event are what parse_us says", "[trace]") {
  for (const char* text : {"0",
                           "7",
                           "2.5",
                           "0.001",
                           "1.0",
                           "5.",
                           "4458676416788.066",
                           "4458676416788",
                           "12345678.9",
                           "1763851234567890.123",
                           "1763851234567890",
                           "3999999999999999.999",
                           "4000000000000000",
                           "4000000000000000.001",
                           "9999999999999999",
                           "99999999999999999",
                           "12345678901234567.89",
                           "1.2345",
                           "1.23456",
                           "0.0005",
                           "-1",
                           "-2.5",
                           "1e3",
                           "1.5e2",
                           "1.",
                           ".5",
                           ".",
                           "1.2.3",
                           "007",
                           "1x",
                           "1.0x",
                           "inf",
                           "NaN",
                           "123456789012345.678",
                           "\"12.5\""}) {
    INFO(text);
    const std::string json = "{\"ts\": " + std::string(text) + "}" + std::string(64, '\0');
    std::string_view written(text);
    if (written.front() == '"') written = written.substr(1, written.size() - 2);
    std::int64_t ns = 0;
    const bool good = parse_us(written, ns);
    Record r;
    REQUIRE(PlainEvents().read(json.data(), json.data() + json.size() - 64, 0, r));
    CHECK(r.has_time == good);
    if (good) CHECK(r.time_ns == ns);
  }
}
