#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/content/content.h"
#include "app/workspace/jobs.h"
#include "chapters/mechanism/published_tables.h"

/// Tables of what a lab's model says of figures that people state: a job computes each once.
namespace app {

/// The claims of labs, each beside what its lab computes.
class ClaimTables {
 public:
  using Table = std::vector<std::pair<const Claim*, models::Result<CheckedClaim>>>;

  ClaimTables(const Content& content, Jobs& jobs) : content_(content), jobs_(jobs) {}
  /// Null until a job has computed the lab's claims, or when it was asked just now. Of several labs that are asked for,
  /// the last one's job goes on.
  const Table* of(std::string_view lab);
  double fraction() const { return job_.fraction(); }  ///< how far that job is, 0 to 1
  std::size_t count(std::string_view lab) const;
  /// What labs compute has changed.
  void forget();

 private:
  const Content& content_;
  Jobs& jobs_;
  std::map<std::string, Table, std::less<>> known_;
  std::string asked_;  ///< the lab that the job computes
  Job job_;
  std::shared_ptr<Table> found_;  ///< what it writes
};

/// The published measurements of labs, each beside the lab's own figure. They are worked out once for all workspaces.
class FigureTables {
 public:
  explicit FigureTables(Jobs& jobs) : jobs_(jobs) {}
  /// Null until a job has worked them out, or when it was asked just now.
  const chapters::PublishedTable* of(std::string_view lab);
  double fraction() const { return job_.fraction(); }  ///< how far that job is, 0 to 1
  std::size_t count(std::string_view lab) const;
  void forget();

 private:
  Jobs& jobs_;
  std::string asked_;
  std::shared_ptr<const chapters::PublishedTable> table_;  ///< table of the lab asked for, once it is known
  Job job_;
};

}  // namespace app
