r"""The measures of the field and Excision Score, under one interface.

>>> result = measure("es-nested")(
...     origin="a = 1\nb = 2\n", reference="a = 1\nb = 3\n", hypothesis="a = 1\nb = 3\n",
...     language="python",
... )
>>> result.value
1.0

Many measures of one item read it once:

>>> item = Item.of(origin="a b c", reference=["a c", "a d"], hypothesis="a c")
>>> [MEASURES[name].of(item).value for name in ("em", "em-diff")]
[1.0, 1.0]

A measure that cannot run here says why, and which command helps (`Measure.missing`). Outside
resources (WordNet, models, another interpreter) are handed in with `Measure.having`.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType

from excise.errors import OptionError
from excise.evaluation import (
    bags,
    edits_bleu,
    exact,
    excision_measures,
    gleu,
    maxmatch,
    message_bleu,
    meteor,
    models,
    rouge,
    sari,
    translation,
    word_mover,
)
from excise.evaluation.base import Item, Measure, MeasureUnavailableError, Resources, Value

__all__ = [
    "MEASURES",
    "Item",
    "Measure",
    "MeasureUnavailableError",
    "Resources",
    "Value",
    "measure",
    "measures",
]

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        entry.name: entry
        for module in (
            excision_measures,
            sari,
            edits_bleu,
            translation,
            exact,
            gleu,
            maxmatch,
            bags,
            rouge,
            meteor,
            message_bleu,
            models,
            word_mover,
        )
        for entry in module.MEASURES
    }
)
"""Every measure by its name, in the order of the tables; its library is imported when used."""


def measure(name: str, resources: Resources | None = None) -> Measure:
    """Return a measure by its name.

    Raises OptionError on an unknown name. The message suggests the closest ones.
    """
    wanted = name.strip().lower()
    named = next((entry for entry in MEASURES.values() if entry.name.lower() == wanted), None)
    if named is None:
        close = get_close_matches(wanted, MEASURES, n=3, cutoff=0.5)
        hint = (
            f"did you mean {' or '.join(close)}?"
            if close
            else f"the measures are: {', '.join(MEASURES)}"
        )
        raise OptionError(f"no measure is called {name!r}; {hint}")
    return named.having(resources) if resources is not None else named


def measures(
    names: Iterable[str] | None = None, resources: Resources | None = None
) -> tuple[Measure, ...]:
    """Return measures by their names (each once, in the order given), or all without names."""
    return tuple(measure(name, resources) for name in dict.fromkeys(names or MEASURES))
