// corpora FOLDER: feeds every fuzz target its seed corpus FOLDER/<target> without libFuzzer: each file whole, cut short
// at 16 places, and with single bytes changed (from a fixed seed, so a failure repeats). A target aborts on what it
// must not do; a target without seeds is a failure too.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "tests/fuzz/corpora.h"
#include "tests/support/base/effort.h"

namespace {

void feed(const fuzz::Target& target, const std::string& bytes) {
  // On the heap and of exactly this size, so that AddressSanitizer sees a read past the end.
  const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
  target.feed(exact.data(), exact.size());
}

/// Sixteen beginnings and 64 single bytes. Readers that compute a lab are slow: what a file may cost is limited.
void feed_variants(const fuzz::Target& target, std::string bytes, std::mt19937& random) {
  feed(target, bytes);
  if (bytes.empty()) return;
  constexpr std::uint64_t cuts = 16, all = cuts + 64;
  std::uniform_int_distribution<std::size_t> place(0, bytes.size() - 1);
  std::uniform_int_distribution<int> value(0, 255);
  std::uint64_t done = 0;
  for (const support::Budget budget{20, all, 0.3}; budget.allows(done); ++done) {
    if (done < cuts) {
      feed(target, bytes.substr(0, bytes.size() * static_cast<std::size_t>(done) / cuts));
      continue;
    }
    const std::size_t at = place(random);
    const char before = bytes[at];
    bytes[at] = static_cast<char>(value(random));
    feed(target, bytes);
    bytes[at] = before;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t passed = 0, failed = 0;
  for (const fuzz::Target& target : fuzz::targets()) {
    const std::filesystem::path folder = std::filesystem::path(argc > 1 ? argv[1] : ".") / target.name;
    std::size_t files = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      std::printf("%s\n", entry.path().c_str());
      std::fflush(stdout);  // names the file that a crash is about
      std::ifstream in(entry.path(), std::ios::binary);
      std::mt19937 random(1);
      std::ostringstream bytes;
      bytes << in.rdbuf();
      feed_variants(target, bytes.str(), random);
      ++files;
    }
    if (files == 0) std::printf("%s: no seeds\n", folder.c_str());
    ++(files > 0 ? passed : failed);
  }
  std::printf("%zu passed, %zu failed\n", passed, failed);
  return passed > 0 && failed == 0 ? 0 : 1;
}
