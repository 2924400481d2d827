#pragma once
// A PDE of several equations and several solution channels: Darcy flow in first-order form on a rectangle,
//
//   q + a grad p = 0,   div q = 1,   p = 0 on the wall.
//
// Cells as in piddm/pde/darcy.h, h the spacing of the axis at hand. qx_i is the flux through the face between cell i
// and i+1, the last one through the wall x = L_x; qy likewise. The wall lies half a cell from a centre.
//
//   flux_x   qx_i + (a_i + a_{i+1})/2 (p_{i+1} - p_i)/h     inner faces, [B,1,H-1,W];   c = 1, reference a p_x
//   flux_y   the same along y, [B,1,H,W-1]
//   mass     (qx_i - qx_{i-1})/h + (qy_j - qy_{j-1})/h - 1,   qx_{-1} = -2 a_0 p_0/h: [B,1,H,W]
//            c = sqrt(h_x h_y), reference 1
//   boundary the pressure on the far walls, p - q h/(2a): [B,H+W]
//
// c is such that an error of q has the same size in all three. Without q these are Darcy's five-point equations, so the
// solver is that of Darcy and its data satisfy everything to round-off. Law of a: that of Darcy.

#include <array>
#include <cmath>

#include "piddm/pde/darcy.h"
#include "piddm/pde/pde_file.h"
#include "tests/testing.h"

namespace piddm::testing {

class FluxDarcy : public Pde {
 public:
  static constexpr const char* kName = "flux-darcy";

  /// `flux` and `mass` multiply the equations' c: 0 takes an equation out of every loss.
  explicit FluxDarcy(PdeOptions options, double flux = 1, double mass = 1)
      : Pde(options), darcy_(darcy_options(options)), flux_(flux), mass_(mass) {
    h_ = {length("length_x") / static_cast<double>(grid().height()),
          length("length_y") / static_cast<double>(grid().width())};
  }

  const std::vector<Channel>& channels() const override {
    static const std::vector<Channel> list = {
        {.name = "p", .zero_on = ZeroOn::wall}, {.name = "qx"}, {.name = "qy"}, darcy_.channels()[1]};
    return list;
  }
  GridAxes axes() const override { return darcy_.axes(); }
  Tensor sample_coefficients(uint64_t seed, int64_t first, int64_t count) const override {
    return darcy_.sample_coefficients(seed, first, count);
  }
  Tensor solve(const Tensor& a, const Tensor& start, SolveReport* report) const override {
    const Tensor p = darcy_.solve(a, start.defined() ? start.narrow(1, 0, 1) : start, report);
    return torch::cat({p, flux(a.to(torch::kFloat64), p, 2), flux(a.to(torch::kFloat64), p, 3)}, 1);
  }

  std::vector<Equation> equations() const override {
    return {{flux_, "flux_x"}, {flux_, "flux_y"}, {mass_ * std::sqrt(h_[0] * h_[1]), "mass"}};
  }

  Residual residual(const Tensor& x) const override {
    check_residual_input(x);
    const auto part = x.split(1, 1);
    const Tensor &p = part[0], &a = part[3];
    const Tensor mass = divergence(part[1], inflow(a, p, 2), 2) + divergence(part[2], inflow(a, p, 3), 3) - 1;
    return {.fields = {darcy_law(a, p, part[1], 2), darcy_law(a, p, part[2], 3), {mass, torch::ones_like(mass)}},
            .boundary = torch::cat({wall_pressure(a, p, part[1], 2), wall_pressure(a, p, part[2], 3)}, 1)};
  }

  /// The flux through the far walls is that of p = 0 there.
  Tensor constrain(const Tensor& x) const override {
    check_shape(x);
    const auto part = x.split(1, 1);
    const auto with_wall = [&](int64_t dim) {
      const Tensor& q = part[static_cast<size_t>(dim - 1)];
      const Tensor wall = last(part[3], dim) * last(part[0], dim) * (2 / h(dim));
      return torch::cat({q.narrow(dim, 0, q.size(dim) - 1), wall}, dim);
    };
    return torch::cat({part[0], with_wall(2), with_wall(3), part[3]}, 1);
  }

  /// Exact for a = 6 where the walls have their flux: -6 Laplace e_p = r_mass - div r_flux, e_q = r_flux - 6 grad e_p.
  Tensor precondition(const Residual& r) const override {
    const Tensor rx = torch::constant_pad_nd(r.fields[0].interior, {0, 0, 0, 1});
    const Tensor ry = torch::constant_pad_nd(r.fields[1].interior, {0, 1});
    const Tensor lost = divergence(rx, torch::zeros_like(rx.narrow(2, 0, 1)), 2) +
                        divergence(ry, torch::zeros_like(ry.narrow(3, 0, 1)), 3);
    const Tensor p = darcy_.precondition({.fields = {{r.fields[2].interior - lost}}}), a = torch::full_like(p, 6);
    return torch::cat({p, rx + flux(a, p, 2), ry + flux(a, p, 3)}, 1);
  }
  bool has_preconditioner() const override { return true; }

 private:
  static PdeOptions darcy_options(PdeOptions options) {
    options.name = "darcy";
    return options;
  }
  double h(int64_t dim) const { return h_[static_cast<size_t>(dim - 2)]; }
  static Tensor last(const Tensor& f, int64_t dim) { return f.narrow(dim, f.size(dim) - 1, 1); }

  /// a grad p at the inner faces.
  Tensor driven(const Tensor& a, const Tensor& p, int64_t dim) const {
    const int64_t n = p.size(dim) - 1;
    const Tensor between = (a.narrow(dim, 0, n) + a.narrow(dim, 1, n)) / 2;
    return between * (p.narrow(dim, 1, n) - p.narrow(dim, 0, n)) / h(dim);
  }
  Tensor flux(const Tensor& a, const Tensor& p, int64_t dim) const {
    return torch::cat({-driven(a, p, dim), last(a, dim) * last(p, dim) * (2 / h(dim))}, dim);
  }
  /// Through the wall at the lower end.
  Tensor inflow(const Tensor& a, const Tensor& p, int64_t dim) const {
    return a.narrow(dim, 0, 1) * p.narrow(dim, 0, 1) * (-2 / h(dim));
  }
  Tensor divergence(const Tensor& q, const Tensor& inflow, int64_t dim) const {
    return torch::cat({inflow, q}, dim).diff(1, dim) / h(dim);
  }
  ResidualField darcy_law(const Tensor& a, const Tensor& p, const Tensor& q, int64_t dim) const {
    const Tensor reference = driven(a, p, dim);
    return {q.narrow(dim, 0, q.size(dim) - 1) + reference, reference};
  }
  Tensor wall_pressure(const Tensor& a, const Tensor& p, const Tensor& q, int64_t dim) const {
    return (last(p, dim) - last(q, dim) * (h(dim) / 2) / last(a, dim)).flatten(1);
  }

  Darcy darcy_;
  std::array<double, 2> h_ = {};  // along x and y
  double flux_, mass_;
};

inline PdePtr flux_darcy(const GridSize& grid, double flux = 1, double mass = 1) {
  return std::make_shared<FluxDarcy>(PdeOptions{.name = FluxDarcy::kName, .grid = grid}, flux, mass);
}

/// A PDE by text of examples/pdes.
inline std::filesystem::path example_pde(const std::string& name) {
  return golden("../../examples/pdes") / (name + ".toml");
}
inline std::vector<std::string> example_pdes() {
  return {"advection-diffusion", "allen-cahn", "darcy-robin", "fisher", "gray-scott", "nonlinear-poisson", "wave"};
}

/// Names of every PDE of the library and this one, for tests of them all, and the PDE of such a name.
inline std::vector<std::string> every_pde() {
  auto names = pde_registry().names();
  names.emplace_back(FluxDarcy::kName);
  return names;
}
inline PdePtr any_pde(const std::string& name, const GridSize& grid, const json& parameters = json::object()) {
  PdeOptions options{.name = name, .grid = grid, .parameters = parameters};
  if (name == FluxDarcy::kName) return std::make_shared<FluxDarcy>(options);
  if (std::filesystem::exists(example_pde(name))) options.definition = pde_named(example_pde(name).string()).definition;
  return make_pde(options);
}

/// For what makes its PDE by name.
inline void register_flux_darcy() {
  for (const auto& name : pde_registry().names())
    if (name == FluxDarcy::kName) return;
  pde_registry().add({FluxDarcy::kName, "Darcy flow in first-order form, q + a grad p = 0, div q = 1",
                      [](const PdeOptions& options) -> PdePtr { return std::make_shared<FluxDarcy>(options); }});
}

}  // namespace piddm::testing
