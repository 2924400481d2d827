#!/usr/bin/env python3
"""Groups of sources that can be compiled as one, for UNITY_BUILD_MODE GROUP.

    group_sources.py SIZE ROOT SOURCE...

Prints one line per source, "SOURCE GROUP". Files of a group share their unnamed namespaces and see each other's
includes, so two files that define the same name there come into different groups, and so does a file whose own name is
declared in a header that only the others include. Nobody has to choose names for the sake of grouping.
"""
import re
import sys
from dataclasses import dataclass
from pathlib import Path

KEYWORDS = {"if", "for", "while", "return", "using", "template", "namespace", "static_assert", "operator"}
TESTS = re.compile(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)")
TYPE = re.compile(r"^(?:template <.*> )?(?:class|struct|enum class|enum|union) (?:\[\[\w+\]\] )?(\w+)")
ALIAS = re.compile(r"^using (\w+) =")
DEFINE = re.compile(r"^#define (\w+)")
# The last identifier before the first of ( = { ; [ on a line that begins at column 0.
DECLARED = re.compile(r"^[A-Za-z_][^(={;]*?\b(\w+)\s*(?:\[[^\]]*\]\s*)*[(={;,]")


def declared_names(line: str) -> set[str]:
    """Names that a line at column 0 declares; using-declarations and aliases of namespaces may be repeated."""
    if line.startswith("namespace ") or (line.startswith("using ") and " = " not in line):
        return set()
    if test := TESTS.match(line):
        return {f"{test[1]}_{test[2]}_Test"}
    if line.startswith(("constexpr ", "const ", "static ", "inline ")) and " = " in line:
        return set(re.findall(r"(\w+)(?:\[\w*\])? = ", line))
    for pattern in (TYPE, ALIAS, DEFINE, DECLARED):
        if found := pattern.match(line):
            return {found[1]} - KEYWORDS
    return set()


def own_names(source: Path) -> set[str]:
    """Names in the unnamed namespaces of a source, its macros and its tests."""
    names: set[str] = set()
    unnamed = False
    for line in source.read_text(encoding="utf-8").splitlines():
        if line.startswith("namespace {"):
            unnamed = True
        elif line.startswith("}  // namespace"):
            unnamed = False
        elif unnamed or line.startswith(("#define ", "static ", "TEST")):
            names |= declared_names(line)
    return names


INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


class Headers:
    """What the headers below a root declare."""

    def __init__(self, root: Path):
        self.root = root
        self.known: dict[str, set[str]] = {}

    def visible(self, source: Path) -> set[str]:
        """Names that the includes of a source declare, theirs included."""
        names: set[str] = set()
        for include in INCLUDE.findall(source.read_text(encoding="utf-8")):
            names |= self.declared(include)
        return names

    def declared(self, include: str) -> set[str]:
        if include in self.known:
            return self.known[include]
        header = self.root / include
        names = self.known[include] = set()
        if header.exists():
            for line in header.read_text(encoding="utf-8").splitlines():
                if line and line[0].isalpha():
                    names |= declared_names(line)
            names |= self.visible(header)
        return names


@dataclass
class Unit:
    """Own and visible names of a source."""

    own: set[str]
    visible: set[str]

    def clashes(self, other: "Unit") -> bool:
        return bool(self.own & other.own or self.own & (other.visible - self.visible)
                    or other.own & (self.visible - other.visible))


def main() -> None:
    size, headers, sources = int(sys.argv[1]), Headers(Path(sys.argv[2])), sys.argv[3:]
    groups: list[list[Unit]] = []
    for source in sources:
        unit = Unit(own_names(Path(source)), headers.visible(Path(source)))
        fits = (i for i, group in enumerate(groups) if len(group) < size and not any(map(unit.clashes, group)))
        place = next(fits, len(groups))
        if place == len(groups):
            groups.append([])
        groups[place].append(unit)
        print(source, place)


main()
