#include <filesystem>

#include "benchmarks/timing.h"
#include "cli/command.h"
#include "piddm/core/table.h"
#include "piddm/data/formats/hdf5_process.h"

namespace piddm::cli {

namespace {

constexpr double kSlowGflops = 5;

json diagnose(const Context& context) {
  json report = describe_machine();
  const auto device = context.device();
  const double gflops = bench::quick_gemm_gflops(device);
  const auto hdf5 = hdf5_support();
  std::vector<std::string> notes;
  if (gflops < kSlowGflops && device.is_cpu())
    notes.emplace_back("matrix products are slow: install an optimised BLAS (Debian: libopenblas-openmp-dev)");
  if (report.at("cuda_devices") == 0) notes.emplace_back("no CUDA device: everything runs on the CPU");
  if (hdf5.contains("error")) notes.push_back("no HDF5 and MAT v7.3 files: " + hdf5.at("error").get<std::string>());
  if (!hdf5.contains("error") && !hdf5.value("filtered", false))
    notes.emplace_back("HDF5 files are read without a filter of system calls: build with libseccomp");
  report.update({{"device", device.str()},
                 {"sgemm_gflops", gflops},
                 {"hdf5", hdf5.value("hdf5", "off")},
                 {"temporary_folder", std::filesystem::temp_directory_path().string()},
                 {"notes", notes}});
  return report;
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  auto* command = add_command(app, context, "doctor", "Show what this machine and build offer, and what is missing");
  command->callback([&context] {
    context.run = [&context] {
      const auto report = diagnose(context);
      Table table({"what", "found"}, {Align::left, Align::left});
      for (const auto& [key, value] : report.items())
        if (key != "notes") table.add_row({key, value.is_string() ? value.get<std::string>() : value.dump()});
      std::string text = table.text();
      for (const auto& note : report.at("notes")) text += "note: " + note.get<std::string>() + "\n";
      context.print(report, text);
    };
  });
}

}  // namespace piddm::cli
