#include "tests/support/lab/monkey_files.h"

#include <fstream>
#include <utility>

#include "tests/support/base/paths.h"

namespace support {
namespace {

/// 8 bytes of length, the header, 8 bytes of two tensors.
std::string small_safetensors() {
  const std::string header =
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F16","shape":[2],"data_offsets":[4,8]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  return file + header + std::string("\0\0\x80\x3f\0\x3c\0\x40", 8);
}

/// As many keys as a vocabulary has.
std::string wide_json() {
  std::string text = "{";
  for (int i = 0; i < 5000; ++i) text += (i > 0 ? ",\"" : "\"") + std::to_string(i * 7919) + "\":" + std::to_string(i);
  return text + "}";
}

}  // namespace

std::vector<std::string> make_files_to_drop(const std::filesystem::path& folder, const std::string& lab) {
  namespace fs = std::filesystem;
  fs::create_directories(folder / "a folder");
  std::vector<std::string> paths{(folder / "a folder").string(), (folder / "not there.json").string()};
  const auto add = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    paths.push_back((folder / name).string());
  };
  const auto copy = [&](const std::string& from) {
    const fs::path to = folder / fs::path(from).filename();
    fs::copy_file(data_file(from), to, fs::copy_options::overwrite_existing);
    paths.push_back(to.string());
  };
  for (const char* file : {"traces/small.json", "traces/array.json", "traces/small.sqlite", "configs/llama-3-8b.json",
                           "configs/gpt2.json", "configs/truncated.json", "configs/text_for_a_number.json"})
    copy(file);
  const std::string trace = (folder / "small.json").string();
  add("scenario.json", R"({"lab": ")" + lab + R"(", "version": 1, "inputs": {}})");
  add("of a file.json", R"({"lab": "profiling/trace-viewer", "version": 1, "inputs": {"trace": "small.json"}})");
  add("of a lost file.json",
      R"({"lab": "profiling/trace-viewer", "version": 1, "inputs": {"trace": "/nowhere/lost.json"}})");
  add("no such lab.json", R"({"lab": "no/lab", "version": 1, "inputs": {}})");
  add("out of range.json", R"({"lab": ")" + lab + R"(", "version": 1, "inputs": {"batch": 1e99, "nothing": 3}})");
  add("lesson.json", R"({"id": "mine", "title": "Mine", "steps": [{"lab": ")" + lab +
                         R"(", "title": "One", "say": "Look at {x} and $a_b$."}, {"lab": "precision/bits"}]})");
  add("measured.csv", "name,flops,bytes,time_s\nmine,1e12,1e9,0.01\n");
  add("arrivals.csv", "arrival,prompt_tokens,output_tokens\n0,100,20\n1,2000,300\n1.5,1,1\n");
  add("broken.csv", "arrival,prompt_tokens\n0,nan\n\xFF\xFE,\n");
  add("model.safetensors", small_safetensors());
  add("vocabulary.json", wide_json());
  add("empty.json", "");
  add("no_trace.sqlite", std::string("SQLite format 3\0", 16) + std::string(100, '\0'));
  add("picture.png", "\x89PNG\r\n\x1a\n" + std::string(64, '\0'));
  add("packed.json.gz", std::string("\x1f\x8b\x08\0\0\0\0\0\0\3", 10) + "no deflate");
  add("chip.json",
      R"({"id": "my_chip", "name": "My chip", "vendor": "Me", "architecture": "mine", "confidence": "medium",)"
      R"( "year_available": 2025, "peak_flops_per_s": {"bf16": 400e12, "fp8": 800e12}, "memory_bytes": 64e9,)"
      R"( "memory_bandwidth_bytes_per_s": 2e12})");
  return paths;
}

}  // namespace support
