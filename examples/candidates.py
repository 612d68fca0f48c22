"""What `excise review` says of candidates for two tasks: run by `make demo`.

Builds a repository as agents and colleagues leave it: a main branch that moved on while they worked,
and worktrees that started from it at different times. One is six commits behind, one is stacked on
a colleague's feature branch, one has landed already, one was never touched. Then runs the command.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PRICES = '''"""What an order costs."""


def subtotal(lines):
    return sum(line.price * line.count for line in lines)


def discount(order, code):
    """Return what a discount code takes off."""
    rate = RATES[code.upper()]
    return subtotal(order.lines) * rate


def shipping(order):
    """Return what sending it costs."""
    return 0 if subtotal(order.lines) > 50 else 4.90


def total(order, code=None):
    return subtotal(order.lines) - discount(order, code) + shipping(order)
'''
STOCK = '''"""What lies on the shelves."""


def reserve(item, count):
    item.reserved += count
    return item


def release(item, count):
    item.reserved -= count
    return item
'''
TESTS = "from shop.prices import total\n\n\ndef test_total(order):\n    assert total(order, 'TEN') == 94.9\n"
README = "# Shop\n\nPrices are in euro.\n"

GUARD = (
    "    rate = RATES[code.upper()]\n",
    "    if code is None:\n        return 0\n    rate = RATES[code.upper()]\n",
)
UNKNOWN = ("    rate = RATES[code.upper()]\n", '    rate = RATES.get((code or "").upper(), 0)\n')
TEST = "\n\ndef test_no_code(order):\n    assert total(order) == 104.9\n"
NOTE = "\nWithout a code nothing is taken off.\n"
SHORT = (
    "    item.reserved += count\n",
    "    if count > item.free:\n        raise OutOfStock(item)\n    item.reserved += count\n",
)
CLAMP = ("    item.reserved += count\n", "    item.reserved += min(count, item.free)\n")
WEIGHT = ("4.90", "4.90 + 0.5 * order.weight")
VOUCHER = "\n\ndef voucher(order):\n    return discount(order, order.voucher)\n"
SHIPPING = ("> 50 else", ">= 50 else")


INTRODUCTION = """\
A repository with eight worktrees, which agents and a colleague made for two tasks. The main branch
has moved on since the first of them: one is six commits behind, one has landed already."""


class Shop:
    """A repository and its worktrees in a folder; git as a user calls it, in an environment of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path, self.clock = folder, folder / "shop", 1_760_000_000
        names = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
                 for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))}  # fmt: skip
        own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        self.env = kept | names | own
        self.path.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str | Path, cwd: Path | None = None) -> None:
        date = f"{self.clock} +0000"
        env = self.env | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        subprocess.run(
            ["git", *arguments], cwd=cwd or self.path, env=env, check=True, capture_output=True
        )

    def commit(self, message: str, cwd: Path | None = None) -> None:
        self.clock += 3600
        self.git("add", "--all", cwd=cwd)
        self.git("commit", "--quiet", "--message", message, cwd=cwd)

    def worktree(self, place: str, *branch: str, start: str = "main") -> Path:
        """Add a worktree, as a tool does: on a new branch, or detached."""
        self.clock += 60
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        how = ("-b", *branch) if branch else ("--detach",)
        self.git("worktree", "add", "--quiet", *how, path, start)
        return path

    def edit(self, path: Path, file: str, *edits: tuple[str, str], more: str = "") -> None:
        target = path / file
        text = target.read_text()
        for old, new in edits:
            assert old in text, (file, old)
            text = text.replace(old, new, 1)
        target.write_text(text + more)
        os.utime(target, (self.clock, self.clock))  # long ago: nobody is still writing it


def build(folder: Path) -> Path:
    """Build the repository; return the folder of its main checkout."""
    shop = Shop(folder)
    for name, text in (("prices.py", PRICES), ("stock.py", STOCK)):
        (shop.path / "shop").mkdir(exist_ok=True)
        (shop.path / "shop" / name).write_text(text)
    (shop.path / "tests").mkdir()
    (shop.path / "tests" / "test_prices.py").write_text(TESTS)
    (shop.path / "README.md").write_text(README)
    (shop.path / ".gitignore").write_text(".claude/\n")
    shop.commit("A shop")

    # Task 1: "total() fails without a code". The first two start from an old commit ..
    stale = shop.worktree("shop/.claude/worktrees/no-code", "worktree-no-code")
    shop.edit(stale, "shop/prices.py", GUARD)
    landed = shop.worktree("shop/.claude/worktrees/free-shipping", "worktree-free-shipping")
    shop.edit(landed, "shop/prices.py", SHIPPING)
    shop.commit("Free shipping from 50 on", cwd=landed)
    for number in range(5):
        shop.edit(shop.path, "README.md", more=f"\nRelease {number + 1}.\n")
        shop.commit(f"Release {number + 1}")
    shop.git("cherry-pick", "worktree-free-shipping")
    # .. and the others from today's. Codex leaves its work uncommitted, on no branch.
    shop.edit(shop.worktree(".codex/worktrees/3fa9/shop"), "shop/prices.py", GUARD)
    mina = shop.worktree("shop-mina", "mina/no-code")
    shop.edit(mina, "shop/prices.py", UNKNOWN)
    shop.edit(mina, "tests/test_prices.py", more=TEST)
    shop.edit(mina, "README.md", more=NOTE)
    shop.commit("Total without a code", cwd=mina)
    # Stacked: it started from a colleague's feature branch, whose commit is not its own edit.
    feature = shop.worktree("shop-vouchers", "feature/vouchers")
    shop.edit(feature, "shop/prices.py", more=VOUCHER)
    shop.commit("Vouchers", cwd=feature)
    stacked = shop.worktree(".cursor/worktrees/shop/wx41", "cursor/wx41", start="feature/vouchers")
    shop.edit(stacked, "shop/prices.py", GUARD)
    shop.edit(stacked, "tests/test_prices.py", more=TEST)
    shop.commit("No code, no discount", cwd=stacked)
    shop.git("worktree", "remove", feature)

    # Task 2, started in the same minutes: "reserve() takes more than there is".
    shop.edit(shop.worktree(".codex/worktrees/81c0/shop"), "shop/stock.py", SHORT)
    shop.edit(
        shop.worktree("shop/.claude/worktrees/reserve", "worktree-reserve"), "shop/stock.py", CLAMP
    )
    shop.worktree("shop-later", "later")
    return shop.path


def main() -> int:
    """Build the repository, show it, and run the command in it."""
    if shutil.which("git") is None:
        print("demo: git is missing, so excise review is not shown", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory(prefix="excise-demo-") as folder:
        path = build(Path(folder).resolve())
        arguments = sys.argv[1:] or ["review"]
        print(f"\n{INTRODUCTION}\n\nshop$ excise {' '.join(arguments)}\n", flush=True)
        command = [
            sys.executable,
            "-c",
            "from excise_server.cli import main; raise SystemExit(main())",
        ]
        return subprocess.run([*command, *arguments], cwd=path, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
