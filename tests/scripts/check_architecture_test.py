"""Plants one violation at a time in a tiny tree and asks scripts/check-architecture to name its path and line."""
import contextlib
import importlib.machinery
import importlib.util
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check-architecture"

CLEAN = {
    "README.md": "# Tiny\n",
    "results/README.md": "# Results\n",
    "docs/README.md": "- [Data](data.md): where data come from\n- [Darcy](pde/darcy.md#law): flow\n",
    "docs/data.md": "# Data\n",
    "docs/pde/darcy.md": "# Darcy\n",
    "piddm/core/error.h": '#pragma once\n#include "piddm/cuda/built.h"\n',
    "piddm/cuda/built.h": "#pragma once\n",
    "piddm/pde/registry.cpp": '// {"comment", "is no entry"}\nconst Pdes r("PDE", {{"darcy", "flow", make<Darcy>},\n'
    '  {"navier-stokes", "stirred flow", make<NavierStokes>}});\n',
    "piddm/solve/methods/registry.cpp": 'const Cards cards = {card<A, B>("teacher", k, "itself"),\n'
    '  card<EciMethod, EciOptions>(\n      "eci", kTeacher, "hard constraints")};\n',
    "piddm/distill/registry.cpp": 'const Objectives r("objective", {{"dmd", "distribution matching", make_dmd}});\n',
    "piddm/eval/metric_registry.cpp": 'const Metrics m = {{.name = "mse", .meaning = "mean squared error"}};\n',
    "piddm/process/process.cpp": 'const Processes r("process", {{"vp", "variance preserving", make<Vp>}});\n',
}

_loader = importlib.machinery.SourceFileLoader("check_architecture", str(SCRIPT))
_spec = importlib.util.spec_from_loader("check_architecture", _loader)
checker = importlib.util.module_from_spec(_spec)
sys.modules["check_architecture"] = checker
with mock.patch.object(sys, "dont_write_bytecode", True):
    _loader.exec_module(checker)


class CheckArchitecture(unittest.TestCase):
    def check(self, planted: dict[str, str], without: tuple[str, ...] = ()) -> tuple[int, list[str]]:
        """The exit code and the lines about the clean tree with `planted` on top of it."""
        with tempfile.TemporaryDirectory() as folder:
            for path, text in {**CLEAN, **planted}.items():
                if path not in without:
                    file = Path(folder, path)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text, encoding="utf-8")
            out = io.StringIO()
            with mock.patch.object(sys, "argv", [str(SCRIPT), "--root", folder]), contextlib.redirect_stdout(out):
                code = checker.main()
        return code, out.getvalue().splitlines()

    def assert_clean(self, planted: dict[str, str]) -> None:
        code, lines = self.check(planted)
        self.assertEqual((code, lines[:-1]), (0, []))

    def assert_found(self, planted: dict[str, str], place: str, text: str, without: tuple[str, ...] = ()) -> None:
        """Exactly one violation, at `place`."""
        code, lines = self.check(planted, without)
        self.assertEqual((code, len(lines)), (1, 2), lines)
        self.assertTrue(lines[0].startswith(place + ": "), lines[0])
        self.assertIn(text, lines[0])
        self.assertIn("1 violation", lines[1])


class Links(CheckArchitecture):
    FILE = {"piddm/pde/darcy.cpp": '#include "piddm/core/error.h"\n'}

    def test_a_room_that_is_included_is_linked(self) -> None:
        built = "piddm_library(pde SOURCES\n  darcy.cpp registry.cpp"
        self.assert_clean({**self.FILE, "piddm/pde/CMakeLists.txt": built + "\n  LINK core)\n"})
        self.assert_found({**self.FILE, "piddm/pde/CMakeLists.txt": built + ")\n"},
                          "piddm/pde/CMakeLists.txt:1", "includes core but does not link it")

    def test_a_room_that_is_not_included_is_not_linked(self) -> None:
        built = "# PDEs\npiddm_library(pde SOURCES\n  darcy.cpp registry.cpp\n  LINK core numerics)\n"
        self.assert_found({**self.FILE, "piddm/pde/CMakeLists.txt": built},
                          "piddm/pde/CMakeLists.txt:2", "links numerics without including it")


class Includes(CheckArchitecture):
    def test_a_higher_room_is_refused(self) -> None:
        for room, other in [
            ("piddm/core", "piddm/files"),
            ("piddm/data", "piddm/data/formats"),
            ("piddm/solve/task", "piddm/solve"),
            ("piddm/solve", "piddm/solve/methods"),
            ("piddm/eval/poseidon", "piddm/eval"),
            ("piddm/ops/cpu", "piddm/pde"),
            ("piddm/lab", "cli"),
            ("cli", "tests"),
        ]:
            with self.subTest(room=room, other=other):
                self.assert_found({f"{room}/x.h": f'#pragma once\n#include "{other}/y.h"\n'}, f"{room}/x.h:2", other)

    def test_lower_rooms_and_sub_folders_are_allowed(self) -> None:
        self.assert_clean({"piddm/ops/cpu/x.h": '#include "piddm/ops/x.h"\n#include "piddm/core/y.h"\n'})
        self.assert_clean({"piddm/eval/x.h": '#include "piddm/eval/poseidon/x.h"\n#include <piddm/lab/none.h>\n'})
        self.assert_clean({"cli/x.cpp": '#include "benchmarks/x.h"\n', "tests/x.cpp": '#include "cli/x.h"\n'})

    def test_a_folder_without_a_room_is_refused(self) -> None:
        self.assert_found({"piddm/misc/x.h": "\n"}, "piddm/misc/x.h:1", "no room")


class Names(CheckArchitecture):
    def test_a_name_outside_its_home_is_refused(self) -> None:
        for name, literal in [
            ("darcy", "darcy"),
            ("darcy", "darcy-32"),
            ("navier-stokes", "navier-stokes"),
            ("eci", "eci"),
            ("dmd", "dmd.warm_up"),
            ("mse", "mse"),
            ("mse", "mse_u"),
            ("vp", "vp"),
        ]:
            with self.subTest(literal=literal):
                planted = {"piddm/recipe/x.cpp": f'#include "darcy.h"\n\nauto x = "{literal}";\n'}
                self.assert_found(planted, "piddm/recipe/x.cpp:3", f'"{name}" outside')

    def test_other_words_and_comments_are_no_names(self) -> None:
        literals = '"darcyite", "dmd2", "the darcy", "mse_floor", "\\"eci"'
        self.assert_clean({"cli/x.cpp": f'// "darcy"\nauto x = {{{literals}}};\n'})

    def test_homes_tables_tests_and_files_of_that_name_are_free(self) -> None:
        text = 'auto x = "darcy";\n'
        places = ["pde/x.cpp", "tables/x.cpp", "lab/x.cpp", "train/darcy.cpp", "data/formats/import_presets.cpp"]
        for path in ["tests/x.cpp", *(f"piddm/{place}" for place in places)]:
            with self.subTest(path=path):
                self.assert_clean({path: text})

    def test_a_reason_excuses_a_line(self) -> None:
        self.assert_clean({"cli/x.cpp": 'auto x = "darcy";  // name: the example of the help\n'})

    def test_a_name_that_is_a_word_counts_where_it_is_compared(self) -> None:
        self.assert_clean({"cli/x.cpp": 'auto x = kind == "teacher" ? "teacher" : "teacher/";\n'})
        self.assert_found({"cli/x.cpp": 'bool x = method ==\n "teacher";\n'}, "cli/x.cpp:2", "teacher")

    def test_a_registry_without_names_is_refused(self) -> None:
        path = "piddm/eval/metric_registry.cpp"
        self.assert_found({path: "// moved\n"}, f"{path}:1", "looked at nothing")
        self.assert_found({}, f"{path}:1", "looked at nothing", without=(path,))


class Sizes(CheckArchitecture):
    def test_forty_one_files_are_too_many(self) -> None:
        files = {f"tests/pde/x{i}.cpp": "\n" for i in range(41)}
        self.assert_found(files, "tests/pde:1", "41 source files")
        files.pop("tests/pde/x0.cpp")
        self.assert_clean({**files, "tests/pde/notes.md": "# Notes\n", "tests/pde/sub/x.cpp": "\n"})

    def test_columns_are_characters(self) -> None:
        for path in ["x.cpp", "x.cuh", "x.py", "x.ts", "x.sh", "scripts/x", "cli/CMakeLists.txt", "x.cmake", "x.md"]:
            with self.subTest(path=path):
                self.assert_found({path: "\n" + "é" * 121 + "\n"}, f"{path}:2", "121 columns")
                self.assert_clean({path: "é" * 120 + "\n"})

    def test_tables_code_and_links_of_pages_may_be_long(self) -> None:
        long = "x" * 130
        page = f"| {long} |\n````\n{long}\n```\n{long}\n````\nsee [it]({long})\nhttps://{long}\n"
        self.assert_clean({"CHANGELOG.md": page, "results/a/b/table.md": long})
        self.assert_found({"CHANGELOG.md": page + long}, "CHANGELOG.md:9", "130 columns")

    def test_pages_have_a_length(self) -> None:
        self.assert_clean({"README.md": "x\n" * 120, "results/README.md": "x\n" * 150})
        self.assert_found({"README.md": "x\n" * 121}, "README.md:121", "121 lines")
        self.assert_found({"results/README.md": "x\n" * 160}, "results/README.md:151", "160 lines")


class Functions(CheckArchitecture):
    def test_eighty_one_lines_are_too_many(self) -> None:
        head = "namespace a {\n\n// why\ntemplate <class T>\n__global__ void __launch_bounds__(64) kernel(T x) {\n"
        self.assert_clean({"piddm/cuda/x.cu": head + "  x++;\n" * 77 + "}\n}\n"})
        self.assert_found({"piddm/cuda/x.cu": head + "  x++;\n" * 78 + "}\n}\n"}, "piddm/cuda/x.cu:4", "kernel has 81")

    def test_literals_comments_and_directives_hold_no_braces(self) -> None:
        head = "#define OPEN {\nint f() {\n  auto a = R\"x(}\")x\";  // }\n  char b = '}', c = 1'000;\n"
        self.assert_found({"cli/x.cpp": head + "  ++c;\n" * 78 + "}\n"}, "cli/x.cpp:2", "f has 82")

    def test_classes_and_tables_are_no_functions(self) -> None:
        many = "  int x;\n" * 90
        self.assert_clean({"cli/x.h": f"struct X : Y<int()> {{\n{many}}};\nconst int k[] = {{\n{many}}};\n"})
        self.assert_clean({"cli/x.h": f"const Table t(a, {{\n{many}}});\nenum class E {{\n{many}}};\n"})

    def test_every_form_of_function_is_found(self) -> None:
        for code, names in [
            ("struct X { X() : a_{1}, b_(2), c_{3} { go(); } int f() const { return {}; } };", ["X", "f"]),
            ("namespace { auto f(A a = {}) -> V<int> { g([&] { h(); }); } }", ["f"]),
            ("template <class T> requires(a<T>) void T<X>::f() noexcept { if (x) { } }", ["T::f"]),
            ('extern " " int f() { } extern " " { int g() { } }', ["f", "g"]),
            ("class X { public: void f() { } private: int a = 0; ~X() { } };", ["f", "~X"]),
            ("const F f = [](int x) { return x; }; const int k{3}, a[] = {1};", ["this function"]),
            ("INSTANTIATE(A, Values(B{1, [](C& c) { c(); }, 2}));", ["this function"]),
        ]:
            with self.subTest(code=code):
                self.assertEqual([f.name for f in checker.find_functions(code)], names)

    def test_braces_that_do_not_balance_are_refused(self) -> None:
        self.assert_found({"cli/x.cpp": "#if A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\n"}, "cli/x.cpp:1", "balance")


class Docs(CheckArchitecture):
    def test_a_page_without_a_link_is_refused(self) -> None:
        self.assert_found({"docs/pde/heat.md": "# Heat\n"}, "docs/pde/heat.md:1", "not linked")

    def test_a_missing_index_is_refused(self) -> None:
        pages = ("docs/README.md", "docs/data.md", "docs/pde/darcy.md")
        self.assert_found({}, "docs/README.md:1", "missing", without=pages)

    def test_old_words_are_refused(self) -> None:
        for word in ["anew", "Dear", "dearer", "in vain", "Read it so", "thereof", "whereof"]:
            with self.subTest(word=word):
                self.assert_found({"cli/x.h": f"\n// it is {word}: two\n"}, "cli/x.h:2", word)
        self.assert_found({"configs/x.toml": "# computed anew\n"}, "configs/x.toml:1", "again")
        self.assert_clean({"docs/data.md": "dearth, vain, renewed\n"})


class Options(CheckArchitecture):
    def fields(self, line: str) -> dict[str, str]:
        return {"cli/x.h": f'struct O {{\n  void fields(V&& f) {{\n    f("a", a, "first");\n    {line}\n  }}\n}};\n'}

    def test_an_option_has_a_text(self) -> None:
        for line in [
            'f("b", b, "text, (with) \\"more\\"");',
            'f("b", b,\n      "text "\n      "goes on");',
            'f("b", b, at_least(1), "text");',
            'f("b", b.c, between(low(1), 2), "text");',
            'f("b", b, kMeaning);',
        ]:
            with self.subTest(line=line):
                self.assert_clean(self.fields(line))

    def test_an_option_without_text_is_refused(self) -> None:
        for rest in ["", ', ""', ', " "', ", at_least(1)", ', at_least(1), ""', ", between(1, 2)"]:
            line = f'f("b", b{rest});'
            with self.subTest(line=line):
                self.assert_found(self.fields(line), "cli/x.h:4", "has no text")

    def test_other_calls_of_f_are_not_looked_at(self) -> None:
        self.assert_clean({"cli/x.cpp": 'void g() { f("b", b); }\n'})


class CommandLine(CheckArchitecture):
    def test_the_clean_tree_passes(self) -> None:
        self.assert_clean({})

    def test_usage_errors_end_in_two(self) -> None:
        for arguments in [["--root", "/nowhere/at/all"], ["--fast"]]:
            ended = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True)
            self.assertEqual((ended.returncode, ended.stdout), (2, ""))


if __name__ == "__main__":
    unittest.main()
