"""Draw the pictures of docs/images from the command's real output (`make images`)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
INVENTORY = EXAMPLES / "inventory"
WIDTH = 100
RUN = [sys.executable, "-c", "import sys; from excise_server.cli import main; sys.exit(main())"]


def main() -> None:
    """Draw every picture."""
    explain()
    report()


def report() -> None:
    """Photograph the report of the example queue in a real browser."""
    sys.path.insert(0, str(HERE.parent))
    from tests.browser import CHROMIUM, Browser

    if CHROMIUM is None:
        sys.exit("docs/images/report.png needs a browser: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        command = [*RUN, "cluster", "queue.mbox", "--format", "html", "-o", str(page)]
        subprocess.run(command, cwd=EXAMPLES, check=True, capture_output=True)
        with Browser(Path(folder) / "profile", width=1280, height=1400) as browser:
            browser.open(page.as_uri())
            browser.run("document.querySelectorAll('details')[0].open = true")
            (HERE / "images" / "report.png").write_bytes(browser.picture())


def explain() -> None:
    """Draw two suggestions for one file."""
    names = ["inventory.py", "inventory.py.suggestion-ada", "inventory.py.suggestion-bo"]
    terminal("explain", ["compare", "--explain", *names], INVENTORY)


def terminal(name: str, arguments: list[str], folder: Path) -> None:
    """Run a command as on a terminal of some columns and save what it printed."""
    environment = os.environ | {"FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    done = subprocess.run(
        [*RUN, *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(Text.from_ansi(done.stdout), end="")
    # The id of a picture is made of its content: every run makes the same file.
    svg = console.export_svg(title=f"excise {' '.join(arguments)}", theme=SVG_EXPORT_THEME)
    # No remote font: a picture must open offline.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", "monospace")
    # Not every renderer keeps white space at the ends of a text.
    svg = svg.replace("<text ", '<text xml:space="preserve" ')
    (HERE / "images" / f"{name}.svg").write_text(svg)


if __name__ == "__main__":
    main()
