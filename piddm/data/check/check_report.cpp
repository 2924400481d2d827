#include "piddm/data/check/check_report.h"

#include <algorithm>
#include <cmath>

namespace piddm {

namespace {

std::string number_text(double value) { return fmt::format("{:.4g}", value); }

json to_json(const CheckResult& check) {
  json row = {{"name", check.name},
              {"value", check.value},
              {"limit", check.limit ? json(*check.limit) : json(nullptr)},
              {"pass", check.pass()},
              {"note", check.note}};
  if (const auto& c = check.constant)
    row.update({{"fitted", c->fitted}, {"standard_error", c->standard_error}, {"declared", c->declared}});
  return row;
}

json causes_json(const std::vector<Explanation>& reasons) {
  json rows = json::array();
  for (size_t i = 0; i < reasons.size(); ++i)
    for (const auto& cause : reasons[i]) {
      json row = {{"explanation", i + 1}};
      row.update(cause.to_json());
      rows.push_back(row);
    }
  return rows;
}

std::string causes_text(const std::vector<Explanation>& reasons) {
  std::string text;
  for (size_t i = 0; i < reasons.size(); ++i)
    for (size_t k = 0; k < reasons[i].size(); ++k) {
      const auto& cause = reasons[i][k];
      text += fmt::format("{:<6} {}\n", k > 0 ? "and" : i > 0 ? "or" : "cause", cause.finding());
      const bool again = k + 1 < reasons[i].size() && reasons[i][k + 1].advice == cause.advice;
      if (!again) text += fmt::format("{:<6} {}\n", "", cause.advice);
    }
  return text.empty() ? text : "\n" + text;
}

}  // namespace

bool CheckResult::pass() const { return limit ? value <= *limit : std::isfinite(value); }

bool CheckReport::pass() const {
  return std::all_of(checks.begin(), checks.end(), [](const CheckResult& check) { return check.pass(); });
}

json CheckReport::to_json() const {
  json channel_rows = json::array(), check_rows = json::array(), worst_rows = json::array();
  for (size_t c = 0; c < channels.size(); ++c) {
    const auto& s = statistics[c];
    channel_rows.push_back({{"name", channels[c]}, {"min", s.min}, {"max", s.max}, {"mean", s.mean}, {"std", s.std}});
  }
  for (const auto& check : checks) check_rows.push_back(piddm::to_json(check));
  for (const auto& w : worst)
    worst_rows.push_back({{"sample", w.sample}, {"severity", w.severity}, {"check", w.check}});
  return {{"pass", pass()},
          {"n", n},
          {"resolved", resolved},
          {"channels", channel_rows},
          {"checks", check_rows},
          {"worst", worst_rows},
          {"causes", causes_json(reasons)}};
}

std::string CheckReport::text() const {
  auto text = fmt::format("{:<10} {:>12} {:>12} {:>12} {:>12}\n", "channel", "min", "max", "mean", "std");
  for (size_t c = 0; c < channels.size(); ++c) {
    const auto& s = statistics[c];
    text += fmt::format("{:<10} {:>12} {:>12} {:>12} {:>12}\n", channels[c], number_text(s.min), number_text(s.max),
                        number_text(s.mean), number_text(s.std));
  }
  text += fmt::format("\n{:<46} {:>12} {:>12}\n", "check", "value", "limit");
  for (const auto& check : checks)
    text += fmt::format("{:<46} {:>12} {:>12}  {:<6} {}\n", check.name, number_text(check.value),
                        check.limit ? number_text(*check.limit) : "-",
                        !check.pass()  ? "FAILED"
                        : !check.limit ? "-"
                                       : "ok",
                        check.note);
  if (!worst.empty()) text += fmt::format("\n{:<10} {:>12}  {}\n", "sample", "of limit", "worst in");
  for (const auto& w : worst) text += fmt::format("{:<10} {:>12}  {}\n", w.sample, number_text(w.severity), w.check);
  text += causes_text(reasons);
  return text + fmt::format("\n{} samples, {} solved again: {}\n", n, resolved, pass() ? "ok" : "FAILED");
}

}  // namespace piddm
