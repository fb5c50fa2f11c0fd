#include "models/gpu/fragments.h"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <sstream>
#include <string>

#include "models/trace/text/bytes.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

// tests/data/fragment_tables.txt.gz: `map`, instruction, operand, 32-bit registers, times an element is held, and T
// with the elements thread by thread, value by value (row,col; of ldmatrix matrix,row,col), or S with samples
// thread,value,row,col of a large one; `composed`, name, matrices, transposed, and the row and column of the tile that
// each lane addresses. CUTLASS 7107b05 (MMA_Traits, Copy_Traits), each equal to an independent reading of the PTX ISA.

using namespace models::gpu;

namespace {

std::vector<std::string> tab_cells(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream cells(line);
  for (std::string cell; std::getline(cells, cell, '\t');) out.push_back(cell);
  return out;
}

std::vector<std::vector<std::string>> fragment_rows() {
  const auto bytes = models::trace::in_memory(support::read_text(support::data_file("fragment_tables.txt.gz")));
  models::trace::Inflater inflater(bytes);
  std::string text, part(1 << 18, '\0');
  for (std::size_t n = 0; (n = inflater.read(part.data(), part.size())) > 0;) text.append(part, 0, n);
  std::vector<std::vector<std::string>> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out.push_back(tab_cells(line));
  return out;
}

std::string element_text(const Fragment& f, const FragmentElement& e) {
  const std::string place = std::to_string(e.row) + "," + std::to_string(e.col);
  const bool of_matrices = f.map == FragmentMap::matrices || f.map == FragmentMap::matrices_transposed;
  return of_matrices ? std::to_string(e.matrix) + "," + place : place;
}

/// Threads and values whose elements are not those of the row.
int wrong_elements(const Fragment& f, const std::string& body) {
  std::istringstream words(body);
  std::string kind, word;
  words >> kind;
  int wrong = 0;
  if (kind == "T") {
    for (int thread = 0; thread < f.threads; ++thread) {
      for (int value = 0; value < f.values; ++value) {
        if (!(words >> word) || word != element_text(f, fragment_element(f, thread, value))) ++wrong;
      }
    }
    return wrong + (words >> word ? 1 : 0);
  }
  int samples = 0;
  for (; words >> word; ++samples) {
    const auto second = word.find(',', word.find(',') + 1);
    const int thread = std::stoi(word), value = std::stoi(word.substr(word.find(',') + 1));
    if (word.substr(second + 1) != element_text(f, fragment_element(f, thread, value))) ++wrong;
  }
  return samples == 96 ? wrong : -1;
}

/// Elements that are not held exactly `times` times.
int uncovered_elements(const Fragment& f, int times) {
  std::map<std::string, int> held;
  for (int thread = 0; thread < f.threads; ++thread) {
    for (int value = 0; value < f.values; ++value) ++held[element_text(f, fragment_element(f, thread, value))];
  }
  int bad = std::abs(static_cast<int>(held.size()) - f.rows * f.cols * f.matrices);
  for (const auto& [where, count] : held) bad += count != times;
  return bad;
}

/// Loads with ldmatrix from a tile of 64 columns and compares what the lanes hold with the operand.
int wrong_loads(const std::vector<std::string>& cells, const Fragment& operand, bool stored_transposed, int behind) {
  constexpr std::int64_t pitch = 64;
  std::vector<std::int64_t> addresses;
  std::istringstream words(cells[4]);
  for (std::string word; words >> word;) {
    addresses.push_back(2 * (std::stoll(word) * pitch + std::stoll(word.substr(word.find(',') + 1))));
  }
  const int matrices = std::stoi(cells[2]);
  const auto loaded = ldmatrix(addresses, matrices, cells[3] == "1");
  if (!loaded) return -1;
  int wrong = 0;
  for (int lane = 0; lane < 32; ++lane) {
    for (int value = 0; value < 2 * matrices; ++value) {
      auto want = fragment_element(operand, lane, value % operand.values);
      want.col += 8 * behind * (value / operand.values);  // a second B holds the next 8 columns
      const std::int64_t row = stored_transposed ? want.col : want.row, col = stored_transposed ? want.row : want.col;
      wrong += (*loaded)[static_cast<std::size_t>(lane * 2 * matrices + value)] != 2 * (row * pitch + col);
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE(
    "fragments: 45 maps of mma.sync, wgmma, ldmatrix and tcgen05.ld, each element exact and held as often as said") {
  int maps = 0;
  for (const auto& row : fragment_rows()) {
    if (row[0] != "map") continue;
    CAPTURE(row[1], row[2]);
    const auto* f = find_fragment(row[1], row[2]);
    REQUIRE(f);
    CHECK(f->registers() == std::stoi(row[3]));
    CHECK(wrong_elements(*f, row[5]) == 0);
    CHECK(uncovered_elements(*f, std::stoi(row[4])) == 0);
    ++maps;
  }
  CHECK(maps == 45);
}

TEST_CASE("fragments: the lanes' addresses go in, the operand of mma.sync comes out") {
  const auto* a = find_fragment("mma.sync.m16n8k16.f16/bf16", "A");
  REQUIRE(a);
  const auto* b = find_fragment("mma.sync.m16n8k16.f16/bf16", "B");
  REQUIRE(b);
  int composed = 0;
  for (const auto& row : fragment_rows()) {
    if (row[0] != "composed") continue;
    CAPTURE(row[1]);
    const bool is_b = row[1].find("B ") != std::string::npos, two = row[1].find("two B") != std::string::npos;
    const bool transposed = is_b ? row[3] == "0" : row[3] == "1";  // B is [n][k] where it loads without .trans
    CHECK(wrong_loads(row, is_b ? *b : *a, transposed, two ? 1 : 0) == 0);
    ++composed;
  }
  CHECK(composed == 4);
  // The fifth, B of [n][k] by .x2, is the first half of the two.
  std::vector<std::int64_t> rows;
  for (int lane = 0; lane < 16; ++lane) rows.push_back(128 * (lane % 8) + 16 * (lane / 8));
  const auto loaded = ldmatrix(rows, 2, false);
  REQUIRE(loaded);
  for (int lane = 0; lane < 32; ++lane) {
    for (int value = 0; value < 4; ++value) {
      const auto e = fragment_element(*b, lane, value);
      CHECK((*loaded)[static_cast<std::size_t>(4 * lane + value)] == 128 * e.col + 2 * e.row);
    }
  }
}

TEST_CASE("fragments: a load that cannot be is refused with the lane") {
  std::vector<std::int64_t> rows(8, 0);
  CHECK(ldmatrix(rows, 1, false));
  CHECK(ldmatrix(rows, 2, false).error.find("takes 16 addresses") != std::string::npos);
  CHECK(ldmatrix(rows, 3, false).error.find("1, 2 or 4") != std::string::npos);
  rows[5] = 8;
  CHECK(ldmatrix(rows, 1, false).error.find("lane 5") != std::string::npos);
}
