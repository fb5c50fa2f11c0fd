#include <dlfcn.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <thread>

#include "app/shell/home/portal.h"
#include "tests/support/base/files.h"

// The chooser of the desktop's portal, against a portal of this test's own on a bus of this test's own.

extern char** environ;

namespace {

using Chosen = std::optional<models::Result<std::string>>;

/// Waits for what another process or thread does; a minute is for what never happens.
template <class Happened>
void until(const Happened& happened) {
  for (int i = 0; i < 6000 && !happened(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

/// A session bus in a folder; `address` is empty where the program is not installed.
struct PrivateBus {
  support::Folder folder;
  std::string address;
  pid_t pid = 0;
  PrivateBus() {
    const char* program = "/usr/bin/dbus-daemon";
    if (::access(program, X_OK) != 0) return;
    const std::string at = "unix:path=" + (folder / "bus").string();
    std::string words[] = {program, "--session", "--nofork", "--nopidfile", "--address=" + at};
    char* call[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data(), nullptr};
    if (::posix_spawn(&pid, program, nullptr, nullptr, call, environ) != 0) return;
    until([&] { return std::filesystem::exists(folder / "bus"); });
    address = at;
  }
  ~PrivateBus() {
    if (pid <= 0) return;
    ::kill(pid, SIGTERM);
    ::waitpid(pid, nullptr, 0);
  }
};

template <class Call>
Call* in_bus(const char* name) {
  static void* const library = ::dlopen("libdbus-1.so.3", RTLD_NOW | RTLD_LOCAL);
  return library ? reinterpret_cast<Call*>(::dlsym(library, name)) : nullptr;
}

/// A portal that answers every request alike.
class FakePortal {
 public:
  FakePortal(const std::string& address, std::uint32_t how, const char* uri) : how_(how), uri_(uri) {
    connection_ = in_bus<void*(const char*, void*)>("dbus_connection_open_private")(address.c_str(), nullptr);
    REQUIRE(connection_);
    in_bus<void(void*, std::uint32_t)>("dbus_connection_set_exit_on_disconnect")(connection_, 0);
    REQUIRE(in_bus<std::uint32_t(void*, void*)>("dbus_bus_register")(connection_, nullptr));
    in_bus<int(void*, const char*, unsigned, void*)>("dbus_bus_request_name")(
        connection_, "org.freedesktop.portal.Desktop", 0, nullptr);
    worker_ = std::thread([this] { serve(); });
  }
  ~FakePortal() {
    stop_ = true;
    worker_.join();
    in_bus<void(void*)>("dbus_connection_close")(connection_);
    in_bus<void(void*)>("dbus_connection_unref")(connection_);
  }
  std::atomic<int> opened = 0, saved = 0, closed = 0;

 private:
  struct alignas(void*) Iter {
    char room[256];
  };
  void serve() {
    while (!stop_) {
      in_bus<std::uint32_t(void*, int)>("dbus_connection_read_write")(connection_, 20);
      while (void* message = in_bus<void*(void*)>("dbus_connection_pop_message")(connection_)) {
        answer(message);
        in_bus<void(void*)>("dbus_message_unref")(message);
      }
    }
  }
  void answer(void* call) {
    const auto is_call = in_bus<std::uint32_t(void*, const char*, const char*)>("dbus_message_is_method_call");
    if (is_call(call, "org.freedesktop.portal.Request", "Close")) ++closed;
    const bool open = is_call(call, "org.freedesktop.portal.FileChooser", "OpenFile");
    const bool save = is_call(call, "org.freedesktop.portal.FileChooser", "SaveFile");
    if (!open && !save) return;
    ++(open ? opened : saved);
    std::string caller = in_bus<const char*(void*)>("dbus_message_get_sender")(call);
    caller.erase(0, 1);
    for (char& c : caller) c = c == '.' ? '_' : c;
    const std::string request = "/org/freedesktop/portal/desktop/request/" + caller + "/ridgeline";
    const char* path = request.c_str();
    const auto begin = in_bus<void(void*, Iter*)>("dbus_message_iter_init_append");
    const auto basic = in_bus<std::uint32_t(Iter*, int, const void*)>("dbus_message_iter_append_basic");
    const auto in = in_bus<std::uint32_t(Iter*, int, const char*, Iter*)>("dbus_message_iter_open_container");
    const auto out = in_bus<std::uint32_t(Iter*, Iter*)>("dbus_message_iter_close_container");
    void* reply = in_bus<void*(void*)>("dbus_message_new_method_return")(call);
    Iter at;
    begin(reply, &at);
    basic(&at, 'o', &path);
    send(reply);
    if (how_ > 2) return;  // the person has not chosen yet
    void* signal = in_bus<void*(const char*, const char*, const char*)>("dbus_message_new_signal")(
        path, "org.freedesktop.portal.Request", "Response");
    Iter results, entry, value, uris;
    begin(signal, &at);
    basic(&at, 'u', &how_);
    in(&at, 'a', "{sv}", &results);
    in(&results, 'e', nullptr, &entry);
    const char* key = "uris";
    basic(&entry, 's', &key);
    in(&entry, 'v', "as", &value);
    in(&value, 'a', "s", &uris);
    basic(&uris, 's', &uri_);
    out(&value, &uris);
    out(&entry, &value);
    out(&results, &entry);
    out(&at, &results);
    send(signal);
  }
  void send(void* message) {
    in_bus<std::uint32_t(void*, void*, std::uint32_t*)>("dbus_connection_send")(connection_, message, nullptr);
    in_bus<void(void*)>("dbus_connection_flush")(connection_);
    in_bus<void(void*)>("dbus_message_unref")(message);
  }

  void* connection_ = nullptr;
  std::uint32_t how_;
  const char* uri_;
  std::atomic<bool> stop_ = false;
  std::thread worker_;
};

const app::FileAsk open_ask{.title = "Open", .folder = "/a b", .suffixes = {".json", ".csv"}};
const app::FileAsk save_ask{.save = true, .title = "Save", .folder = "/a", .name = "x.png"};

}  // namespace

TEST_CASE("a file's address becomes its path, and no other address does") {
  CHECK(app::path_of_uri("file:///home/a%20b/%C3%BCber.json") ==
        "/home/a b/\xC3\xBC"
        "ber.json");
  CHECK(app::path_of_uri("file:///a%2") == "/a%2");
  CHECK(app::path_of_uri("file:///a%zz") == "/a%zz");
  for (const char* other : {"", "file://", "file://elsewhere/a", "https://example.org/a", "/a", "file:///a%00b"})
    CHECK(app::path_of_uri(other).empty());
}

TEST_CASE("the session bus is where the environment says, else the person's own socket, else nowhere") {
  const support::Folder folder;
  std::string address, runtime;
  const app::Environment environment = [&](const char* name) -> const char* {
    if (std::string_view(name) == "DBUS_SESSION_BUS_ADDRESS") return address.c_str();
    return std::string_view(name) == "XDG_RUNTIME_DIR" ? runtime.c_str() : nullptr;
  };
  CHECK(app::session_bus(environment).empty());
  runtime = folder.path.string();
  CHECK(app::session_bus(environment).empty());
  folder.write("bus", "a file is no socket");
  CHECK(app::session_bus(environment).empty());
  address = "unix:path=/x";
  CHECK(app::session_bus(environment) == "unix:path=/x");
}

TEST_CASE("without a bus there is no portal, and another chooser may be asked") {
  const auto never = [] { return false; };
  CHECK_FALSE(app::ask_portal("", open_ask, never));
  CHECK_FALSE(app::ask_portal("unix:path=/nowhere/bus", open_ask, never));
}

TEST_CASE("the portal is asked and says which file; cancelled, failed and stopped are told apart") {
  const PrivateBus bus;
  if (bus.address.empty() || !in_bus<void>("dbus_bus_register")) SKIP("no session bus is installed");
  const auto never = [] { return false; };
  CHECK_FALSE(app::ask_portal(bus.address, open_ask, never));  // a bus, and no portal on it
  {
    FakePortal portal(bus.address, 0, "file:///a%20b/run.json");
    const Chosen chosen = app::ask_portal(bus.address, open_ask, never);
    REQUIRE(chosen);
    CHECK(**chosen == "/a b/run.json");
    const Chosen saved = app::ask_portal(bus.address, save_ask, never);
    REQUIRE(saved);
    CHECK(**saved == "/a b/run.json");
    CHECK(portal.opened == 1);
    CHECK(portal.saved == 1);
  }
  {
    FakePortal portal(bus.address, 1, "");
    const Chosen chosen = app::ask_portal(bus.address, open_ask, never);
    REQUIRE(chosen);
    CHECK((*chosen)->empty());
  }
  {
    FakePortal portal(bus.address, 2, "");
    CHECK(app::ask_portal(bus.address, open_ask, never)->error ==
          "The desktop's file chooser ended without an answer.");
  }
  {
    FakePortal portal(bus.address, 0, "https://example.org/run.json");
    CHECK(app::ask_portal(bus.address, open_ask, never)->error ==
          "The desktop's file chooser gave a place that is not a file of this machine.");
  }
  {
    FakePortal portal(bus.address, 9, "");  // never answers
    int asked = 0;
    const Chosen chosen = app::ask_portal(bus.address, open_ask, [&] { return ++asked > 3; });
    REQUIRE(chosen);
    CHECK((*chosen)->empty());
    until([&] { return portal.closed != 0; });
    CHECK(portal.closed == 1);
  }
}
