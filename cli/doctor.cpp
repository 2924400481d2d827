#include <filesystem>

#include "cli/command.h"
#include "piddm/core/stopwatch.h"
#include "piddm/core/table.h"
#include "piddm/core/tensor.h"
#include "piddm/data/formats/hdf5_process.h"

namespace piddm::cli {

namespace {

double gemm_gflops(torch::Device device) {
  const int64_t n = 768;
  const auto a = torch::randn({n, n}, torch::device(device)), b = torch::randn({n, n}, torch::device(device));
  a.matmul(b).sum().item<float>();
  const Stopwatch watch;
  Tensor c;
  for (int i = 0; i < 8; ++i) c = a.matmul(b);
  c.sum().item<float>();
  return 8 * 2e-9 * static_cast<double>(n * n * n) / watch.seconds();
}

json diagnose(const Context& context) {
  json report = describe_machine();
  const auto device = context.device();
  report["device"] = device.str();
  report["sgemm_gflops"] = gemm_gflops(device);
  const auto hdf5 = hdf5_support();
  report["hdf5"] = hdf5.value("hdf5", std::string("off"));
  report["temporary_folder"] = std::filesystem::temp_directory_path().string();
  json notes = json::array();
  if (report.at("sgemm_gflops").get<double>() < 5 && device.is_cpu())
    notes.push_back("matrix products are slow: install an optimised BLAS (Debian: libopenblas-openmp-dev)");
  if (report.at("cuda_devices") == 0) notes.push_back("no CUDA device: everything runs on the CPU");
  if (hdf5.contains("error")) notes.push_back("no HDF5 and MAT v7.3 files: " + hdf5.at("error").get<std::string>());
  if (!hdf5.contains("error") && !hdf5.value("filtered", false))
    notes.push_back("HDF5 files are read without a filter of system calls: build with libseccomp");
  report["notes"] = notes;
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
