// Feeds a fuzz target its seed corpus without libFuzzer: each file whole, cut short at 16 places, and with single bytes
// changed (from a fixed seed, so a failure repeats). The target aborts on what it must not do; no seeds at all is a
// failure too.
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

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void feed(const std::string& bytes) {
  // On the heap and of exactly this size, so that AddressSanitizer sees a read past the end.
  const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

void feed_variants(std::string bytes, std::mt19937& random) {
  feed(bytes);
  for (std::size_t part = 0; part < 16; ++part) feed(bytes.substr(0, bytes.size() * part / 16));
  if (bytes.empty()) return;
  std::uniform_int_distribution<std::size_t> place(0, bytes.size() - 1);
  std::uniform_int_distribution<int> value(0, 255);
  for (int i = 0; i < 64; ++i) {
    const std::size_t at = place(random);
    const char before = bytes[at];
    bytes[at] = static_cast<char>(value(random));
    feed(bytes);
    bytes[at] = before;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t files = 0;
  std::error_code error;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i], error)) {
      std::printf("%s\n", entry.path().c_str());
      std::fflush(stdout);  // names the file that a crash is about
      std::ifstream in(entry.path(), std::ios::binary);
      std::mt19937 random(1);
      std::ostringstream bytes;
      bytes << in.rdbuf();
      feed_variants(bytes.str(), random);
      ++files;
    }
  }
  std::printf("%zu seed files\n", files);
  return files > 0 ? 0 : 1;
}
