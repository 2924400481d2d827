// piddm-hdf5: reads and writes HDF5 for piddm, locked into a jail, because damaged files crash or hang the HDF5
// library.
//
//   piddm-hdf5 version                   one line of JSON: the library's version, and whether system calls are filtered
//   piddm-hdf5 list REQUEST < FILE       what is in the file
//   piddm-hdf5 read REQUEST < FILE       one array, or a part of it
//   piddm-hdf5 write REQUEST 3<> FILE    fills the file; standard input: u64 length, that much JSON, the numbers
//
// REQUEST is a JSON object with memory_bytes, cpu_seconds, for `write` file_bytes, for `read` what commands.h says. The
// answer is one line of JSON on standard output, {"error": "..."} with exit code 1 on failure, and "resources": true
// where the file is not to blame. Not meant for people.

#include <unistd.h>

#include <string_view>

#include "piddm/data/formats/hdf5_child/commands.h"
#include "piddm/data/formats/hdf5_child/jail.h"

namespace piddm::hdf5_child {

void send(const void* data, size_t bytes) {
  const auto* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = ::write(1, next, bytes);
    if (sent <= 0) ::_exit(2);
    next += sent;
    bytes -= static_cast<size_t>(sent);
  }
}

void receive(void* data, size_t bytes) {
  auto* next = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = ::read(0, next, bytes);
    if (got <= 0) throw Failure("the data ended early");
    next += got;
    bytes -= static_cast<size_t>(got);
  }
}

void answer(const json& message) {
  auto line = message.dump(-1, ' ', true, json::error_handler_t::replace);
  if (line.size() >= kMaxAnswer) throw Failure("too many names and attributes");
  line += '\n';
  send(line.data(), line.size());
}

namespace {

void start_library() {
  check(H5open(), "HDF5 cannot start");
  check(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), "HDF5 cannot start");
  check(H5PLset_loading_state(0), "HDF5 cannot start");
}

Limits limits_of(const json& request) {
  return {request.at("memory_bytes").get<uint64_t>(), request.at("cpu_seconds").get<uint64_t>(),
          request.value("file_bytes", uint64_t{0})};
}

void version() {
  unsigned major = 0, minor = 0, release = 0;
  check(H5get_libversion(&major, &minor, &release), "no version");
  enter_jail({uint64_t{1} << 28, 2, 0}, Access::read);
  answer({{"hdf5", std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release)},
          {"filtered", filters_calls()}});
}

void read(const std::string& command, const json& request) {
  const auto image = map_standard_input();
  enter_jail(limits_of(request), Access::read);
  const auto file = open_image(image);
  if (command == "list") {
    answer(list_file(file));
  } else {
    read_array(file, request);
  }
}

void write(const json& request) {
  uint64_t bytes = 0;
  receive(&bytes, sizeof(bytes));
  if (bytes > kMaxAnswer) throw Failure("the plan is too long");
  std::string plan(bytes, '\0');
  receive(plan.data(), plan.size());
  const auto name = "/proc/self/fd/" + std::to_string(kOutputFile);
  {
    Handle file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, "cannot make the file");
    enter_jail(limits_of(request), Access::write);
    write_file(file, json::parse(plan));
    file.finish("cannot write the file");
  }
  answer({{"written", true}});
}

void run(const std::string& command, const char* text) {
  start_library();
  if (command == "version") return version();
  const auto request = json::parse(text == nullptr ? "" : text);
  if (command == "list" || command == "read") return read(command, request);
  if (command == "write") return write(request);
  throw Failure("unknown command '" + command + "'");
}

}  // namespace
}  // namespace piddm::hdf5_child

int main(int argc, char** argv) {
  using namespace piddm::hdf5_child;
  int code = 0;
  try {
    run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : nullptr);
  } catch (const std::bad_alloc&) {
    constexpr std::string_view line = "{\"error\":\"more memory needed than allowed\"}\n";  // takes none
    send(line.data(), line.size());
    code = 1;
  } catch (const ResourceFailure& failure) {
    answer({{"error", failure.what()}, {"resources", true}});
    code = 1;
  } catch (const std::exception& error) {
    answer({{"error", error.what()}});
    code = 1;
  }
  ::_exit(code);  // nothing to clean up, and HDF5's own clean-up is not to be trusted with a damaged file
}
