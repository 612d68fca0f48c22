"""The figure of the paper from one's own data: a bar for each measure, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from excise.errors import extra_hint
from excise.evaluation.statistics import Correlation
from excise_server.evaluation.run import Evaluation, Table
from excise_server.evaluation.tables import order
from excise_server.foundation.inputs import SourceError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FORMATS", "MISSING", "draw", "missing", "write_plot"]

FORMATS = (".png", ".pdf", ".svg")
MISSING = f"matplotlib is not installed; {extra_hint('eval')}"

# Okabe and Ito's blue and orange: distinct for every kind of colour vision, and in grey.
_OURS, _OTHERS, _LINE = "#0072B2", "#E69F00", "#222222"


def missing() -> str | None:
    """Say what a plot lacks here, or None if nothing."""
    from importlib.util import find_spec

    return None if find_spec("matplotlib") else MISSING


def write_plot(evaluation: Evaluation, path: str, title: str = "") -> None:
    """Draw an evaluation and write it to a file in the format that its name gives."""
    panels = [(title or "All outputs", evaluation.plain)]
    if evaluation.prefixed is not None:
        panels.append(("With a random shared prefix", evaluation.prefixed))
    names = [measure.name for measure in evaluation.settings.measures]
    figure = draw([(name, names, table) for name, table in panels])
    try:
        # No date inside: the same data give the same bytes.
        figure.savefig(path, metadata=_metadata(path))
    except OSError as error:
        raise SourceError(
            error.strerror or str(error), name=path, hint="name a file that can be written"
        ) from error


def draw(panels: Sequence[tuple[str, Sequence[str], Table]], columns: int = 2) -> Any:  # noqa: ANN401
    """Return a figure with a panel for each title, names of measures, and table.

    Bars are Pearson's r of all outputs, lines their 95 % intervals by outputs (thick) and by tasks
    (thin). Diamonds leave out the outputs that only echo the origin.
    """
    from matplotlib.figure import Figure

    columns = min(columns, len(panels))
    lines = -(-len(panels) // columns)
    bars = max(len(names) for _, names, _ in panels)
    size = (4.6 * columns, 0.5 + (0.8 + 0.2 * bars) * lines)
    figure = Figure(figsize=size, layout="constrained", dpi=160)
    # One scale: bars of different panels are compared.
    axes = figure.subplots(lines, columns, squeeze=False, sharex=True).flatten()
    for axis, (title, names, table) in zip(axes, panels, strict=False):
        _panel(axis, title, names, table)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    return figure


def _panel(axis: Axes, title: str, names: Sequence[str], table: Table) -> None:
    shown = [index for index in order(table) if table.every[index].pearson is not None][::-1]
    for place, index in enumerate(shown):
        correlation = table.every[index]
        ours = names[index].startswith("es-")
        axis.barh(
            place,
            correlation.pearson or 0.0,
            height=0.7,
            color=_OURS if ours else _OTHERS,
            edgecolor=_LINE,
            linewidth=0.5,
            hatch="" if ours else "////",
            alpha=0.85,
            zorder=2,
        )
        _whiskers(axis, place, correlation)
    changed = [(table.changed[index].pearson, place) for place, index in enumerate(shown)]
    points = [(r, place) for r, place in changed if r is not None]
    if points:
        axis.plot(
            *zip(*points, strict=True),
            linestyle="",
            marker="D",
            markersize=4,
            color="white",
            markeredgecolor=_LINE,
            label="only outputs that differ from the origin",
            zorder=5,
        )
    axis.set_yticks(range(len(shown)), [names[index] for index in shown], fontsize=8)
    axis.set_ylim(-0.6, len(shown) - 0.4)
    axis.set_xlabel("Pearson's r with the label", fontsize=9)
    axis.set_title(title, fontsize=9)
    axis.tick_params(axis="x", labelsize=8, labelbottom=True)
    axis.grid(axis="x", color="#cccccc", linewidth=0.5, zorder=0)
    axis.axvline(0, color=_LINE, linewidth=0.8, zorder=3)
    axis.spines[["top", "right"]].set_visible(False)


def _whiskers(axis: Axes, place: int, correlation: Correlation) -> None:
    first = place == 0
    if correlation.ci_task:
        label = "95 % by tasks" if first else None
        axis.plot(
            correlation.ci_task, (place, place), color=_LINE, linewidth=0.9, zorder=4, label=label
        )
    if correlation.ci:
        label = "95 % by outputs" if first else None
        axis.plot(correlation.ci, (place, place), color=_LINE, linewidth=3, zorder=4, label=label)


def _metadata(path: str) -> dict[str, Any]:
    lower = path.lower()
    if lower.endswith(".pdf"):
        return {"CreationDate": None}
    return {"Date": None} if lower.endswith(".svg") else {"Software": None}
