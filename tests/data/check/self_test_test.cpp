// The test of a PDE's text, on one that holds and on ones that do not.

#include "piddm/data/check/self_test.h"

#include "piddm/core/toml_text.h"
#include "tests/testing.h"

namespace piddm {
namespace {

std::shared_ptr<const TextPde> pde_of(const std::string& equation, const std::string& axis = "\"cells\"",
                                      const std::string& walls = "boundary = { x = \"dn(u) = 0\" }") {
  const auto table = parse_toml("name = \"p\"\nequation = \"" + equation + "\"\ngrid = { x = [0, 2, 24, " + axis +
                                    "], t = [0, 1, 16] }\n" + walls +
                                    "\ninitial = \"u = u0\"\ncoefficients = { u0 = \"field: gauss(alpha=2, "
                                    "tau=3) -> 1 + 0.5*tanh(g)\", D = \"uniform(0.1, 0.2)\" }",
                                "test.toml");
  return std::dynamic_pointer_cast<const TextPde>(make_pde(options_of_text(table, "test.toml")));
}

SelfTest tested(const TextPde& pde) { return test_text_pde(pde, pde.sample_coefficients(0, 0, 2)); }

const SelfCheck& check_named(const SelfTest& test, const std::string& name) {
  for (const auto& check : test.checks)
    if (check.name == name) return check;
  throw UsageError("no check {}", name);
}

TEST(SelfTest, ATextThatHoldsPassesEveryCheck) {
  const auto test = tested(*pde_of("dt(u) = D*lap(u) + u*(1 - u)"));
  EXPECT_TRUE(test.pass()) << test.text();
  EXPECT_EQ(test.failures(), "");
  EXPECT_NEAR(check_named(test, "order of u").value, 2, 0.25);
  EXPECT_GT(test.checks.size(), 7);
  for (const auto& check : test.checks) EXPECT_TRUE(check.limit) << check.name;
  EXPECT_EQ(test.samples.sizes(), (std::vector<int64_t>{2, 3, 24, 16}));
  EXPECT_EQ(test.to_json().size(), test.checks.size());
}

TEST(SelfTest, AJumpAcrossAPeriodicAxisFails) {
  const auto test = tested(*pde_of("dt(u) = D*dx(x*u)", "\"periodic\"", ""));
  EXPECT_FALSE(test.pass());
  EXPECT_EQ(test.failures(), "order of u") << test.text();
  EXPECT_THAT(test.text(), ::testing::HasSubstr("FAILED"));
}

TEST(SelfTest, AnEquationThatIsNotSmoothHasNoLimitOnItsOrder) {
  const auto test = tested(*pde_of("dt(u) = D*lap(u) - max(u - 1, 0)"));
  EXPECT_TRUE(test.pass()) << test.text();
  const auto& order = check_named(test, "order of u");
  EXPECT_FALSE(order.limit);
  EXPECT_THAT(order.note, ::testing::HasSubstr("'max' is not smooth"));
}

TEST(SelfTest, LimitsAreOnEitherSide) {
  EXPECT_TRUE((SelfCheck{.name = "n", .value = 2, .limit = 1.75, .at_least = true}.pass()));
  EXPECT_FALSE((SelfCheck{.name = "n", .value = 1, .limit = 1.75, .at_least = true}.pass()));
  EXPECT_FALSE((SelfCheck{.name = "n", .value = std::nan(""), .limit = 1.75, .at_least = true}.pass()));
  EXPECT_FALSE((SelfCheck{.name = "n", .value = 2, .limit = 1.75}.pass()));
  EXPECT_TRUE((SelfCheck{.name = "n", .value = 2}.pass()));
}

}  // namespace
}  // namespace piddm
