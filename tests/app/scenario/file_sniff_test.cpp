#include "app/scenario/file_sniff.h"

#include <catch2/catch_test_macros.hpp>

#include "app/platform/file_bytes.h"
#include "tests/support/base/files.h"
#include "tests/support/base/gzip.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/sample_files.h"

using chapters::FileKind;
using support::sample_file;
using std::string_literals::operator""s;

namespace {

FileKind kind_of(const std::string& text) { return app::sniff_text(text, true).kind; }
std::string looks_like(const std::string& text) { return app::sniff_text(text, true).looks_like; }

}  // namespace

TEST_CASE("every kind of file is told by its content") {
  for (const FileKind kind : support::sampled_kinds) {
    INFO(static_cast<int>(kind));
    CHECK(kind_of(sample_file(kind)) == kind);
  }
  for (const char* recording : {"traces/array.json", "traces/rocprof.json", "traces/jax.json", "traces/tensorflow.json",
                                "traces/mtia.json", "traces/small.sqlite"}) {
    INFO(recording);
    CHECK(kind_of(support::read_text(support::data_file(recording))) == FileKind::recording);
  }
  CHECK(kind_of(support::read_text(support::data_file("traces/small.json"))) == FileKind::memory_recording);
  CHECK(kind_of(R"({"version": "2.4", "pg_config": {}, "entries": []})") == FileKind::flight_recorder);
  CHECK(kind_of(R"({"lab": "roofline/roofline", "version": 1, "inputs": {}})") == FileKind::scenario);
  CHECK(kind_of(R"({"id": "x", "title": "X", "steps": []})") == FileKind::lesson);
  CHECK(kind_of(R"({"chips": [{}]})") == FileKind::chips);
  CHECK(kind_of(R"({"networks": [{}]})") == FileKind::chips);
  CHECK(kind_of(R"({"id": "n", "kind": "ethernet", "bytes_per_s_per_direction": 1e10})") == FileKind::chips);
  CHECK(kind_of("{\"timestamp\": 0, \"input_length\": 7, \"output_length\": 3}\n") == FileKind::arrivals);
  CHECK(kind_of(R"({"id": "a", "block_size": 64, "requests": [{"t": 0, "in": 64, "hash_ids": [1]}]})") ==
        FileKind::arrivals);
  CHECK(kind_of("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,4808,10\n") == FileKind::arrivals);
  CHECK(kind_of("============ Serving Benchmark Result ============\nSuccessful requests: 7\n") ==
        FileKind::benchmark_log);
  CHECK(kind_of(R"({"request_throughput": 3.2, "mean_ttft_ms": 12})") == FileKind::benchmark_log);
  CHECK(kind_of("NVR\0\1\2\3"s) == FileKind::kernel_report);
}

TEST_CASE("a pickle is known by its first bytes, and by what it seems to hold") {
  const app::SniffedFile snapshot = app::sniff_text("\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94(\x8c\x08segments\x94]"s, true);
  CHECK(snapshot.kind == FileKind::pickle);
  CHECK(snapshot.holds == FileKind::memory_snapshot);
  CHECK(snapshot.looks_like == "a memory snapshot of PyTorch as a pickle, which may run code when it is read");
  CHECK(app::sniff_text("\x80\x02}q\1."s, true).holds == FileKind::pickle);
}

TEST_CASE("what nothing here knows is named as far as its first bytes tell") {
  CHECK(looks_like("\x89PNG\r\n\x1a\n\0\0"s) == "a picture (PNG)");
  CHECK(looks_like("PK\x03\x04"s) == "a zip archive");
  CHECK(looks_like("dear diary") == "a text that nothing here knows");
  CHECK(looks_like(R"({"cells": [], "nbformat": 4})") == "JSON that nothing here knows");
  CHECK(looks_like("\1\2\3"s) == "no text, and nothing that is known by its first bytes");
  CHECK(kind_of("") == FileKind::unknown);
  CHECK(kind_of("{\"a\": \"") == FileKind::unknown);
}

TEST_CASE("a key inside of a value does not make a kind, and a text that is cut is still known") {
  CHECK(kind_of(R"({"note": "traceEvents", "x": {"segments": []}})") == FileKind::unknown);
  const std::string whole = sample_file(FileKind::memory_snapshot);
  CHECK(app::sniff_text(whole.substr(0, whole.size() / 2), false).kind == FileKind::memory_snapshot);
}

TEST_CASE("a file is unpacked as far as is looked at") {
  const support::Folder folder;
  folder.write("snap.bin", support::gzipped(sample_file(FileKind::memory_snapshot)));
  const auto bytes = app::read_file_bytes((folder / "snap.bin").string());
  REQUIRE(bytes);
  CHECK(app::sniff_file(**bytes).kind == FileKind::memory_snapshot);
  folder.write("damaged.gz", "\x1f\x8b\x08\0\0\0\0\0\0\3no deflate"s);
  CHECK(app::sniff_file(**app::read_file_bytes((folder / "damaged.gz").string())).looks_like == "a gz that is damaged");
}
