"""Sources whose names clash come into different groups, all others share one (cmake/group_sources.py)."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "cmake" / "group_sources.py"


def source(body: str, include: str = "") -> str:
    head = f'#include "{include}"\n' if include else ""
    return f"{head}namespace piddm {{\n\nnamespace {{\n\n{body}\n\n}}  // namespace\n\n}}  // namespace piddm\n"


class GroupSources(unittest.TestCase):
    def groups(self, files: dict[str, str], size: int = 8) -> list[str]:
        """The group of each .cpp, in the order of `files`."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                Path(folder, name).write_text(text, encoding="utf-8")
            sources = [name for name in files if name.endswith(".cpp")]
            run = subprocess.run([sys.executable, str(SCRIPT), str(size), folder, *sources],
                                 cwd=folder, capture_output=True, text=True, check=True)
        return [line.split()[1] for line in run.stdout.splitlines()]

    def test_files_without_common_names_share_a_group(self) -> None:
        files = {"a.cpp": source("int one() { return 1; }"), "b.cpp": source("int two() { return 2; }")}
        self.assertEqual(self.groups(files), ["0", "0"])
        self.assertEqual(self.groups(files, size=1), ["0", "1"])

    def test_the_same_function_type_or_constant_sets_files_apart(self) -> None:
        for body in ("int same() { return 1; }", "struct Same {\n  int x;\n};", "constexpr int kA = 1, kSame = 2;",
                     "using Same = int;", "TEST(Suite, Same) {}"):
            self.assertEqual(self.groups({"a.cpp": source(body), "b.cpp": source(body)}), ["0", "1"], body)

    def test_a_name_that_only_the_others_headers_declare_sets_a_file_apart(self) -> None:
        header = "namespace piddm {\nint same(int x);\n}\n"
        other, own = source("int one() { return 1; }", "h.h"), source("int same(int x) { return x; }")
        self.assertEqual(self.groups({"h.h": header, "a.cpp": other, "b.cpp": own}), ["0", "1"])

    def test_repeated_using_declarations_are_harmless(self) -> None:
        body = "using testing::field;\nnamespace fs = std::filesystem;"
        self.assertEqual(self.groups({"a.cpp": source(body), "b.cpp": source(body)}), ["0", "0"])


if __name__ == "__main__":
    unittest.main()
