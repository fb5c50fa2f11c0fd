#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/training/packing.h"
#include "models/training/packing_lengths.h"
#include "widgets/controls/playback.h"

/// Documents of different lengths padded, bucketed or packed into rows of one length.
namespace chapters::training::packing {

/// In the order of models::LengthSource, then a list.
enum class Lengths : std::uint8_t { wikipedia, sharegpt, arxiv, lognormal, list };

/// Defaults: 48 conversations in rows of 8,192 tokens.
struct Inputs {
  Lengths lengths = Lengths::sharegpt;
  std::int64_t documents = 48, sequence = 8192, batch = 8;
  models::PackingPolicy policy = models::PackingPolicy::best_fit;
  bool document_mask = true;
  std::string model = "llama-3-8b", list = "43, 34, 28, 25, 18, 9, 8, 8, 7";
  double median = 600, spread = 0.9;
  std::int64_t most_documents = 0, seed = 1;
  bool operator==(const Inputs&) const = default;
};

/// What one policy makes of the same documents.
struct PolicyRow {
  std::string policy;
  std::int64_t rows = 0;
  double useful_share = 0, flops = 0, speedup = 1;  ///< useful_share in percent; speedup against padding
};

struct Outputs {
  std::int64_t rows = 0, padded_rows = 0, least_rows = 0;
  double optimum_rows = std::nan("");
  double tokens = 0, computed_tokens = 0, useful_share = 0, padding_share = 0, padded_useful_share = 0;
  double linear_flops = 0, attention_flops = 0, flops = 0, padded_flops = 0, air_share = 0, padded_air_share = 0,
         speedup = 1, flops_share = 100;
  double mask_share = 0;     ///< percent of a packed row's triangle that lie inside documents
  double foreign_share = 0;  ///< percent of the pairs inside rows that cross documents
  double cut_documents = 0;  ///< documents that lie in more than one row
  double mean_length = 0;
  double lost_tokens = 0;  ///< what drawn documents hold beyond the row, to which they are cut before they are packed
  std::vector<PolicyRow> policies;  ///< in the order of models::PackingPolicy
  double corpus_rows = std::nan(""), corpus_share = std::nan(""), corpus_speedup = std::nan("");
  std::string reason;
};

struct Run {
  models::Packing packing, padded;  ///< by the chosen policy, and with a row for each document
  std::vector<std::uint32_t> lengths;
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer;
  std::string policy_name;             ///< the chosen one, for the head of its rectangle
  std::string packed_words;            ///< under that name: rows, how full they are, what is cut
  bool shows_optimum = false;          ///< whole documents would go into fewer rows, and the search knows it
  std::vector<std::string> row_words;  ///< by row: how full it is, for the hover
  std::vector<double> row_tokens;      ///< by row: of documents
  std::vector<double> row_pairs;       ///< by row: % of the pairs of its tokens that are in one document
  std::vector<std::vector<std::uint32_t>> by_row;  ///< pieces of each row, in place
  std::int64_t fullest_mixed_row = 0;              ///< the row whose mask is shown first: the one with most documents
  PublishedMarks published;
};

void describe(Fields& f, PolicyRow& r);

struct View {
  double placed = 1e9;   ///< pieces that lie in their rows
  std::int64_t row = 0;  ///< whose mask is shown, from 1; 0: the one with most documents
  widgets::Playback playback{.time_s = 1e9};
  DescribedTable<PolicyRow> policies;
};

Computed<Outputs, Run> compute(const Inputs& in);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

/// Both rectangles, padded and packed, one scale, in `size` px from the cursor; a click on a row shows its mask.
void draw_batch(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// Which positions of a row may attend to which.
void draw_mask(const Inputs& in, const Picture& picture, const View& view, ImVec2 size);
/// The row whose mask is shown, from 0.
std::size_t shown_row(const Picture& picture, const View& view);

const Choices& policy_choices();

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);

}  // namespace chapters::training::packing
