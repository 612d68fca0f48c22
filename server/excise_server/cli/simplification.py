"""``excise simplification``: what pairs of texts do, how their splits differ, and better splits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from excise_server.cli.output import write_text
from excise_server.cli.progress import progress
from excise_server.cli.streams import console, say
from excise_server.foundation.inputs import SourceError
from excise_server.records.lines import read_all

if TYPE_CHECKING:
    from excise.evaluation.simplification import Operations

__all__ = ["command"]


@dataclass(frozen=True, slots=True)
class _Pair:
    value: Mapping[str, Any]
    split: str
    operations: Operations


@click.command("simplification", short_help="Analyse pairs of texts and their splits.")
@click.argument("data", metavar="DATA.jsonl")
@click.option(
    "--drop-poor",
    metavar="PERCENT",
    type=click.FloatRange(0, 100),
    default=0.0,
    help="Leave out the pairs that change most: they are poorly aligned.",
)
@click.option(
    "--split",
    type=click.Choice(("keep", "random", "stratified")),
    default="keep",
    show_default=True,
    help="Keep the splits, or make new ones of the same sizes.",
)
@click.option("--attempts", type=click.IntRange(1), default=10_000, show_default=True)
@click.option("--seed", type=click.IntRange(0, 2**63), default=0, show_default=True)
@click.option("--bins", type=click.IntRange(2, 10_000), default=20, show_default=True)
@click.option("--out", metavar="FILE", help="Write the pairs, with their new splits, there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/evaluation.md).")
def command(
    *,
    data: str,
    drop_poor: float,
    split: str,
    attempts: int,
    seed: int,
    bins: int,
    out: str | None,
    as_json: bool,
) -> int:
    """Count what pairs of texts do, word by word, and compare their splits.

    DATA.jsonl holds a pair a line: {"before", "after", "split" (train, test, ...; optional)}.
    stratified tries many random splits and keeps the one whose operations are spread most evenly.
    """
    from excise.evaluation.simplification import without_poor

    with progress("Comparing") as advance:
        pairs, bad = read_all(data, _pair, "no pair to analyse", advance)
    indices = without_poor([pair.operations.change for pair in pairs], drop_poor)
    dropped = len(pairs) - len(indices)
    pairs = [pairs[index] for index in indices]
    if not pairs:
        raise SourceError("no pair is left", name=data, hint="drop fewer")
    pairs, spread = _split(pairs, split, seed, attempts)
    if out is not None:
        lines = (json.dumps({**pair.value, "split": pair.split}) for pair in pairs)
        write_text(out, "".join(f"{line}\n" for line in lines))
    document = _document(pairs, bins) | {"dropped": dropped, "spread": spread}
    _show(
        document | {"rejected": [{"line": line.number, "reason": line.reason} for line in bad]},
        as_json,
    )
    for line in bad[:5]:
        say(f"left out: line {line.number}: {line.reason}")
    return 1 if bad else 0


def _pair(_: int, value: Mapping[str, Any]) -> _Pair:
    from excise.evaluation.data import RecordError
    from excise.evaluation.simplification import edit_operations

    before, after, split = value.get("before"), value.get("after"), value.get("split", "all")
    if not (isinstance(before, str) and isinstance(after, str) and isinstance(split, str)):
        raise RecordError("'before', 'after' and 'split' are not all strings")
    return _Pair(value, split, edit_operations(before, after))


def _split(
    pairs: list[_Pair], how: str, seed: int, attempts: int
) -> tuple[list[_Pair], float | None]:
    from excise.evaluation.simplification import random_split, stratified_split

    if how == "keep":
        return pairs, None
    sizes: dict[str, int] = {}
    for pair in pairs:
        sizes[pair.split] = sizes.get(pair.split, 0) + 1
    spread = None
    if how == "random":
        subsets = random_split(sizes, seed)
    else:
        counts = [(p.operations.insert, p.operations.delete, p.operations.replace) for p in pairs]
        with progress("Dealing"):
            subsets, spread = stratified_split(counts, sizes, seed, attempts=attempts)
    names = {index: name for name, members in subsets.items() for index in members}
    return [_Pair(p.value, names[index], p.operations) for index, p in enumerate(pairs)], spread


def _document(pairs: Sequence[_Pair], bins: int) -> dict[str, Any]:
    from excise.evaluation.simplification import OPERATIONS, divergence

    by_split: dict[str, list[Operations]] = {}
    for pair in pairs:
        by_split.setdefault(pair.split, []).append(pair.operations)
    changes = {name: [pair.change for pair in pairs] for name, pairs in by_split.items()}
    splits = {
        name: {
            "n": len(pairs),
            "change": sum(changes[name]) / len(pairs),
            **{kind: sum(getattr(pair, kind) for pair in pairs) for kind in OPERATIONS},
        }
        for name, pairs in by_split.items()
    }
    divergences = [
        {"split": a, "from": b, **asdict(divergence(changes[a], changes[b], bins=bins))}
        for a in changes
        for b in changes
        if a != b
    ]
    for row in divergences:  # JSON has no infinity
        row["kl"] = row["kl"] if row["kl"] != float("inf") else None
    return {"schema": 1, "splits": splits, "divergences": divergences}


def _show(document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        from excise_server.report.documents import json_text

        print(json_text(document))
        return
    from rich.table import Table

    from excise_server.foundation.escape import printable

    out = console()
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for head in ("split", "pairs", "change %", "insert", "delete", "replace", "move"):
        table.add_column(head, justify="left" if head == "split" else "right")
    for name, row in document["splits"].items():
        counts = [f"{row[kind]:,}" for kind in ("insert", "delete", "replace", "move")]
        table.add_row(printable(name), f"{row['n']:,}", f"{row['change']:.1f}", *counts)
    out.print(table)
    for divergence in document["divergences"]:
        kl = "infinite" if divergence["kl"] is None else f"{divergence['kl']:.3f}"
        names = f"{printable(divergence['split'])} from {printable(divergence['from'])}"
        jensen_shannon = f"{divergence['js']:.3f} ({divergence['distance']:.3f} rooted)"
        out.print(f"{names}: KL {kl}, Jensen-Shannon {jensen_shannon}")
    if document["dropped"]:
        out.print(f"{document['dropped']:,} poorly aligned pairs left out")
    if document["spread"] is not None:
        out.print(f"spread of the operations over the splits: {document['spread']:.4f}")
