// piddm: physics-constrained generative models of PDEs, on the command line.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "cli/command.h"
#include "cli/numbers.h"
#include "piddm/core/console.h"
#include "piddm/core/error.h"
#include "piddm/core/interrupt.h"
#include "piddm/core/json_text.h"
#include "piddm/core/log.h"
#include "piddm/core/progress.h"
#include "piddm/pde/pde.h"

namespace piddm::cli {

namespace {

constexpr size_t kLongestName = 200;  // temporary files beside it have longer ones
const std::vector<std::string> kPictureFormats = {"png", "svg", "pdf"};
constexpr auto kLargestSeed = static_cast<int64_t>(kSeeds.high);

constexpr const char* kFooter =
    "A first look:   piddm demo\n"
    "Own data:       piddm data check FILE;  piddm train darcy --set data.path=FILE --out RUN;  piddm distill "
    "--teacher RUN --out STUDENT\n"
    "Exit codes:     0 ok, 2 usage, 3 bad data or file, 4 numerics, 5 resources, 130 interrupted";

constexpr const char* kNoMemory = "out of memory; try a smaller batch, grid or network";

// The innermost subcommand the user got to.
const CLI::App* chosen(const CLI::App* app) {
  for (const auto* sub : app->get_subcommands()) return chosen(sub);
  return app;
}

std::string nearest_hint(const CLI::App& app) {
  const auto* command = chosen(&app);
  const auto left = app.remaining(true);
  if (left.empty()) return "";
  std::vector<std::string> known;
  if (left.front().starts_with('-')) {
    for (const auto* option : command->get_options())
      for (const auto& name : option->get_lnames()) known.push_back("--" + name);
  } else {
    for (const auto* sub : command->get_subcommands({})) known.push_back(sub->get_name());
  }
  const auto word = left.front().substr(0, left.front().find('='));
  return unknown_name_message(word.starts_with('-') ? "option" : "command or argument", word, known);
}

int usage_failure(const CLI::App& app, const CLI::ParseError& error) {
  const auto hint = nearest_hint(app);
  const auto* command = chosen(&app);
  say(fmt::format("piddm: {}\nTry 'piddm {}--help'.\n", printable_line(hint.empty() ? error.what() : hint),
                  command == &app ? "" : command->get_name() + " "));
  return static_cast<int>(ExitCode::usage);
}

int failure(ExitCode code, const std::string& message) {
  say("piddm: " + printable_line(message) + "\n");
  return static_cast<int>(code);
}

int print_help(const std::string& text) {
  std::cout << text << std::flush;
  if (std::cout) return static_cast<int>(ExitCode::ok);
  if (interrupt_requested()) return static_cast<int>(ExitCode::interrupted);
  return failure(ExitCode::resources, "cannot write to standard output");
}

int run(Context& context) {
  try {
    set_up_logging(context.quiet);
    set_progress_mode(context.quiet ? ProgressMode::silent : ProgressMode::automatic);
    set_threads(context.threads);
    set_picture_style(context.pictures);
    context.run();
    return static_cast<int>(ExitCode::ok);
  } catch (const Error& error) {
    return failure(error.code(), error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return failure(ExitCode::resources, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const json::exception& error) {
    return failure(ExitCode::data, reason_of(error));
  } catch (const std::bad_alloc&) {
    return failure(ExitCode::resources, kNoMemory);
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    const auto says = [&](const char* word) { return message.find(word) != std::string::npos; };
    if (says("allocate") || says("out of memory") || says("enforce fail"))
      return failure(ExitCode::resources, kNoMemory);
    return failure(ExitCode::data, message.substr(0, message.find('\n')));
  } catch (const std::exception& error) {
    return failure(ExitCode::data, error.what());
  }
}

/// `file` is there and is `input`, or the model in it.
bool is_input(const std::filesystem::path& file, const std::filesystem::path& input) {
  std::error_code none;
  if (input.empty()) return false;
  for (const char* part : {"", "model.safetensors", "config.json", "model/model.safetensors", "model/config.json"})
    if (std::filesystem::equivalent(file, *part ? input / part : input, none)) return true;
  return false;
}

}  // namespace

void Context::print(const json& object, const std::string& text) const {
  // Names in files may be no UTF-8; with ASCII alone no sign reaches a terminal that it would obey.
  const auto result = json_output ? object.dump(-1, ' ', true, json::error_handler_t::replace) : printable(text);
  std::cout << result << (result.empty() || result.back() == '\n' ? "" : "\n") << std::flush;
  if (std::cout) return;
  throw_if_interrupted("writing to standard output");
  throw ResourceError("cannot write to standard output");
}

CLI::App* add_command(CLI::App& app, Context& context, const std::string& name, const std::string& description) {
  auto* command = app.add_subcommand(name, description);
  command->add_option("--seed", context.seed, "seed of every random number")
      ->check(whole_number(0, kLargestSeed))
      ->capture_default_str()
      ->group("Common");
  command->add_option("--device", context.device_name, "auto, cpu, cuda or cuda:N")
      ->capture_default_str()
      ->group("Common");
  command->add_option("--threads", context.threads, "CPU threads; 0: OMP_NUM_THREADS, else all cores")
      ->capture_default_str()
      ->group("Common");
  command->add_flag("--json", context.json_output, "print one JSON object on standard output")->group("Common");
  command->add_flag("--quiet", context.quiet, "no progress, warnings only")->group("Common");
  return command;
}

CLI::Option* add_grid_option(CLI::App& command, GridSize& grid, const std::string& description,
                             const std::string& name) {
  auto* option = command.add_option_function<std::string>(
      name, [&grid, name](const std::string& text) { grid = GridSize::from_json(text, name); }, description);
  option->check(grid_size(kSmallestGrid, kLargestGrid))->type_name("INT[xINT]");
  if (grid != GridSize(0)) option->default_str(grid.square() ? std::to_string(grid.height()) : grid.text());
  return option;
}

void add_picture_options(CLI::App& command, Context& context) {
  const TextCheck known = [](const std::string& format) -> std::string {
    const bool good = std::find(kPictureFormats.begin(), kPictureFormats.end(), format) != kPictureFormats.end();
    return good ? "" : unknown_name_message("format", format, kPictureFormats);
  };
  command
      .add_option_function<std::string>(
          "--format", [&context](const std::string& format) { context.pictures.extension = "." + format; },
          "of pictures: png, svg or pdf; default: png, of charts svg too")
      ->check(known);
  command.add_option("--dpi", context.pictures.dpi, "resolution of pictures; 192 is two pixels per unit")
      ->check(number_above(23, 1200))
      ->capture_default_str();
}

void check_picture(const Context& context, const std::string& file, const std::vector<std::string>& inputs) {
  check_output(file, {".png", ".svg", ".pdf"}, inputs);
  const auto& format = context.pictures.extension;
  require<UsageError>(format.empty() || std::filesystem::path(file).extension() == format,
                      "--format {}: the picture is called {}", format.substr(format.empty() ? 0 : 1), file);
}

void check_output(const std::string& file, const std::vector<std::string>& extensions,
                  const std::vector<std::string>& inputs) {
  const std::filesystem::path path(file);
  for (const auto& part : path)
    require<UsageError>(part.string().size() <= kLongestName, "--out {}...: a name in it has more than {} characters",
                        file.substr(0, 60), kLongestName);
  if (!extensions.empty() && std::find(extensions.begin(), extensions.end(), path.extension()) == extensions.end())
    throw UsageError("--out {}: the name must end in {}", file, fmt::join(extensions, " or "));
  for (const auto& input : inputs)
    require<UsageError>(!is_input(path, input), "--out {}: would overwrite the input {}; choose another name", file,
                        input);
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw ResourceError("--out {}: cannot make the folder: {}", file, error.message());
  if (access(folder.c_str(), W_OK) != 0) throw ResourceError("--out {}: the folder is not writable", file);
}

}  // namespace piddm::cli

int main(int argc, char** argv) {
  using namespace piddm::cli;
  piddm::open_standard_streams();
  piddm::install_interrupt_handler();
  CLI::App app(
      "Physics-constrained generative models of PDEs: generate, solve, invert and reconstruct fields in one step.",
      "piddm");
  Context context;
  app.set_version_flag("--version", "piddm " PIDDM_VERSION);
  app.require_subcommand(1);
  app.footer(kFooter);
  for (const auto add :
       {add_demo, add_doctor, add_list, add_pde, add_data, add_train, add_distill, add_generate, add_solve, add_tune,
        add_compare, add_evaluate, add_calibrate, add_plot, add_reproduce, add_bench})
    add(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print_help(app.help());
  } catch (const CLI::CallForVersion&) {
    return print_help(app.version() + "\n");
  } catch (const CLI::ParseError& error) {
    return usage_failure(app, error);
  }
  return run(context);
}
