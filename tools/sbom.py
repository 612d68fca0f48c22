"""Write the bill of materials of a release (CycloneDX 1.5): its files, and what they need.

`python tools/sbom.py dist > excise.cdx.json`. The components are the files that are released, by
their hashes, and the packages of the lock file that the action and the extension install from.
The same files give the same bytes: there is no time and no random number in it.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
from pathlib import Path

LOCK = Path("vscode-client/requirements.txt")
PINNED = re.compile(r"^([\w.-]+)==([^\s;]+)(?:\s*;\s*(.*?))?\s*\\?$", re.MULTILINE)


def bill(files: list[Path], lock: str, version: str) -> dict[str, object]:
    """Return the document."""
    own = {"type": "application", "name": "excise", "version": version, "bom-ref": "excise"}
    needed = [
        {
            "type": "library",
            "name": name,
            "version": pinned,
            "bom-ref": f"pkg:pypi/{name}@{pinned}",
            "purl": f"pkg:pypi/{name}@{pinned}",
            **({"properties": [{"name": "marker", "value": marker}]} if marker else {}),
        }
        for name, pinned, marker in PINNED.findall(lock)
    ]
    released = [
        {
            "type": "file",
            "name": file.name,
            "bom-ref": f"file:{file.name}",
            "hashes": [{"alg": "SHA-256", "content": digest}],
        }
        for file in files
        for digest in [hashlib.sha256(file.read_bytes()).hexdigest()]
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": own},
        "components": [*released, *needed],
        "dependencies": [
            {"ref": "excise", "dependsOn": [component["bom-ref"] for component in needed]}
        ],
    }


def main() -> None:
    """Print the bill of the files in a folder."""
    files = sorted(path for path in Path(sys.argv[1]).iterdir() if path.is_file())
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    document = bill(files, LOCK.read_text(encoding="utf-8"), project["version"])
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
