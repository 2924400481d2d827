#include "piddm/data/formats/import_presets.h"

#include <cmath>
#include <numbers>

#include "piddm/core/json_text.h"
#include "piddm/data/formats/well.h"

namespace piddm {

namespace {

constexpr double kForcingPhase = std::numbers::pi / 4;  ///< of 0.1 (sin + cos)(2 pi (x+y)), see docs/data-files.md

bool has_all(const ArraySet& arrays, std::initializer_list<const char*> names) {
  for (const auto* name : names)
    if (!arrays.has(name)) return false;
  return true;
}

[[noreturn]] void refuse(const ArraySet& arrays, const char* preset, const char* wanted) {
  throw DataError("{}: preset {} looks for {}; there are: {}", arrays.origin(), preset, wanted, arrays.listed_names());
}

size_t rank(const ArraySet& arrays, const std::string& name) { return arrays.info(name).shape.size(); }

/// The index of the frame at this time in the array `t`; `otherwise` where there is no such array.
int64_t frame_at(const ArraySet& arrays, double time, int64_t otherwise) {
  if (!arrays.has("t")) return otherwise;
  const auto t = arrays.read("t").to(torch::kFloat64).flatten();
  const auto distance = (t - time).abs();
  const auto frame = distance.argmin().item<int64_t>();
  require<DataError>(distance[frame].item<double>() < 1e-3 * std::max(1.0, std::abs(time)),
                     "{}: no frame at t = {} (times {} to {})", arrays.origin(), time, t.min().item<double>(),
                     t.max().item<double>());
  return frame;
}

ImportPlan navier_stokes(const ArraySet& arrays, int64_t frame) {
  return {.pde = "navier-stokes",
          .rules = {{.channel = "w", .key = "u", .axes = "nxyt", .picks = {{'t', frame}}},
                    {.channel = "w0", .key = "a", .axes = "nxy"},
                    {.channel = "phi", .constant = kForcingPhase}},
          .notes = {fmt::format("w is frame {} of {}", frame, arrays.info("u").shape.back())}};
}

ImportPlan pair_of(const char* pde, const char* solution, const char* coefficient) {
  return {
      .pde = pde,
      .rules = {{.channel = "u", .key = solution, .axes = "nxy"}, {.channel = "a", .key = coefficient, .axes = "nxy"}}};
}

ImportPlan fno(const ArraySet& arrays) {
  if (has_all(arrays, {"coeff", "sol"})) {
    auto plan = pair_of("darcy", "sol", "coeff");
    plan.notes = {"nodes from wall to wall; our darcy has cell centres"};
    return plan;
  }
  if (has_all(arrays, {"a", "u"}) && rank(arrays, "u") == 4) return navier_stokes(arrays, frame_at(arrays, 1, 0));
  if (has_all(arrays, {"a", "u"}) && rank(arrays, "u") == 2)
    return {.rules = {{.channel = "u", .key = "u", .axes = "nx"}, {.channel = "a", .key = "a", .axes = "nx"}},
            .notes = {"u is the state at t = 1 alone, so no PDE of ours"}};
  refuse(arrays, "fno", "coeff and sol, or a and u");
}

ImportPlan diffusionpde(const ArraySet& arrays) {
  if (has_all(arrays, {"thresh_a_data", "thresh_p_data"})) return pair_of("darcy", "thresh_p_data", "thresh_a_data");
  if (has_all(arrays, {"f_data", "phi_data"})) return pair_of("poisson", "phi_data", "f_data");
  if (has_all(arrays, {"f_data", "psi_data"})) return pair_of("helmholtz", "psi_data", "f_data");
  if (has_all(arrays, {"input", "output"}))
    return {
        .pde = "burgers",
        .rules = {{.channel = "u", .key = "output", .axes = "ntx"}, {.channel = "a", .key = "input", .axes = "nx"}}};
  if (has_all(arrays, {"a", "u"}) && rank(arrays, "u") == 4) return navier_stokes(arrays, -1);
  refuse(arrays, "diffusionpde",
         "thresh_a_data and thresh_p_data, f_data and phi_data or psi_data, input and output, or a and u");
}

/// The phase of A sin(2 pi (x+y) + phi) on a periodic grid: [N,M,H,W] to [N,M,1,1].
Tensor forcing_phase(const Tensor& f) {
  const auto line = [](int64_t size) { return torch::arange(size, torch::kFloat64) / static_cast<double>(size); };
  const auto angle = 2 * std::numbers::pi * (line(f.size(2)).unsqueeze(1) + line(f.size(3)).unsqueeze(0));
  const auto sine = (f * angle.sin()).mean({2, 3}, true), cosine = (f * angle.cos()).mean({2, 3}, true);
  return torch::atan2(cosine, sine);
}

ImportPlan eci(const ArraySet& arrays) {
  if (has_all(arrays, {"a", "f", "u"}))
    return {.pde = "navier-stokes",
            .rules = {{.channel = "w", .key = "u", .axes = "nmxyt", .picks = {{'t', frame_at(arrays, 1, 1)}}},
                      {.channel = "w0", .key = "a", .axes = "nxy"},
                      {.channel = "phi", .key = "f", .axes = "mxy", .transform = forcing_phase}}};
  if (arrays.has("sol"))
    return {.rules = {{.channel = "u", .key = "sol", .axes = "nxy"}},
            .notes = {"solutions without coefficients: no PDE of ours"}};
  refuse(arrays, "eci", "a, f and u, or sol");
}

ImportPlan pidm(const ArraySet& arrays) {
  if (!has_all(arrays, {"p_data", "K_data"})) refuse(arrays, "pidm", "p_data.csv and K_data.csv");
  return {.rules = {{.channel = "p", .key = "p_data", .axes = "nq"}, {.channel = "K", .key = "K_data", .axes = "nq"}},
          .notes = {"PIDM's own Darcy problem (sources in two corners, no flux through the walls): no PDE of ours"}};
}

json range_of(const ArraySet& arrays, const std::string& name) {
  const auto x = arrays.read(name).to(torch::kFloat64);
  return {x.min().item<double>(), x.max().item<double>()};
}

ImportPlan pdebench(const ArraySet& arrays) {
  if (!arrays.has("tensor")) refuse(arrays, "pdebench", "tensor (and nu); name other arrays with --map");
  ImportPlan plan;
  if (arrays.has("nu")) {
    plan.rules = {{.channel = "u", .key = "tensor", .axes = "n1xy"}, {.channel = "a", .key = "nu", .axes = "nxy"}};
    plan.notes = {
        "PDEBench's Darcy has other coefficients (0.1 and 1) and its own force: add --pde darcy to say it fits"};
  } else {
    plan.rules = {{.channel = "u", .key = "tensor", .axes = "ntx"},
                  {.channel = "a", .key = "tensor", .axes = "ntx", .picks = {{'t', 0}}}};
    plan.notes = {"PDEBench's time spans and constants are its own: add --pde to say one of ours fits"};
  }
  for (const auto* name : {"x-coordinate", "y-coordinate", "t-coordinate"})
    if (arrays.has(name) && !arrays.info(name).shape.empty())
      plan.description.domain[std::string(name, 1)] = range_of(arrays, name);
  return plan;
}

ImportPlan own(const ArraySet& arrays) {
  const auto root = arrays.attributes("");
  const auto text = root.find("description");
  require<DataError>(text != root.end() && text->is_string(),
                     "{}: no data set of ours; name a --preset or a --map of its arrays: {}", arrays.origin(),
                     arrays.listed_names());
  const json description = parse_json(text->get<std::string>(), arrays.origin() + ": description");
  check_description_version(description, arrays.origin());
  ImportPlan plan;
  for (const auto& name : described_channels(description, arrays.origin()))
    plan.rules.push_back({.channel = name, .key = name, .axes = "nxy"});
  plan.description = read_description(description);
  plan.pde = plan.description.pde;
  return plan;
}

}  // namespace

const Registry<ImportPlan(const ArraySet&)>& import_presets() {
  static const Registry<ImportPlan(const ArraySet&)> registry(
      "preset", {{"fno", "FNO's MAT files", fno},
                 {"diffusionpde", "DiffusionPDE's MAT files", diffusionpde},
                 {"eci", "ECI's HDF5 files", eci},
                 {"pidm", "PIDM's CSV files", pidm},
                 {"pdebench", "PDEBench's HDF5 files", pdebench},
                 {"well", "The Well's HDF5 layout", import_well},
                 {"piddm", "data sets of ours in any format", own}});
  return registry;
}

}  // namespace piddm
