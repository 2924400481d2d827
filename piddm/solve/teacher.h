#pragma once
// Plain sampling of the teacher: x_{t-dt} = x_t - v(x_t, t) dt from t = 1 to 0.

#include "piddm/solve/method.h"

namespace piddm {

struct TeacherOptions {
  int64_t euler_steps = 100;
  template <class V>
  void fields(V&& f) {
    f("euler_steps", euler_steps, "Euler steps from noise to sample");
  }
};

class TeacherMethod : public Method {
 public:
  TeacherMethod(const Model& model, const TeacherOptions& options);
  std::string name() const override { return "teacher"; }
  Samples generate(int64_t first, int64_t n, uint64_t seed) override;
  Samples solve(const Observation& observation, uint64_t seed) override;

 private:
  Model model_;
  TeacherOptions options_;
};

}  // namespace piddm
