"""Build the source distribution, and from it alone the wheel: `make dist` runs it.

The wheel is built by pip in an environment of its own, as for anybody who installs the source
distribution: whatever that lacks is noticed here.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SDIST = "import sys; sys.path.insert(0, 'build_backend'); import backend; backend.build_sdist({!r})"


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for old in (*folder.glob("excise-*.tar.gz"), *folder.glob("excise-*.whl")):
        old.unlink()
    build = [sys.executable, "-W", "ignore", "-c", SDIST.format(str(folder))]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    (sdist,) = folder.glob("excise-*.tar.gz")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--wheel-dir", folder, sdist], check=True)
    (wheel,) = folder.glob("excise-*.whl")
    for path in (sdist, wheel):
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
