#include "app/workspace/lab_tables.h"

#include <algorithm>

#include "app/content/load_published.h"
#include "chapters/mechanism/catalog.h"

namespace app {

const ClaimTables::Table* ClaimTables::of(std::string_view lab) {
  if (const auto known = known_.find(lab); known != known_.end()) return &known->second;
  if (asked_ == lab && job_.ended()) {
    // A job that failed leaves the claims out: they are not tried again before what labs compute has changed.
    Table& table = known_[asked_] = job_.done() ? std::move(*found_) : Table();
    job_ = {};
    asked_.clear();
    return &table;
  }
  if (asked_ != lab) {
    asked_ = lab;
    found_ = std::make_shared<Table>();
    job_ = jobs_.submit("claims", [claims = content_.claims_of(lab), to = found_](chapters::Progress& progress) {
      for (const Claim* claim : claims) {
        if (progress.cancelled) return;
        to->emplace_back(claim, check_claim(*claim));
        progress.fraction = static_cast<double>(to->size()) / static_cast<double>(claims.size());
      }
    });
  }
  return nullptr;
}

std::size_t ClaimTables::count(std::string_view lab) const {
  return static_cast<std::size_t>(
      std::count_if(content_.claims.begin(), content_.claims.end(), [&](const Claim& c) { return c.lab == lab; }));
}

void ClaimTables::forget() {
  job_.cancel();
  job_ = {};
  asked_.clear();
  known_.clear();
}

const chapters::PublishedTable* FigureTables::of(std::string_view lab) {
  if (asked_ != lab) {
    forget();
    asked_ = lab;
  }
  if (!table_ && (!job_ || job_.ended())) {
    table_ = chapters::catalog().tables->find(lab);
    if (!table_ && !job_)
      job_ = jobs_.submit("published figures",
                          [of = asked_](chapters::Progress& work) { (void)published_table(of, work); });
  }
  return table_.get();
}

std::size_t FigureTables::count(std::string_view lab) const { return chapters::catalog().published_of(lab).size(); }

void FigureTables::forget() {
  job_.cancel();
  job_ = {};
  table_.reset();
  asked_.clear();
}

}  // namespace app
