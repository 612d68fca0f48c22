"""Draw docs/images/explain.svg from the command's real output (`make images`)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).parent
INVENTORY = HERE.parent / "examples" / "inventory"
WIDTH = 100


def main() -> None:
    """Run the command as on a terminal and save what it printed."""
    names = ["inventory.py", "inventory.py.suggestion-ada", "inventory.py.suggestion-bo"]
    environment = os.environ | {"FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    program = "import sys; from excise_server.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "explain", *names]
    done = subprocess.run(
        command, cwd=INVENTORY, env=environment, check=True, capture_output=True, text=True
    )
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(Text.from_ansi(done.stdout), end="")
    svg = console.export_svg(title=f"excise explain {' '.join(names)}")
    # No remote font: a picture must open offline.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", "monospace")
    # Not every renderer keeps white space at the ends of a text.
    svg = svg.replace("<text ", '<text xml:space="preserve" ')
    (HERE / "images" / "explain.svg").write_text(svg)


if __name__ == "__main__":
    main()
