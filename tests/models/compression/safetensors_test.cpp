#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "models/compression/safetensors.h"

using namespace models;

namespace {

/// A file as the format's README lays it out: length, header, data.
std::string file_of(std::string header, const std::string& data) {
  while (header.size() % 8 != 0) header += ' ';
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  return out + header + data;
}
std::string entry(const std::string& name, const std::string& dtype, const std::string& shape, int begin, int end) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":[" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}
Result<TensorFile> read(const std::string& file) { return parse_safetensors(file, file.size(), "w.safetensors"); }
std::string error_of(const std::string& header, const std::string& data) { return read(file_of(header, data)).error; }
bool says(const std::string& error, std::string_view part) {
  return error.find(part) != std::string::npos && error.back() == '.' && error.find('\n') == std::string::npos;
}

std::vector<double> decoded(TensorType type, const std::string& bytes, std::size_t n) {
  std::vector<double> out(n, -99);
  out.resize(decode_tensor(type, bytes, out));
  return out;
}

const std::string two = file_of("{\"__metadata__\":{\"format\":\"pt\"}," + entry("w", "F32", "[2,2]", 0, 16) + "," +
                                    entry("b", "BF16", "[2]", 16, 20) + "}",
                                std::string("\x00\x00\x80\x3f\x00\x00\x00\xc0\x00\x00\x00\x3f\x00\x00\x80\x40", 16) +
                                    std::string("\x80\x3f\x00\xc0", 4));

}  // namespace

TEST_CASE("safetensors: tensors are listed in the order of their bytes, with offsets into the file") {
  const auto r = read(two);
  INFO(r.error);
  REQUIRE(r);
  REQUIRE(r->tensors.size() == 2);
  const TensorEntry& w = r->tensors[0];
  CHECK((w.name == "w" && w.type == TensorType::f32 && w.shape == std::vector<std::int64_t>{2, 2} && w.elements == 4));
  CHECK(w.begin_bytes == r->header_bytes);
  CHECK(r->tensors[1].end_bytes == two.size());
  CHECK((r->metadata.size() == 1 && r->metadata[0].second == "pt"));
  CHECK(decoded(w.type, two.substr(w.begin_bytes, 16), 4) == std::vector<double>{1, -2, 0.5, 4});
  CHECK(decoded(TensorType::bf16, two.substr(r->find("b")->begin_bytes, 4), 2) == std::vector<double>{1, -2});
  CHECK(r->find("c") == nullptr);
}

TEST_CASE("safetensors: the head alone is enough to list the tensors of a file that is not loaded") {
  const auto head = safetensors_head_bytes(two.substr(0, 8), two.size(), "w");
  REQUIRE(head);
  CHECK(*head == two.size() - 20);
  CHECK(parse_safetensors(two.substr(0, *head), two.size(), "w")->tensors.size() == 2);
}

TEST_CASE("safetensors: a file cut at any byte is refused in one sentence, whatever was cut") {
  for (std::size_t n = 0; n < two.size(); ++n) {
    const auto r = read(two.substr(0, n));
    INFO(n << ": " << r.error);
    REQUIRE_FALSE(r);
    CHECK((r.error.back() == '.' && r.error.find('\n') == std::string::npos &&
           r.error.find("w.safetensors") != std::string::npos));
  }
  CHECK(says(read(two.substr(0, two.size() - 1)).error, "19 bytes of data and its header describes 20"));
  CHECK(says(read(two + "x").error, "1 bytes behind its last tensor"));
}

TEST_CASE("safetensors: what a header may not say is answered in a sentence that names tensor and reason") {
  CHECK(says(error_of("{" + entry("a", "U8", "[4]", 0, 4) + "," + entry("b", "U8", "[4]", 2, 6) + "}", "abcdef"),
             "\"b\" of w.safetensors begins at byte 2 of the data, inside the one before it"));
  CHECK(says(error_of("{" + entry("a", "U8", "[2]", 0, 2) + "," + entry("b", "U8", "[2]", 4, 6) + "}", "abcdef"),
             "Bytes 2 to 4 of the data"));
  CHECK(says(error_of("{" + entry("a", "F32", "[1099511627776,1099511627776]", 0, 4) + "}", "abcd"),
             "more than 2^56 elements"));
  CHECK(says(error_of("{" + entry("a", "F32", "[2]", 0, 4) + "}", "abcd"),
             "takes 4 bytes, but its shape and dtype need 8"));
  CHECK(says(error_of("{" + entry("a", "F5", "[2]", 0, 4) + "}", "abcd"), "dtype \"F5\""));
  CHECK(says(error_of("{" + entry("a", "U8", "[-1]", 0, 4) + "}", "abcd"), "no whole number"));
  CHECK(says(error_of("{" + entry("a", "U8", "[2.5]", 0, 4) + "}", "abcd"), "no whole number"));
  CHECK(says(error_of("{" + entry("a", "U8", "[0]", 4, 0) + "}", "abcd"), "before it begins"));
  CHECK(says(error_of("{" + entry("a", "F4", "[3]", 0, 2) + "}", "ab"), "no whole number of bytes"));
  CHECK(says(error_of("{" + entry("a", "U8", "[1]", 0, 1) + "," + entry("a", "U8", "[1]", 0, 1) + "}", "a"),
             "key \"a\" twice"));
  CHECK(says(error_of("{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}", ""), "nests 101 levels deep"));
  CHECK(says(error_of("{\"\xff\":1}", ""), "not UTF-8"));
  CHECK(says(error_of("[1,2]", ""), "not a JSON object"));
  CHECK(says(error_of("{\"a\":7}", ""), "must be an object with dtype"));
  CHECK(says(error_of("{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1],\"x\":1}}", "a"),
             "has the key \"x\""));
  CHECK(says(error_of("{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0]}}", "a"), "two whole numbers"));
  CHECK(says(error_of("{\"__metadata__\":{\"n\":3}}", ""), "must hold texts alone"));
}

TEST_CASE("safetensors: a header longer than the file, or than four megabytes, is refused before it is read") {
  const std::string huge = std::string("\x07\x00\x00\x00\x00\x00\x00\x80", 8) + "{}";
  CHECK(says(read(huge).error, "announces a header of 9223372036854775815 bytes and has 2 left"));
  const std::string large("\x00\x00\x00\x10\x00\x00\x00\x00", 8);
  CHECK(says(safetensors_head_bytes(large, std::uint64_t{1} << 40, "w").error,
             "has a header of 268435456 bytes; at most 4194304"));
  CHECK(says(safetensors_head_bytes("abc", 3, "w").error, "w has 3 bytes"));
}

TEST_CASE("safetensors: numbers of every type") {
  using T = TensorType;
  CHECK(decoded(T::boolean, std::string("\x00\x01", 2), 2) == std::vector<double>{0, 1});
  CHECK(decoded(T::i8, "\x80\x7f", 2) == std::vector<double>{-128, 127});
  CHECK(decoded(T::u16, "\xff\xff", 1) == std::vector<double>{65535});
  CHECK(decoded(T::i32, "\xff\xff\xff\xff", 1) == std::vector<double>{-1});
  CHECK(decoded(T::u64, std::string("\x00\x00\x00\x00\x01\x00\x00\x00", 8), 1) == std::vector<double>{4294967296.0});
  CHECK(decoded(T::f16, std::string("\x00\x3c\xff\x7b\x01\x00", 6), 3) == std::vector<double>{1, 65504, 0x1p-24});
  CHECK(decoded(T::f64, std::string("\x00\x00\x00\x00\x00\x00\x0c\x40", 8), 1) == std::vector<double>{3.5});
  // OCP FP8 and MX limits: E4M3 448 and 2^-9, E5M2 57344, E8M0 2^-127, E2M1 6, E2M3 7.5, E3M2 28; FNUZ 240.
  CHECK(decoded(T::f8_e4m3, "\x7e\x01\xc0", 3) == std::vector<double>{448, 0x1p-9, -2});
  CHECK(std::isnan(decoded(T::f8_e4m3, "\x7f", 1)[0]));
  CHECK(decoded(T::f8_e5m2, "\x7b\x7c", 2) == std::vector<double>{57344, HUGE_VAL});
  CHECK(decoded(T::f8_e4m3fnuz, "\x7f", 1) == std::vector<double>{240});
  CHECK(std::isnan(decoded(T::f8_e5m2fnuz, "\x80", 1)[0]));
  CHECK(decoded(T::f8_e8m0, std::string("\x00\x7f", 2), 2) == std::vector<double>{0x1p-127, 1});
  CHECK(decoded(T::f4, "\x97", 2) == std::vector<double>{6, -0.5});  // low nibble first
  CHECK(decoded(T::f6_e2m3, std::string("\x5f\x08\x00", 3), 4) ==
        std::vector<double>{7.5, -0.125, 0, 0});  // 0x1f, 0x21, 0, 0 in 6 bits each
  CHECK(decoded(T::f6_e3m2, std::string("\x1f\x00\x00", 3), 4)[0] == 28);
}
