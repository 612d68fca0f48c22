"""The figure of the paper from one's own data: a bar for each measure, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from excise_server.evaluation.run import Document
from excise_server.evaluation.tables import order
from excise_server.foundation.inputs import SourceError

Panel = tuple[str, Document]
"""A title, and the entries of measures by their names."""

FORMATS = (".png", ".pdf", ".svg")

# Okabe and Ito's blue and orange: distinct for every kind of colour vision, and in grey.
_OURS, _OTHERS, _LINE = "#0072B2", "#E69F00", "#222222"


def write_plot(document: Document, path: str) -> None:
    """Draw an evaluation and write it to a file in the format that its name gives."""
    from matplotlib import rc_context

    if "splits" in document:
        figure = draw_splits(document)
    else:
        figure = draw(panels(document, "All outputs", "With a random shared prefix"))
    try:
        # No date and no random names inside: the same data give the same bytes.
        dates = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
        with rc_context({"svg.hashsalt": "excise"}):
            figure.savefig(path, metadata=dates.get(path[-4:].lower(), {"Software": None}))
    except OSError as error:
        raise SourceError(
            error.strerror or str(error), name=path, hint="name a file that can be written"
        ) from error


def panels(document: Document, title: str, prefixed: str) -> list[Panel]:
    """Return the panel of an evaluation, and that of its outputs with the prefix, if it has any."""
    measures = document["measures"]
    beside = {name: entry["prefix"] for name, entry in measures.items() if "prefix" in entry}
    return [(title, measures), (prefixed, beside)] if beside else [(title, measures)]


def draw(panels: Sequence[Panel], columns: int = 2) -> Any:  # noqa: ANN401
    """Return a figure of some panels.

    Bars are Pearson's r of all outputs, lines their 95 % intervals by outputs (thick) and by tasks
    (thin). Diamonds leave out the outputs that only echo the origin.
    """
    from matplotlib.figure import Figure

    columns = min(columns, len(panels))
    lines = -(-len(panels) // columns)
    bars = max(len(measures) for _, measures in panels)
    size = (4.6 * columns, 0.5 + (0.8 + 0.2 * bars) * lines)
    figure = Figure(figsize=size, layout="constrained", dpi=160)
    # One scale: bars of different panels are compared.
    axes = figure.subplots(lines, columns, squeeze=False, sharex=True).flatten()
    for axis, (title, measures) in zip(axes, panels, strict=False):
        shown = [name for name in order(measures) if measures[name]["pearson"] is not None][::-1]
        points = []
        for place, name in enumerate(shown):
            entry = measures[name]
            ours = name.startswith(("es-", "pes-"))
            axis.barh(
                place,
                entry["pearson"],
                height=0.7,
                color=_OURS if ours else _OTHERS,
                edgecolor=_LINE,
                linewidth=0.5,
                hatch="" if ours else "////",
                alpha=0.85,
                zorder=2,
            )
            for key, label, width in (("ci_task", "tasks", 0.9), ("ci", "outputs", 3.0)):
                if entry[key]:
                    axis.plot(
                        entry[key],
                        (place, place),
                        color=_LINE,
                        linewidth=width,
                        zorder=4,
                        label=None if place else f"95 % by {label}",
                    )
            if entry["pearson_changed"] is not None:
                points.append((entry["pearson_changed"], place))
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
        axis.set_yticks(range(len(shown)), shown, fontsize=8)
        axis.set_ylim(-0.6, len(shown) - 0.4)
        axis.set_xlabel("Pearson's r with the label", fontsize=9)
        axis.set_title(title, fontsize=9)
        axis.tick_params(axis="x", labelsize=8, labelbottom=True)
        axis.grid(axis="x", color="#cccccc", linewidth=0.5, zorder=0)
        axis.axvline(0, color=_LINE, linewidth=0.8, zorder=3)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    return figure


def draw_splits(document: Document) -> Any:  # noqa: ANN401
    """Return a figure of how much pairs change, and by which operations, in each split."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.2, 3.4), layout="constrained", dpi=160)
    changes, operations = figure.subplots(1, 2)
    kinds = ("insert", "delete", "replace", "move")
    width = 0.8 / len(document["splits"])
    for index, (name, row) in enumerate(document["splits"].items()):
        shares = [100 * count / row["n"] for count in row["histogram"]]
        line, dashes = f"C{index}", ("-", "--", ":", "-.")[index % 4]
        changes.stairs(shares, document["bins"], label=name, color=line, linestyle=dashes)
        places = [place + index * width for place in range(len(kinds))]
        operations.bar(places, [row[kind] / row["n"] for kind in kinds], width, color=line)
    changes.set_xlabel("change in %", fontsize=9)
    changes.set_ylabel("pairs in %", fontsize=9)
    operations.set_ylabel("operations in a pair", fontsize=9)
    operations.set_xticks([place + 0.4 - width / 2 for place in range(len(kinds))], kinds)
    for axis in (changes, operations):
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=6, fontsize=8, frameon=False)
    return figure
