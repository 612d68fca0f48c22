"""What `make docs` adds to the pages in docs/: those at the top of the repository.

Links to other files of the repository (benchmarks, sources) become plain text, as a site has no
such page; links between pages are kept. MkDocs calls the functions by their names, and Griffe,
which reads the docstrings, the class.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
TOP = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def on_files(files: Files, config: Any) -> Files:  # noqa: ANN401 - MkDocs has no type for it
    """Add the pages of the top folder."""
    for name, page in TOP.items():
        content = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:  # noqa: ANN401
    """Point links to where the site has their pages."""
    source = page.file.src_uri
    folder = (ROOT if source in TOP.values() else ROOT / "docs" / source).parent
    if source in TOP.values():
        folder = ROOT

    def pointed(match: re.Match[str]) -> str:
        picture, text, target = match.groups()
        path, mark, anchor = target.partition("#")
        if picture or not path or "://" in path or path.startswith("mailto:"):
            return match.group()
        name = (folder / path).resolve()
        if name.is_relative_to(ROOT) and str(name.relative_to(ROOT)) in TOP:
            up = "../" * source.count("/")
            return f"[{text}]({up}{TOP[str(name.relative_to(ROOT))]}{mark}{anchor})"
        if name.is_relative_to(ROOT / "docs") and name.suffix == ".md":
            up = "../" * source.count("/")
            return f"[{text}]({up}{name.relative_to(ROOT / 'docs').as_posix()}{mark}{anchor})"
        return text if name.exists() else match.group()

    return LINK.sub(pointed, markdown)


class OwnTypes(griffe.Extension):
    """Give each of several parameters with one description its own type and default."""

    def on_function(self, *, func: griffe.Function, **_: object) -> None:
        """Correct the sections of a docstring, which Griffe gives the types of the first."""
        for section in func.docstring.parsed if func.docstring else ():
            if section.kind is griffe.DocstringSectionKind.parameters:
                for entry in section.value:
                    if entry.name in func.parameters:
                        parameter = func.parameters[entry.name]
                        entry.annotation, entry.value = parameter.annotation, parameter.default
