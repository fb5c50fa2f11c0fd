#pragma once
#include <zlib.h>

#include <filesystem>
#include <string>
#include <vector>

namespace support {

/// `plain` as one member of gzip.
inline std::string gzipped(std::string plain, int level = 6) {
  z_stream z{};
  deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, plain.size()) + 32, '\0');
  z.next_in = reinterpret_cast<Bytef*>(plain.data());
  z.avail_in = static_cast<uInt>(plain.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

/// What a file of gzip holds; empty where it cannot be read.
inline std::string gunzipped_file(const std::filesystem::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file) return {};
  std::string out;
  std::vector<char> part(1 << 20);
  for (int got = 0; (got = gzread(file, part.data(), static_cast<unsigned>(part.size()))) > 0;)
    out.append(part.data(), static_cast<std::size_t>(got));
  gzclose(file);
  return out;
}

}  // namespace support
