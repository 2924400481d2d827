#pragma once
// What the subcommands share. Each add_*() declares one subcommand; main runs the one that was chosen.

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

#include "piddm/core/device.h"
#include "piddm/numerics/grid_size.h"
#include "piddm/plot/picture_file.h"

namespace piddm::cli {

struct Context {
  uint64_t seed = 0;
  std::string device_name = "auto";
  int threads = 0;
  bool json_output = false;
  bool quiet = false;
  PictureStyle pictures;  ///< where the command has add_picture_options()

  std::function<void()> run;  ///< set by the chosen subcommand

  torch::Device device() const { return resolve_device(device_name); }

  /// The result: `text` for people, or with --json the object alone on standard output.
  void print(const json& object, const std::string& text) const;
};

/// A subcommand with --seed, --device, --threads, --json and --quiet.
CLI::App* add_command(CLI::App& app, Context& context, const std::string& name, const std::string& description);

/// --grid 64 or 64x32, shown with its value unless that is 0.
CLI::Option* add_grid_option(CLI::App& command, GridSize& grid, const std::string& description,
                             const std::string& name = "--grid");

/// --format and --dpi of the pictures that a command draws.
void add_picture_options(CLI::App& command, Context& context);

/// Refuses a name of a picture that cannot be written or has another format than --format says.
void check_picture(const Context& context, const std::string& file, const std::vector<std::string>& inputs);

/// Refuses an output name that cannot be written (folder missing, not writable) before hours of work, data files of
/// unknown type, and what is itself read: one of `inputs`, or the model in one that is a folder.
void check_output(const std::string& file, const std::vector<std::string>& extensions,
                  const std::vector<std::string>& inputs = {});

void add_doctor(CLI::App& app, Context& context);
void add_list(CLI::App& app, Context& context);
void add_data(CLI::App& app, Context& context);
void add_pde(CLI::App& app, Context& context);
void add_train(CLI::App& app, Context& context);
void add_distill(CLI::App& app, Context& context);
void add_generate(CLI::App& app, Context& context);
void add_solve(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_evaluate(CLI::App& app, Context& context);
void add_calibrate(CLI::App& app, Context& context);
void add_plot(CLI::App& app, Context& context);
void add_demo(CLI::App& app, Context& context);
void add_reproduce(CLI::App& app, Context& context);
void add_tune(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);

}  // namespace piddm::cli
