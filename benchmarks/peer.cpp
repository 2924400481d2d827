#include "benchmarks/peer.h"

#include <sys/wait.h>

#include <cstdio>
#include <memory>

namespace piddm::bench {

namespace {

/// What a shell command prints on standard output; empty if it fails.
std::string output_of(const std::string& command) {
  const auto close = [](FILE* pipe) { pclose(pipe); };
  std::unique_ptr<FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
  if (!pipe) return "";
  std::string text;
  char buffer[4096];
  while (const size_t count = fread(buffer, 1, sizeof buffer, pipe.get())) text.append(buffer, count);
  const int status = pclose(pipe.release());
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// The first interpreter that has the module; empty if there is none.
std::string find_python(const PeerCall& call) {
  const auto candidates = call.python.empty() ? std::vector<std::string>{"python3", "/usr/bin/python3"}
                                              : std::vector<std::string>{call.python};
  for (const auto& python : candidates)
    if (!output_of(fmt::format("{} -c {} 2>/dev/null", quoted(python), quoted("import " + call.module + "; print(1)")))
             .empty())
      return python;
  return "";
}

}  // namespace

PeerAnswer call_peer(const PeerCall& call) {
  if (call.python == "none") return {"switched off with --python none"};
  const auto python = find_python(call);
  if (python.empty())
    return {fmt::format("no {} with {} here", call.python.empty() ? "python3" : call.python, call.module)};
  std::string command = call.environment + " " + quoted(python) + " " + quoted(PIDDM_PEERS "/" + call.script);
  for (const auto& argument : call.arguments) command += " " + quoted(argument);
  json result = json::parse(output_of(command + " 2>/dev/null"), nullptr, false);
  if (!result.is_object()) return {"benchmarks/peers/" + call.script + " is not there or failed"};
  return {"", result};
}

}  // namespace piddm::bench
