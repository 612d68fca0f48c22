"""A repository with eight worktrees to try the commands on, as agents and colleagues leave one.

A main branch moved on while they worked, and the worktrees started from it at different times: one
is six commits behind, one is stacked on a colleague's feature branch, one has landed already, one
was never touched. Names, times and commits are the same wherever it is built.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from excise_server.foundation.inputs import SourceError

PRICES = '''"""What an order costs."""

RATES = {"TEN": 0.1}


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
TESTS = """import unittest
from types import SimpleNamespace

from shop.prices import total


def order_of(price, count):
    return SimpleNamespace(lines=[SimpleNamespace(price=price, count=count)], weight=1)


class Prices(unittest.TestCase):
    def test_total(self):
        self.assertAlmostEqual(total(order_of(20, 2), "TEN"), 40.9)

    def test_unknown_code(self):
        self.assertRaises(KeyError, total, order_of(20, 2), "ELEVEN")
"""
STOCK_TESTS = """import unittest
from types import SimpleNamespace

from shop.stock import release, reserve


class Stock(unittest.TestCase):
    def test_reserve_and_release(self):
        item = SimpleNamespace(reserved=0, free=5)
        self.assertEqual(reserve(item, 3).reserved, 3)
        self.assertEqual(release(item, 2).reserved, 1)
"""
README = "# Shop\n\nPrices are in euro.\n"

GUARD = (
    "    rate = RATES[code.upper()]\n",
    "    if code is None:\n        return 0\n    rate = RATES[code.upper()]\n",
)
UNKNOWN = ("    rate = RATES[code.upper()]\n", '    rate = RATES.get((code or "").upper(), 0)\n')
TEST = """

class WithoutCode(unittest.TestCase):
    def test_total(self):
        self.assertAlmostEqual(total(order_of(20, 2)), 44.9)
"""
NOTE = "\nWithout a code nothing is taken off.\n"
SHORT = (
    "    item.reserved += count\n",
    "    if count > item.free:\n        raise OutOfStock(item)\n    item.reserved += count\n",
)
CLAMP = ("    item.reserved += count\n", "    item.reserved += min(count, item.free)\n")
WEIGHT = ("4.90", "4.90 + 0.5 * order.weight")
VOUCHER = "\n\ndef voucher(order):\n    return discount(order, order.voucher)\n"
SHIPPING = ("> 50 else", ">= 50 else")


class Shop:
    """A repository and its worktrees, made by git in an environment of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path, self.clock = folder, folder / "shop", 1_760_000_000
        names = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
                 for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))}  # fmt: skip
        own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        self.env = kept | names | own
        self.path.mkdir()
        self._git("init", "--quiet", "--template=", "--initial-branch=main")

    def _git(self, *arguments: str | Path, cwd: Path | None = None) -> None:
        date = f"{self.clock} +0000"
        env = self.env | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        command = ["git", *arguments]
        try:
            subprocess.run(  # noqa: S603 - our own words
                command, cwd=cwd or self.path, env=env, check=True, capture_output=True, text=True
            )
        except FileNotFoundError as error:
            raise SourceError("git is missing", hint="install git") from error
        except subprocess.CalledProcessError as error:
            raise SourceError(f"git {arguments[0]}: {error.stderr.strip()}") from error

    def _commit(self, message: str, cwd: Path | None = None) -> None:
        self.clock += 3600
        self._git("add", "--all", cwd=cwd)
        self._git("commit", "--quiet", "--message", message, cwd=cwd)

    def worktree(self, place: str, *branch: str, start: str = "main") -> Path:
        """Add a worktree, as a tool does: on a new branch, or detached."""
        self.clock += 60
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        how = ("-b", *branch) if branch else ("--detach",)
        self._git("worktree", "add", "--quiet", *how, path, start)
        return path

    def _edit(self, path: Path, file: str, *edits: tuple[str, str], more: str = "") -> None:
        target = path / file
        text = target.read_text(encoding="utf-8")
        for old, new in edits:
            text = text.replace(old, new, 1)
        target.write_text(text + more, encoding="utf-8", newline="")
        os.utime(target, (self.clock, self.clock))  # long ago: nobody is still writing it


def build(folder: Path) -> Path:
    """Build the repository in an empty folder, and return the folder of its main checkout.

    Raises SourceError if git is missing or refuses.
    """
    shop = Shop(folder)
    for name, text in (
        ("shop/prices.py", PRICES),
        ("shop/stock.py", STOCK),
        ("shop/__init__.py", ""),
        ("tests/__init__.py", ""),
        ("tests/test_prices.py", TESTS),
        ("tests/test_stock.py", STOCK_TESTS),
        ("README.md", README),
        (".gitignore", ".claude/\n__pycache__/\n"),
    ):
        path = shop.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    shop._commit("A shop")

    # Task 1: "total() fails without a code". The first two start from an old commit ..
    stale = shop.worktree("shop/.claude/worktrees/no-code", "worktree-no-code")
    shop._edit(stale, "shop/prices.py", GUARD)
    landed = shop.worktree("shop/.claude/worktrees/shipping", "worktree-shipping")
    shop._edit(landed, "shop/prices.py", SHIPPING)
    shop._commit("Free shipping from 50 on", cwd=landed)
    for number in range(5):
        shop._edit(shop.path, "README.md", more=f"\nRelease {number + 1}.\n")
        shop._commit(f"Release {number + 1}")
    shop._git("cherry-pick", "worktree-shipping")
    # .. and the others from today's. Codex leaves its work uncommitted, on no branch.
    shop._edit(shop.worktree(".codex/worktrees/3fa9/shop"), "shop/prices.py", GUARD)
    mina = shop.worktree("shop-mina", "mina/no-code")
    shop._edit(mina, "shop/prices.py", UNKNOWN)
    shop._edit(mina, "tests/test_prices.py", more=TEST)
    shop._edit(mina, "README.md", more=NOTE)
    shop._commit("Total without a code", cwd=mina)
    # Stacked: it started from a colleague's feature branch, whose commit is not its own edit.
    feature = shop.worktree("shop-vouchers", "feature/vouchers")
    shop._edit(feature, "shop/prices.py", more=VOUCHER)
    shop._commit("Vouchers", cwd=feature)
    stacked = shop.worktree(".cursor/worktrees/shop/wx41", "cursor/wx41", start="feature/vouchers")
    shop._edit(stacked, "shop/prices.py", GUARD)
    shop._edit(stacked, "tests/test_prices.py", more=TEST)
    shop._commit("No code, no discount", cwd=stacked)
    shop._git("worktree", "remove", feature)

    # Task 2, started in the same minutes: "reserve() takes more than there is".
    shop._edit(shop.worktree(".codex/worktrees/81c0/shop"), "shop/stock.py", SHORT)
    shop._edit(
        shop.worktree("shop/.claude/worktrees/reserve", "worktree-reserve"), "shop/stock.py", CLAMP
    )
    shop.worktree("shop-later", "later")
    return shop.path
