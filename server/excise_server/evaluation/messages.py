"""The factors of commit-message measures, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from excise.evaluation.commit_messages import FACTORS, Effect
from excise_server.evaluation.tables import number_text

__all__ = ["factor_document", "factor_table"]


def factor_table(effects: Sequence[Effect], unit: str) -> RenderableType:
    """Return Spearman's rho of every measure, plain, and without > with each factor."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("measure", no_wrap=True)
    for name in ("plain", *FACTORS):
        table.add_column(name, justify="right", no_wrap=True)
    for effect in effects:
        cells = [_pair(effect, factor) for factor in FACTORS]
        table.add_row(effect.metric, number_text(effect.clean[0], "bold"), *cells)
    title = f"Spearman's rho with the ratings, without > with each factor (BLEU of {unit}s)"
    return Group(Text(), Text(title, "bold"), table)


def _pair(effect: Effect, factor: str) -> Text:
    if factor not in effect.factors:
        return Text()
    without, included = (number_text(side[0]).plain for side in effect.factors[factor])
    return Text(f"{without} > {included}")


def factor_document(tables: Mapping[str, Sequence[Effect]]) -> dict[str, Any]:
    """Return the same by unit, measure and factor, with Pearson's r beside it."""
    return {
        unit: {
            effect.metric: {
                "plain": _both(effect.clean),
                **{
                    factor: {"without": _both(sides[0]), "with": _both(sides[1])}
                    for factor, sides in effect.factors.items()
                },
            }
            for effect in effects
        }
        for unit, effects in tables.items()
    }


def _both(values: tuple[float | None, float | None]) -> dict[str, float | None]:
    return {"spearman": values[0], "pearson": values[1]}
