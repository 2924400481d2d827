// The whole pipeline on a tiny experiment: train, distil, generate, solve, evaluate, plot.

#include "piddm/data/data_file.h"
#include "piddm/data/dataset.h"
#include "tests/cli/workshop.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::Arguments;
using testing::Workshop;

class Pipeline : public ::testing::Test {
 protected:
  std::string out(const std::string& name) const { return (folder_ / name).string(); }
  json run(Arguments arguments) const {
    arguments.insert(arguments.end(), {"--json", "--quiet"});
    return testing::only_json(testing::piddm(arguments));
  }
  static double relative_residual(const Tensor& x) {
    return make_pde({"darcy", x.size(-1)})
        ->residual(x.to(torch::kFloat64))
        .fields[0]
        .interior.square()
        .mean()
        .sqrt()
        .item<double>();
  }

  const Workshop& shop_ = Workshop::get();
  testing::TempDir folder_;
};

TEST_F(Pipeline, LeavesCurvesModelsAndARecord) {
  for (const char* run_name : {"teacher", "student"})
    for (const char* file : {"config.toml", "metrics.jsonl", "curves.png", "model/config.json",
                             "model/model.safetensors", "checkpoints/latest"})
      EXPECT_TRUE(fs::exists(shop_ / run_name / file)) << run_name << "/" << file;
  EXPECT_TRUE(fs::exists(shop_ / "student/pairs/held-out-0.safetensors"));
}

TEST_F(Pipeline, GeneratesRefinesAndDecodes) {
  const auto plain = load_dataset(shop_ / "samples.npz");
  EXPECT_EQ(plain.size(), 6);
  EXPECT_TRUE(plain.description.parameters.is_object());  // so that others judge the samples by the same equation
  EXPECT_GT(relative_residual(plain.fields), 1e-3);

  const auto refined = run({"generate", shop_.at("student"), "--n", "6", "--refine", "2", "--set", "refine.step=0.01",
                            "--out", out("refined.npz")});
  EXPECT_EQ(refined.at("nfe"), 2.0);
  const auto generated = run({"generate", shop_.at("student"), "--n", "6", "--out", out("again.npz")});
  EXPECT_TRUE(torch::equal(load_dataset(out("again.npz")).fields, plain.fields));
  EXPECT_LE(refined.at("pde_error").get<double>(), generated.at("pde_error").get<double>());

  const auto decoded =
      run({"generate", shop_.at("student"), "--n", "6", "--refine", "2", "--decode", "--out", out("decoded.npz")});
  EXPECT_LE(decoded.at("rel_residual").get<double>(), 1e-8);
  const auto stored = load_dataset(out("decoded.npz")).fields;
  EXPECT_EQ(stored.scalar_type(), torch::kFloat64);
  EXPECT_LE(relative_residual(stored), 1e-8);
  EXPECT_GT(decoded.at("decode").at("moved_mean").get<double>(), 0);

  const auto cut = run({"generate", shop_.at("student"), "--n", "6", "--two-valued", "--out", out("cut.npz")});
  EXPECT_LE(cut.at("rel_residual").get<double>(), 1e-8);
  const auto a = load_dataset(out("cut.npz")).fields.select(1, 1);
  EXPECT_TRUE(((a == 3) | (a == 12)).all().item<bool>());
  EXPECT_TRUE(cut.contains("decode"));

  const auto teacher =
      run({"generate", shop_.at("teacher"), "--n", "3", "--set", "steps=4", "--out", out("teacher.safetensors")});
  EXPECT_EQ(teacher.at("nfe"), 4.0);
  EXPECT_EQ(load_dataset(out("teacher.safetensors")).size(), 3);
}

TEST_F(Pipeline, RunsAStudentOnAnotherGrid) {
  const auto report = run({"generate", shop_.at("student"), "--n", "6", "--grid", "32", "--out", out("fine.npz")});
  EXPECT_EQ(report.at("grid"), 32);
  const auto fine = load_dataset(out("fine.npz"));
  EXPECT_EQ(describe(fine).at("grid"), 32);
  EXPECT_EQ(fine.fields.size(3), 32);
  const auto coarse = load_dataset(shop_ / "samples.npz").fields.to(torch::kFloat64);
  EXPECT_LT(testing::relative_error(torch::avg_pool2d(fine.fields.to(torch::kFloat64), 2), coarse), 0.3);

  testing::succeed({"data", "make", "darcy", "--n", "6", "--grid", "32", "--out", out("true.npz")});
  const auto judged = run({"evaluate", out("fine.npz"), "--reference", out("true.npz"), "--resamples", "0"});
  const auto& row = judged.at("samples").at(out("fine.npz"));
  EXPECT_NEAR(row.at("pde_error").get<double>(), report.at("pde_error").get<double>(),
              1e-3 * report.at("pde_error").get<double>());

  const auto refused = testing::piddm({"generate", shop_.at("teacher"), "--grid", "32", "--out", out("no.npz")});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, ::testing::HasSubstr("only a student"));
}

TEST_F(Pipeline, SolvesTheThreeTasks) {
  const auto truth = load_dataset(shop_ / "other.npz").fields.narrow(0, 0, 3);
  for (const std::string task : {"forward", "inverse", "reconstruct"}) {
    const auto report = run({"solve", shop_.at("student"), "--task", task, "--observe", shop_.at("other.npz"), "--n",
                             "3", "--method", "piddm", "--out", out(task + ".npz")});
    EXPECT_EQ(report.at("n"), 3) << task;
    EXPECT_FALSE(report.contains("reason")) << task;  // the method was named
    EXPECT_EQ(report.at("nfe"), 5.0) << task;
    EXPECT_EQ(report.at("backward"), 5.0) << task;
    const auto solved = load_dataset(out(task + ".npz")).fields;
    const int64_t given = task == "forward" ? 1 : 0;
    if (task == "reconstruct") continue;
    EXPECT_LT(testing::relative_error(solved.select(1, given), truth.select(1, given)), 1e-6) << task;
    EXPECT_GT(testing::relative_error(solved.select(1, 1 - given), truth.select(1, 1 - given)), 1e-3) << task;
  }
  const auto decoded =
      run({"solve", shop_.at("student"), "--task", "forward", "--observe", shop_.at("other.npz"), "--n", "2",
           "--decode", "--soft", "--set", "task.iterations=2", "--out", out("decoded.npz")});
  EXPECT_LE(decoded.at("rel_residual").get<double>(), 1e-8);
  EXPECT_EQ(decoded.at("nfe"), 2.0);
}

TEST_F(Pipeline, TakesTheBestMethodAndSaysWhy) {
  const auto solve = [&](const Arguments& more) {
    Arguments arguments = {"solve", shop_.at("student"), "--observe", shop_.at("other.npz"), "--n", "2",
                           "--out", out("best.npz")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  const auto forward = solve({"--task", "forward"});
  EXPECT_EQ(forward.at("method"), "classical");
  EXPECT_EQ(forward.at("reason"), "every coefficient is known exactly: the PDE's solver");
  EXPECT_LT(forward.at("mse_u").get<double>(), 1e-10);
  const auto inverse = solve({"--task", "inverse"});
  EXPECT_EQ(inverse.at("method"), "direct");
  EXPECT_LT(inverse.at("mse_a").get<double>(), 1e-2);
  EXPECT_EQ(solve({"--task", "inverse", "--soft", "--set", "task.iterations=2"}).at("method"), "piddm");
  EXPECT_EQ(solve({"--task", "reconstruct", "--method", "auto"}).at("method"), "piddm");
  const auto said = testing::piddm({"solve", shop_.at("student"), "--task", "forward", "--observe",
                                    shop_.at("other.npz"), "--n", "1", "--out", out("best.npz")});
  EXPECT_THAT(said.err, ::testing::HasSubstr("method: classical: every coefficient is known exactly"));
}

TEST_F(Pipeline, DrawsAnEnsembleFromSensors) {
  testing::write_text(out("s.csv"),
                      "kind,channel,x,y,x1,y1,value,sigma\npoint,u,0.28125,0.40625,,,0.006,0.0005\n"
                      "box,u,0.5,0.5,0.8,0.9,0.005,0.0005\nflux,u,0,0,0,1,-0.03,0.01\n");
  const auto ensemble = [&](const std::string& file, Arguments more = {}) {
    Arguments arguments = {"solve",  shop_.at("student"), "--sensors", out("s.csv"), "--ensemble", "5", "--out",
                           out(file)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  const auto report = ensemble("e.npz", {"--two-valued", "--suggest", "2", "--plot", out("e.png")});
  EXPECT_EQ(report.at("task"), "inverse");
  EXPECT_EQ(report.at("n"), 1);
  EXPECT_EQ(report.at("ensemble"), 5);
  EXPECT_EQ(report.at("noisy_values"), 3);
  EXPECT_EQ(report.at("suggested").size(), 2U);
  EXPECT_LE(report.at("rel_residual").get<double>(), 1e-8);
  EXPECT_EQ(testing::read_text(out("e.png")).substr(1, 3), "PNG");
  const auto file = read_arrays(out("e.npz"));
  const auto a = file.arrays.at("a");
  EXPECT_EQ(a.size(0), 5);
  EXPECT_LT(testing::relative_error(file.arrays.at("a_mean")[0], a.mean(0)), 1e-6);
  EXPECT_LT(testing::relative_error(file.arrays.at("a_probability")[0], (a > 7.5).to(torch::kFloat64).mean(0)), 1e-6);
  EXPECT_EQ(file.description.at("sensors").size(), 3U);
  EXPECT_EQ(file.description.at("fits").size(), 1U);
  run({"plot", out("e.npz"), "--out", out("again.svg")});
  EXPECT_THAT(testing::read_text(out("again.svg")), ::testing::HasSubstr("probability of the"));

  ensemble("whole.npz");
  ensemble("parts.npz", {"--set", "batch=2"});
  EXPECT_TRUE(torch::equal(load_dataset(out("parts.npz")).fields, load_dataset(out("whole.npz")).fields));
  const auto by_noise = run({"solve", shop_.at("teacher"), "--sensors", out("s.csv"), "--ensemble", "2", "--set",
                             "steps=3", "--out", out("t.npz")});
  EXPECT_EQ(by_noise.at("method"), "diffusionpde");
}

TEST_F(Pipeline, SaysWhatItCannotSolveAndWarnsOfOddData) {
  const auto refuse = [&](Arguments arguments, const std::string& text) {
    arguments.insert(arguments.begin(), {"solve", shop_.at("student"), "--out", out("no.npz")});
    testing::expect_failure(arguments, ExitCode::usage, text);
  };
  testing::write_text(out("s.csv"), "channel,i,j,value,sigma\nu,3,4,5.0,0.001\n");
  refuse({}, "say what is known: --observe FILE or --sensors FILE");
  refuse({"--sensors", out("s.csv"), "--observe", out("s.csv")}, "say what is known");
  refuse({"--observe", shop_.at("other.npz")}, "add --task");
  refuse({"--sensors", out("s.csv"), "--plot", out("e.png")}, "add --ensemble K");
  refuse({"--sensors", out("s.csv"), "--suggest", "2"}, "add --ensemble K");
  refuse({"--sensors", out("s.csv"), "--ensemble", "1"}, "at least 2 members");
  refuse({"--sensors", out("s.csv"), "--task", "inverse", "--ensemble", "2", "--method", "direct"},
         "[direct] no ensemble of it");
  refuse({"--sensors", out("s.csv"), "--task", "inverse", "--ensemble", "2", "--method", "classical"},
         "[classical] no ensemble of it");
  const auto odd = testing::piddm({"solve", shop_.at("student"), "--sensors", out("s.csv"), "--out", out("odd.npz")});
  EXPECT_EQ(odd.code, 0);
  EXPECT_THAT(odd.err, ::testing::HasSubstr("u = 5 was observed"));
  const auto report = run({"solve", shop_.at("student"), "--sensors", out("s.csv"), "--out", out("odd.npz")});
  EXPECT_EQ(report.at("warnings").size(), 2U);
}

TEST_F(Pipeline, EvaluatesAndPlots) {
  const auto report = run({"evaluate", shop_.at("samples.npz"), shop_.at("other.npz"), "--reference",
                           shop_.at("other.npz"), "--model", shop_.at("student")});
  const auto& judged = report.at("samples");
  EXPECT_EQ(judged.at(shop_.at("other.npz")).at("mmse"), 0.0);
  EXPECT_LT(judged.at(shop_.at("other.npz")).at("rel_residual").get<double>(), 1e-4);  // float32 file
  EXPECT_GT(judged.at(shop_.at("samples.npz")).at("mmse").get<double>(), 0);
  EXPECT_TRUE(report.at("floor").contains("smse_a"));
  for (const auto& [input, png] :
       {std::pair<std::string, std::string>{"samples.npz", "samples.png"}, {"teacher", "curves.png"}}) {
    run({"plot", shop_.at(input), "--out", out(png)});
    EXPECT_EQ(testing::read_text(out(png)).substr(1, 3), "PNG") << input;
  }
  const auto drawn = run({"plot", shop_.at("samples.npz"), "--format", "svg", "--out", out("s.svg")}).at("out");
  EXPECT_THAT(testing::read_text(drawn.get<std::string>()), ::testing::HasSubstr("<svg"));
}

}  // namespace
}  // namespace piddm
