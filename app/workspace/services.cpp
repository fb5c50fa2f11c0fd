#include "app/workspace/services.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/scenario/fields_json.h"

namespace app {

using chapters::Field;
using models::Status;

void ServiceSink::add(ServiceEvent event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
}

std::vector<ServiceEvent> ServiceSink::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

Status Services::poll(chapters::Lab& lab) {
  chapters::Requests* asks = lab.info().service.empty() ? nullptr : lab.requests();
  if (!asks || asks->work.empty()) return Status::ok();
  const std::string request = std::exchange(asks->work, {});
  const auto run = std::find_if(runs_.begin(), runs_.end(), [&](const Run& r) { return r.lab == lab.info().id; });
  if (request == "stop") {
    if (run != runs_.end()) run->job.cancel();
    return Status::ok();
  }
  if (run != runs_.end()) return Status::fail("One run at a time: wait for it, or press Stop.");
  const auto service = services_.find(lab.info().service);
  if (service == services_.end()) return Status::fail("Nothing can be run here: open the lab in the window.");
  auto sink = std::make_shared<ServiceSink>();
  Job job = jobs_.submit(
      "service " + service->first,
      [work = service->second, sink, request](chapters::Progress& progress) { work(request, *sink, progress); });
  runs_.push_back({std::string(lab.info().id), std::move(sink), std::move(job), false});
  asks->running = true;
  asks->status = "starting";
  return Status::ok();
}

std::vector<Services::Arrived> Services::arrived() {
  std::vector<Arrived> out;
  for (auto& run : runs_) {
    run.ended = run.job.ended();  // before taking: what it said last comes along
    out.push_back({run.lab, run.sink->take(), run.job.fraction(), run.ended, run.job.error()});
  }
  std::erase_if(runs_, [](const Run& run) { return run.ended; });
  return out;
}

Status merge_row(const Field& table, const std::string& json, const std::vector<std::string>& same) {
  const auto parsed = parse_json(json);
  if (!parsed || !parsed->is_object()) return Status::fail("A measured row is not JSON.");
  const Json& row = *parsed;
  Json rows = field_to_json(table);
  const auto alike = [&](const Json& other) {
    return !same.empty() && std::all_of(same.begin(), same.end(), [&](const std::string& key) {
      return row.contains(key) && other.contains(key) && row[key] == other[key];
    });
  };
  const auto at = std::find_if(rows.begin(), rows.end(), alike);
  if (at != rows.end())
    *at = row;
  else {
    if (rows.size() >= table.spec.max_items) rows.erase(rows.begin());
    rows.push_back(row);
  }
  return field_from_json(table, rows);
}

void clear_service_state(chapters::Lab& lab) {
  chapters::Requests* asks = lab.info().service.empty() ? nullptr : lab.requests();
  if (!asks) return;
  asks->work.clear();
  asks->running = false;
  asks->fraction = 0;
  asks->status.clear();
}

}  // namespace app
