#pragma once
#include <cstring>
#include <string>

namespace support {

/// A safetensors file of one F32 matrix [rows, cols] whose element is row + col / 1000, and a small vector.
inline std::string weights_file(int rows, int cols) {
  const int bytes = rows * cols * 4;
  std::string header = "{\"layer.weight\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(rows) + "," +
                       std::to_string(cols) + "],\"data_offsets\":[0," + std::to_string(bytes) +
                       "]},\"layer.bias\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[" + std::to_string(bytes) +
                       "," + std::to_string(bytes + 8) + "]}}";
  while (header.size() % 8 != 0) header += ' ';
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  file += header;
  const auto add = [&](float v) {
    char four[4];
    std::memcpy(four, &v, 4);
    file.append(four, 4);
  };
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) add(static_cast<float>(r) + static_cast<float>(c) / 1000.0f);
  add(3.0f);
  add(-1.0f);
  return file;
}

}  // namespace support
