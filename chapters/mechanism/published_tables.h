#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chapters/mechanism/published.h"
#include "models/base/result.h"

namespace chapters {

/// The published measurements of one lab in the order of Catalog::published_of, each beside what its model says.
struct PublishedTable {
  std::vector<std::pair<const Published*, models::Result<CheckedPublished>>> rows;
  /// The models' figures alone, for Lab::show_published; 0 where a row could not be computed.
  std::shared_ptr<const std::vector<double>> figures;
};

/// One table a lab, made once for a catalog: the panel, the drawer and `check` read the same. Any thread may ask.
class PublishedTables {
 public:
  /// Null: nobody has made it yet.
  std::shared_ptr<const PublishedTable> find(std::string_view lab) const {
    const std::lock_guard lock(mutex_);
    const auto at = made_.find(lab);
    return at == made_.end() ? nullptr : at->second;
  }
  void keep(std::string_view lab, std::shared_ptr<const PublishedTable> table) {
    const std::lock_guard lock(mutex_);
    made_.insert_or_assign(std::string(lab), std::move(table));
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const PublishedTable>, std::less<>> made_;
};

}  // namespace chapters
