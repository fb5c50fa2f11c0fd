#include "app/shell/home/portal.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <memory>

namespace app {
namespace {

// libdbus is a part of every desktop and of no use without one, so it is opened when it is asked and not linked. These
// are its types and calls, which it has kept since its version 1.0.
struct DBusConnection;
struct DBusMessage;
struct DBusError {
  const char *name, *message;
  unsigned int flags;
  void* padding;
};
struct alignas(void*) DBusMessageIter {
  char room[256];  // larger than its own
};
using Bool = std::uint32_t;

struct Bus {
  DBusConnection* (*dbus_connection_open_private)(const char*, DBusError*);
  Bool (*dbus_bus_register)(DBusConnection*, DBusError*);
  const char* (*dbus_bus_get_unique_name)(DBusConnection*);
  void (*dbus_bus_add_match)(DBusConnection*, const char*, DBusError*);
  void (*dbus_connection_set_exit_on_disconnect)(DBusConnection*, Bool);
  void (*dbus_connection_close)(DBusConnection*);
  void (*dbus_connection_unref)(DBusConnection*);
  DBusMessage* (*dbus_connection_send_with_reply_and_block)(DBusConnection*, DBusMessage*, int, DBusError*);
  Bool (*dbus_connection_send)(DBusConnection*, DBusMessage*, std::uint32_t*);
  void (*dbus_connection_flush)(DBusConnection*);
  Bool (*dbus_connection_read_write)(DBusConnection*, int);
  DBusMessage* (*dbus_connection_pop_message)(DBusConnection*);
  DBusMessage* (*dbus_message_new_method_call)(const char*, const char*, const char*, const char*);
  void (*dbus_message_unref)(DBusMessage*);
  Bool (*dbus_message_is_signal)(DBusMessage*, const char*, const char*);
  const char* (*dbus_message_get_path)(DBusMessage*);
  void (*dbus_message_iter_init_append)(DBusMessage*, DBusMessageIter*);
  Bool (*dbus_message_iter_append_basic)(DBusMessageIter*, int, const void*);
  Bool (*dbus_message_iter_open_container)(DBusMessageIter*, int, const char*, DBusMessageIter*);
  Bool (*dbus_message_iter_close_container)(DBusMessageIter*, DBusMessageIter*);
  Bool (*dbus_message_iter_init)(DBusMessage*, DBusMessageIter*);
  int (*dbus_message_iter_get_arg_type)(DBusMessageIter*);
  void (*dbus_message_iter_get_basic)(DBusMessageIter*, void*);
  Bool (*dbus_message_iter_next)(DBusMessageIter*);
  void (*dbus_message_iter_recurse)(DBusMessageIter*, DBusMessageIter*);
  void (*dbus_error_init)(DBusError*);
  void (*dbus_error_free)(DBusError*);
  Bool (*dbus_threads_init_default)();
};

/// The library's calls; null where it is not installed or one of them is missing.
const Bus* load_bus() {
  static const std::unique_ptr<const Bus> bus = []() -> std::unique_ptr<const Bus> {
    void* const library = ::dlopen("libdbus-1.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) return nullptr;
    auto made = std::make_unique<Bus>();
    bool whole = true;
    const auto find = [&](auto& call, const char* name) {
      call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(::dlsym(library, name));
      whole = whole && call;
    };
#define FIND(name) find(made->name, #name)
    FIND(dbus_connection_open_private);
    FIND(dbus_bus_register);
    FIND(dbus_bus_get_unique_name);
    FIND(dbus_bus_add_match);
    FIND(dbus_connection_set_exit_on_disconnect);
    FIND(dbus_connection_close);
    FIND(dbus_connection_unref);
    FIND(dbus_connection_send_with_reply_and_block);
    FIND(dbus_connection_send);
    FIND(dbus_connection_flush);
    FIND(dbus_connection_read_write);
    FIND(dbus_connection_pop_message);
    FIND(dbus_message_new_method_call);
    FIND(dbus_message_unref);
    FIND(dbus_message_is_signal);
    FIND(dbus_message_get_path);
    FIND(dbus_message_iter_init_append);
    FIND(dbus_message_iter_append_basic);
    FIND(dbus_message_iter_open_container);
    FIND(dbus_message_iter_close_container);
    FIND(dbus_message_iter_init);
    FIND(dbus_message_iter_get_arg_type);
    FIND(dbus_message_iter_get_basic);
    FIND(dbus_message_iter_next);
    FIND(dbus_message_iter_recurse);
    FIND(dbus_error_init);
    FIND(dbus_error_free);
    FIND(dbus_threads_init_default);
#undef FIND
    if (!whole) return nullptr;
    made->dbus_threads_init_default();
    return made;
  }();
  return bus.get();
}

constexpr const char *portal = "org.freedesktop.portal.Desktop", *portal_path = "/org/freedesktop/portal/desktop";

/// Writes the arguments of a call, in the wire's types: 's' text, 'y' byte, 'u' number, 'a' array, 'r' struct, 'e'
/// entry, 'v' any.
struct Writer {
  const Bus& bus;
  DBusMessageIter at{};
  void text(const std::string& s) {
    const char* chars = s.c_str();
    bus.dbus_message_iter_append_basic(&at, 's', &chars);
  }
  void number(std::uint32_t n) { bus.dbus_message_iter_append_basic(&at, 'u', &n); }
  template <class Body>
  void inside(int type, const char* signature, const Body& body) {
    Writer sub{bus};
    bus.dbus_message_iter_open_container(&at, type, signature, &sub.at);
    body(sub);
    bus.dbus_message_iter_close_container(&at, &sub.at);
  }
  /// One entry of a dictionary from texts to anything.
  template <class Body>
  void entry(const char* key, const char* signature, const Body& body) {
    inside('e', nullptr, [&](Writer& e) {
      e.text(key);
      e.inside('v', signature, body);
    });
  }
  /// A path as the portal wants it: bytes with a zero at the end.
  void bytes(const std::string& s) {
    inside('a', "y", [&](Writer& a) {
      for (std::size_t i = 0; i <= s.size(); ++i) {
        const auto byte = static_cast<unsigned char>(s.c_str()[i]);
        bus.dbus_message_iter_append_basic(&a.at, 'y', &byte);
      }
    });
  }
};

void write_call(Writer& w, const FileAsk& ask, const std::string& token) {
  w.text("");  // no parent window
  w.text(ask.title);
  w.inside('a', "{sv}", [&](Writer& options) {
    options.entry("handle_token", "s", [&](Writer& v) { v.text(token); });
    if (!ask.folder.empty()) options.entry("current_folder", "ay", [&](Writer& v) { v.bytes(ask.folder); });
    if (ask.save && !ask.name.empty()) options.entry("current_name", "s", [&](Writer& v) { v.text(ask.name); });
    if (ask.suffixes.empty()) return;
    const auto filter = [](Writer& list, const char* name, const std::vector<std::string>& suffixes) {
      list.inside('r', nullptr, [&](Writer& one) {
        one.text(name);
        one.inside('a', "(us)", [&](Writer& patterns) {
          for (const auto& suffix : suffixes)
            patterns.inside('r', nullptr, [&](Writer& p) {
              p.number(0);  // a pattern of names
              p.text("*" + suffix);
            });
        });
      });
    };
    options.entry("filters", "a(sa(us))", [&](Writer& v) {
      v.inside('a', "(sa(us))", [&](Writer& list) {
        filter(list, "Files that labs read", ask.suffixes);
        filter(list, "Every file", {""});
      });
    });
  });
}

/// The first of "uris" in a dictionary of results; empty when there is none.
std::string first_uri(const Bus& bus, DBusMessageIter results) {
  DBusMessageIter entry;
  for (bus.dbus_message_iter_recurse(&results, &entry); bus.dbus_message_iter_get_arg_type(&entry) == 'e';
       bus.dbus_message_iter_next(&entry)) {
    DBusMessageIter pair, value, uri;
    const char* key = "";
    bus.dbus_message_iter_recurse(&entry, &pair);
    bus.dbus_message_iter_get_basic(&pair, &key);
    if (std::string_view(key) != "uris" || !bus.dbus_message_iter_next(&pair)) continue;
    bus.dbus_message_iter_recurse(&pair, &value);
    if (bus.dbus_message_iter_get_arg_type(&value) != 'a') continue;
    bus.dbus_message_iter_recurse(&value, &uri);
    if (bus.dbus_message_iter_get_arg_type(&uri) != 's') continue;
    const char* first = "";
    bus.dbus_message_iter_get_basic(&uri, &first);
    return first;
  }
  return {};
}

/// What the portal's Response says: 0 chosen, 1 cancelled, else it failed.
models::Result<std::string> read_response(const Bus& bus, DBusMessage* signal) {
  using Chosen = models::Result<std::string>;
  DBusMessageIter at;
  std::uint32_t how = 2;
  if (bus.dbus_message_iter_init(signal, &at) && bus.dbus_message_iter_get_arg_type(&at) == 'u')
    bus.dbus_message_iter_get_basic(&at, &how);
  if (how == 1) return Chosen::ok({});
  if (how != 0 || !bus.dbus_message_iter_next(&at) || bus.dbus_message_iter_get_arg_type(&at) != 'a')
    return Chosen::fail("The desktop's file chooser ended without an answer.");
  const std::string path = path_of_uri(first_uri(bus, at));
  return path.empty() ? Chosen::fail("The desktop's file chooser gave a place that is not a file of this machine.")
                      : Chosen::ok(path);
}

/// A connection of this call alone, closed at its end.
struct Connection {
  const Bus& bus;
  DBusConnection* it = nullptr;
  DBusError error{};
  Connection(const Bus& b, const std::string& address) : bus(b) {
    bus.dbus_error_init(&error);
    it = bus.dbus_connection_open_private(address.c_str(), &error);
    if (!it) return;
    bus.dbus_connection_set_exit_on_disconnect(it, 0);
    if (bus.dbus_bus_register(it, &error)) return;
    close();
  }
  ~Connection() {
    close();
    bus.dbus_error_free(&error);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  void close() {
    if (!it) return;
    bus.dbus_connection_close(it);
    bus.dbus_connection_unref(it);
    it = nullptr;
  }
};

/// The object of a request: what the portal makes of the caller's name and token.
std::string request_path(std::string caller, const std::string& token) {
  caller.erase(0, 1);
  for (char& c : caller)
    if (c == '.') c = '_';
  return std::string(portal_path) + "/request/" + caller + "/" + token;
}

}  // namespace

std::string session_bus(const Environment& environment) {
  if (const char* address = environment("DBUS_SESSION_BUS_ADDRESS"); address && *address) return address;
  const char* runtime = environment("XDG_RUNTIME_DIR");
  if (!runtime || !*runtime) return {};
  const std::string socket = std::string(runtime) + "/bus";
  struct stat is {};
  return ::stat(socket.c_str(), &is) == 0 && S_ISSOCK(is.st_mode) ? "unix:path=" + socket : "";
}

std::string path_of_uri(const std::string& uri) {
  constexpr std::string_view scheme = "file://";
  if (!uri.starts_with(scheme)) return {};
  std::string path;
  for (std::size_t i = scheme.size(); i < uri.size(); ++i) {
    const auto digit = [&](std::size_t k) {
      const char c = k < uri.size() ? uri[k] : '\0';
      return c >= '0' && c <= '9'   ? c - '0'
             : c >= 'a' && c <= 'f' ? c - 'a' + 10
             : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                    : -1;
    };
    if (uri[i] == '%' && digit(i + 1) >= 0 && digit(i + 2) >= 0) {
      path += static_cast<char>(digit(i + 1) * 16 + digit(i + 2));
      i += 2;
    } else {
      path += uri[i];
    }
  }
  return path.starts_with('/') && path.find('\0') == std::string::npos ? path : std::string();
}

std::optional<models::Result<std::string>> ask_portal(const std::string& address, const FileAsk& ask,
                                                      const std::function<bool()>& stop) {
  using Chosen = models::Result<std::string>;
  const Bus* const bus = address.empty() ? nullptr : load_bus();
  if (!bus) return {};
  Connection connection(*bus, address);
  if (!connection.it) return {};
  const std::string token = "ridgeline";
  const std::string path = request_path(bus->dbus_bus_get_unique_name(connection.it), token);
  const std::string match = "type='signal',interface='org.freedesktop.portal.Request',path='" + path + "'";
  bus->dbus_bus_add_match(connection.it, match.c_str(), &connection.error);

  DBusMessage* const call = bus->dbus_message_new_method_call(portal, portal_path, "org.freedesktop.portal.FileChooser",
                                                              ask.save ? "SaveFile" : "OpenFile");
  Writer writer{*bus};
  bus->dbus_message_iter_init_append(call, &writer.at);
  write_call(writer, ask, token);
  constexpr int patience_ms = 5000;  // for the portal to start; the person has all the time they want
  DBusMessage* const reply =
      bus->dbus_connection_send_with_reply_and_block(connection.it, call, patience_ms, &connection.error);
  bus->dbus_message_unref(call);
  if (!reply) return {};
  bus->dbus_message_unref(reply);

  constexpr int slice_ms = 50;
  while (!stop()) {
    if (!bus->dbus_connection_read_write(connection.it, slice_ms))
      return Chosen::fail("The desktop went away while its file chooser was open.");
    while (DBusMessage* const message = bus->dbus_connection_pop_message(connection.it)) {
      const char* const from = bus->dbus_message_get_path(message);
      const bool ours =
          bus->dbus_message_is_signal(message, "org.freedesktop.portal.Request", "Response") && from && path == from;
      std::optional<Chosen> chosen;
      if (ours) chosen = read_response(*bus, message);
      bus->dbus_message_unref(message);
      if (chosen) return chosen;
    }
  }
  DBusMessage* const close =
      bus->dbus_message_new_method_call(portal, path.c_str(), "org.freedesktop.portal.Request", "Close");
  bus->dbus_connection_send(connection.it, close, nullptr);
  bus->dbus_connection_flush(connection.it);
  bus->dbus_message_unref(close);
  return Chosen::ok({});
}

}  // namespace app
