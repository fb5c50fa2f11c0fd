#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "app/workspace/jobs.h"
#include "chapters/mechanism/lab.h"

/// What a lab may ask of the world outside, so that its compute stays pure: it sets `work` of its View's Requests, the
/// service named by LabInfo::service works on it in a job, and what it finds arrives as rows of the lab's Inputs, in
/// tables whose Spec says Origin::measured. How the work goes is written into the same Requests.
namespace app {

/// One thing that a service has found or has to say.
struct ServiceEvent {
  enum class Kind : unsigned char { row, clear, status, say, chip } kind = Kind::row;
  std::string table;              ///< row, clear: key of the Inputs' table
  std::vector<std::string> same;  ///< row: cells by which an older row of the same thing is replaced
  std::string text;               ///< row: JSON object; status, say: a sentence; chip: JSON of a hardware file
  std::string name;               ///< chip: name of the file, without folder
};

/// Where a service puts its events, from the worker's thread. Each is shown within a frame.
class ServiceSink {
 public:
  void row(std::string table, std::string json, std::vector<std::string> same) {
    add({ServiceEvent::Kind::row, std::move(table), std::move(same), std::move(json), {}});
  }
  void clear(std::string table) { add({ServiceEvent::Kind::clear, std::move(table), {}, {}, {}}); }
  void status(std::string text) { add({ServiceEvent::Kind::status, {}, {}, std::move(text), {}}); }
  /// One sentence for the learner.
  void say(std::string sentence) { add({ServiceEvent::Kind::say, {}, {}, std::move(sentence), {}}); }
  /// A chip that was measured: kept with the learner's own, and from now on chosen anywhere a chip is.
  void chip(std::string file_name, std::string json) {
    add({ServiceEvent::Kind::chip, {}, {}, std::move(json), std::move(file_name)});
  }

  std::vector<ServiceEvent> take();

 private:
  void add(ServiceEvent event);
  std::mutex mutex_;
  std::vector<ServiceEvent> events_;
};

/// Works on a request until done or cancelled; runs on a worker thread.
using Service = std::function<void(const std::string& request, ServiceSink& sink, chapters::Progress& progress)>;

/// The services at hand, and the one request of each that is being worked on.
class Services {
 public:
  explicit Services(Jobs& jobs) : jobs_(jobs) {}
  void add(std::string name, Service service) { services_[std::move(name)] = std::move(service); }

  /// Once a frame for the open lab: takes its request and starts work. Allocates nothing while there is none.
  /// Fails when it cannot be served.
  models::Status poll(chapters::Lab& lab);
  bool running() const { return !runs_.empty(); }

  struct Arrived {
    std::string lab;  ///< id of the lab that asked
    std::vector<ServiceEvent> events;
    double fraction = 0;
    bool ended = false;
    std::string error;  ///< the work itself failed
  };
  /// What has come since the last call; ended runs are let go. Empty, without allocating, while nothing runs.
  std::vector<Arrived> arrived();

 private:
  struct Run {
    std::string lab;
    std::shared_ptr<ServiceSink> sink;
    Job job;
    bool ended = false;
  };
  Jobs& jobs_;
  std::map<std::string, Service, std::less<>> services_;
  std::vector<Run> runs_;
};

/// Puts a row into the lab's table: in place of the one with the same cells, else at the end (the oldest gives way in a
/// full table). Returns an error sentence, and then changed nothing, or "".
models::Status merge_row(const chapters::Field& table, const std::string& json, const std::vector<std::string>& same);

/// No service is running for this lab: resets running, fraction and status, and drops a request that came with a
/// scenario.
void clear_service_state(chapters::Lab& lab);

}  // namespace app
