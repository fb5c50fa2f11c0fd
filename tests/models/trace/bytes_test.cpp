#include <catch2/catch_test_macros.hpp>
#include <random>

#include "models/trace/text/bytes.h"
#include "models/trace/trace.h"
#include "tests/models/trace/files.h"

using namespace models::trace;

namespace {

/// Half of it numbers that do not pack, half of it a text that packs well.
std::string mixed_text(std::size_t bytes) {
  std::mt19937 random(5);
  std::string out;
  while (out.size() < bytes) {
    for (int i = 0; i < 900; ++i) out += static_cast<char>(' ' + random() % 90);
    for (std::size_t i = 0, n = random() % 100; i < n; ++i) out += "\"ph\": \"X\", ";
  }
  out.resize(bytes);
  return out;
}

std::string inflated(Inflater& from, std::size_t max_at_once) {
  std::string out, part(max_at_once, '\0');
  for (std::size_t n = 1; n > 0;) {
    n = from.read(part.data(), part.size());
    out.append(part, 0, n);
  }
  return out;
}

}  // namespace

TEST_CASE("a gz inflates to its text, whatever its members and however it is asked", "[trace]") {
  const std::string plain = mixed_text(900'000);
  std::mt19937 random(6);
  std::string
      packed;  // members of odd lengths, an empty one among them; together longer than what is read of a file at once
  for (std::size_t at = 0; at < plain.size();) {
    const std::size_t n = packed.empty() ? 1 : std::min<std::size_t>(plain.size() - at, random() % 90'000);
    packed += trace_test::gzipped(plain.substr(at, n));
    at += n;
  }
  packed += trace_test::gzipped("");
  packed += std::string(100, '\0');  // padding, as tape archives have it
  REQUIRE(packed.size() > (std::size_t{256} << 10));
  const Bytes bytes = in_memory(packed);
  for (const std::size_t most : {std::size_t{777}, std::size_t{65536}, std::size_t{4'000'000}}) {
    Inflater inflater(bytes);
    CHECK(inflated(inflater, most) == plain);
    CHECK(inflater.status());
    CHECK(inflater.text_at() == plain.size());
  }
}

TEST_CASE("inflating starts again at every place that was saved", "[trace]") {
  const std::string plain = mixed_text(400'000);
  const Bytes bytes =
      in_memory(trace_test::gzipped(plain.substr(0, 150'000)) + trace_test::gzipped(plain.substr(150'000)));
  Inflater inflater(bytes);
  std::string part(10'007, '\0');
  std::vector<std::shared_ptr<const Inflater::Place>> places;
  std::vector<std::uint64_t> at;
  do {
    places.push_back(inflater.place());
    at.push_back(inflater.text_at());
  } while (inflater.read(part.data(), part.size()) > 0);
  REQUIRE(places.size() == 41);
  for (std::size_t i = 0; i < places.size(); i += 3) {
    Inflater again(bytes, *places[i]);
    CHECK(again.text_at() == at[i]);
    CHECK(inflated(again, 50'000) == plain.substr(static_cast<std::size_t>(at[i])));
  }
}

TEST_CASE("parts of a text are read again, from memory and from a gz", "[trace]") {
  const std::string plain = mixed_text(300'000);
  Text of_plain(in_memory(plain)), of_gz(in_memory(trace_test::gzipped(plain)));
  Inflater inflater(of_gz.bytes());
  std::string part(40'000, '\0');
  do of_gz.add_place(inflater.place());
  while (inflater.read(part.data(), part.size()) > 0);
  of_gz.set_size(inflater.text_at());
  REQUIRE(of_gz.size() == plain.size());
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    const std::size_t from = random() % plain.size(),
                      n = random() %
                          std::min<std::size_t>(plain.size() - from,
                                                i % 10 == 0 ? 100'000 : 500);  // some lie over several places
    CHECK(*of_plain.part(from, n) == plain.substr(from, n));
    CHECK(*of_gz.part(from, n) == plain.substr(from, n));
  }
  CHECK(*of_plain.all() == plain);
  CHECK(*of_gz.all() == plain);
  for (const Text* text : {&of_plain, &of_gz})
    CHECK(text->part(plain.size() - 3, 4).error ==
          "The recording's text is not there any more: choose the file again.");
  CHECK(of_gz.resident_bytes() < 1'500'000);  // nine places of 85 KiB, one piece of the text
}

TEST_CASE("a text whose file is gone says so in the words of who reads it", "[trace]") {
  bool gone = false;
  const auto held = in_memory(trace_test::gzipped(mixed_text(100'000)));
  const Bytes bytes{held.size, [&](std::uint64_t offset, char* to, std::size_t n) {
                      return gone ? models::Status::fail("The file a.gz was shortened.") : held.read(offset, to, n);
                    }};
  Text text(bytes);
  Inflater inflater(text.bytes());
  text.add_place(inflater.place());
  std::string all(200'000, '\0');
  text.set_size(inflater.read(all.data(), all.size()));
  gone = true;
  CHECK(text.part(10, 20).error == "The file a.gz was shortened.");
  CHECK(text.all().error == "The file a.gz was shortened.");
}

TEST_CASE("a gz with one wrong byte: what comes before it, and the reason", "[trace]") {
  const std::string plain = mixed_text(50'000), packed = trace_test::gzipped(plain);
  for (std::size_t at = 10; at < packed.size(); at += 997) {
    std::string wrong = packed;
    wrong[at] = static_cast<char>(wrong[at] ^ 0x10);
    const Bytes bytes = in_memory(wrong);
    Inflater inflater(bytes);
    const std::string got = inflated(inflater, 8192);
    CHECK(inflater.status().error.ends_with('.'));
    CHECK(got.size() <= 2 * plain.size());
  }
}

TEST_CASE("a gz that was cut says so, once its text has been read", "[trace]") {
  const std::string plain = mixed_text(50'000), packed = trace_test::gzipped(plain);
  const Bytes bytes = in_memory(packed.substr(0, packed.size() / 2));
  Inflater inflater(bytes);
  CHECK(plain.starts_with(inflated(inflater, 8192)));
  CHECK(inflater.status().error == "The compressed file ends too early.");
  const std::string list = trace_test::gzipped("[" + plain);
  const auto recording = read_trace(list.substr(0, list.size() / 2), "a.gz");
  CHECK(recording.error == "a.gz: The compressed file ends too early. Nothing before that can be used.");
}
