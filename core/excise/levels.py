r"""Whether two revisions are the same program: the levels above the score (docs/ideas.md).

The score says how alike the texts of two edits are. A level says that two whole revisions are the
same program, by rules without numbers:

>>> origin = "def area(r):\n    return 3 * r\n"
>>> a = "def area(r):\n    s = r * r\n    return 3.14 * s if s > 0 else s\n"
>>> b = "def area(r):\n    q = (r * r)  # cm2\n    return 3.14*q if 0 < q else q\n"
>>> level(origin, a, b, language="python")
Level(word='same up to names', renamed=(('s', 'q'),))
>>> level(origin, a, origin, language="python") is None
True
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

from excise import languages
from excise.agreement import CODE, IDENTICAL, NAMES
from excise.errors import Cancelled, Unparsable
from excise.kernels._walk import CancelFlag
from excise.normal_form import ASSURED, Form, FormItem, Items, form_of, written, written_tokens
from excise.reading import PARSER_SECONDS, ParsedTexts, Reading, is_large
from excise.renaming import copied, functions, names_in, rename, renamed, values_in
from excise.text import normalise

SIGNATURE = "code:2"
"""The version of the rules by which levels are cited."""


class Level(NamedTuple):
    """That two revisions are the same, and in which sense.

    Attributes
    ----------
    word
        `IDENTICAL`, `CODE` or `NAMES`.
    renamed
        At `NAMES`, the names in which they differ: as the first has them, and as the second.
    """

    word: str
    renamed: tuple[tuple[str, str], ...] = ()


class CodeForms:
    """The normal forms of the revisions of one origin.

    - ``origin``: normalised text: only names that it lacks are new.
    - ``grammar``: the grammar of all texts, or None without one.
    - ``path``: the path of the file: in some the order of imports counts.
    - ``texts``: what parsers found in texts already.
    - ``timeout``: the CPU time in seconds that a parser may take for one text.
    - ``items``: those of another origin with this grammar and path, which are not made again.

    Whatever takes a `cancel` looks at it for each function that it converts.
    """

    def __init__(
        self,
        origin: str,
        grammar: str | None,
        path: str | None = None,
        texts: ParsedTexts | None = None,
        timeout: float | None = PARSER_SECONDS,
        items: Items | None = None,
    ) -> None:
        self._grammar = None if is_large(origin) else grammar
        self._path = path
        self._texts = ParsedTexts() if texts is None else texts
        self._reading = Reading(grammar, timeout=timeout)
        self._origin = origin
        self.items: Items = {} if items is None else items
        self._read: dict[str, Form | None] = {}
        self._codes: dict[str, str] = {}
        # Where a grammar has no forms: texts by their tokens, but for comments and white space, of
        # which no two are the same, and all of what counts, of those that had to be told apart.
        self._by_tokens: dict[bytes, list[str]] = {}
        self._written: dict[str, str] = {}
        self._names: dict[str, tuple[str, Mapping[str, Sequence[str]]]] = {}
        self._forgotten = 0  # texts, since the items were looked through

    def code(self, text: str, cancel: CancelFlag | None = None) -> str:
        """Return a key that is equal for texts with the same code."""
        if text not in self._codes:
            form = self._standing(text, cancel)
            key = self._key_of(text, cancel) if form is None else f"form {written(form)}"
            self._codes[text] = key
        return self._codes[text]

    def names(self, text: str, cancel: CancelFlag | None = None) -> str:
        """Return a key that is equal for texts with the same code up to names."""
        return self._renamed(text, cancel)[0]

    def values(self, text: str, cancel: CancelFlag | None = None) -> str:
        """Return a key that texts share whose `names` are equal, and perhaps some others.

        It says in which functions the origin has other attributes, strings or numbers.
        """
        form = self._form(text, cancel)
        if form is None or self._grammar is None:
            return self.code(text, cancel)
        own, origin = _by_name(form), self._origin_functions
        differing = []
        for name in sorted(own.keys() | origin.keys()):
            before, after = origin.get(name, []), own.get(name, [])
            if before != after:
                old, new = (
                    sum((values_in(item, self._grammar) for item in items), Counter[str]())
                    for items in (before, after)
                )
                if old != new or len(before) != len(after):
                    differing.append((name, len(after), sorted(new.items())))
        return f"values {differing!r}"

    def level(self, a: str, b: str, cancel: CancelFlag | None = None) -> Level | None:
        """Return the level of two revisions, or None if they are not known to be the same."""
        if a == b:
            return Level(IDENTICAL)
        if self.code(a, cancel) == self.code(b, cancel):
            return Level(CODE)
        names_a, replaced_a = self._renamed(a, cancel)
        names_b, replaced_b = self._renamed(b, cancel)
        if names_a != names_b:
            return None
        pairs: dict[tuple[str, str], None] = {}
        for name in sorted(replaced_a.keys() | replaced_b.keys()):
            # Of a function that stands for the origin's, only the origin's names are known.
            own = (replaced.get(name) for replaced in (replaced_a, replaced_b))
            x, y = (self._of_origin(name)[1] if names is None else names for names in own)
            pairs |= dict.fromkeys((p, q) for p, q in zip(x, y, strict=True) if p != q)
        return Level(NAMES, tuple(pairs))

    def keep(self, texts: Collection[object]) -> None:
        """Forget all texts but these, and the origin's."""
        before = len(self._read)
        tables: list[dict[str, Any]] = [self._read, self._codes, self._names]
        for known in tables:
            for text in [text for text in known if text not in texts and text != self._origin]:
                del known[text]
        if self._by_tokens:  # they stand for others
            self._by_tokens, self._written, self._codes = {}, {}, {}
        self._forgotten += before - len(self._read)
        if self._forgotten <= len(self._read):
            return  # looking through all forms is for many texts at once
        self._forgotten = 0
        used = {
            id(form) for root in self._read.values() if root is not None for form in root.walk()
        }
        self.items = {
            key: forms
            for key, forms in self.items.items()
            if any(id(form) in used for form in forms)
        }

    def _form(self, text: str, cancel: CancelFlag | None = None) -> Form | None:
        """Return the form of a text, which nobody may change, or None if it has none."""
        if self._grammar not in ASSURED or is_large(text):
            return None
        if text not in self._read:
            try:
                tree = self._texts.tree(text, self._reading, cancel)
            except Unparsable:
                self._read[text] = None
            else:
                # The functions of the origin come first, and are read if a revision changes them.
                is_origin = text == self._origin or self._form(self._origin, cancel) is None
                self._read[text] = form_of(
                    tree,
                    text,
                    self._grammar or "",
                    self._path,
                    self.items,
                    is_lazy=is_origin,
                    cancel=cancel,
                )
        return self._read[text]

    def _standing(self, text: str, cancel: CancelFlag | None) -> Form | None:
        """Return a copy of a form in which functions with the origin's code stand for that."""
        form = self._form(text, cancel)
        if form is None:
            return None
        form = copied(form)
        for name, function in functions(form):
            item, before = function.item, self._origin_items.get(name)
            if item is None or before is None:
                continue
            if item is before or item.code == before.code:
                function.text = f"={name}"
        return form

    def _renamed(
        self, text: str, cancel: CancelFlag | None
    ) -> tuple[str, Mapping[str, Sequence[str]]]:
        """Return the key of `names`, and by function the names that were replaced."""
        known = self._names.get(text)
        if known is None:
            form = self._standing(text, cancel)
            if form is None or self._grammar is None:
                known = self.code(text, cancel), {}
            else:
                replaced = rename(form, self._grammar, self._old_names, cancel)
                for name, function in functions(form):
                    if name not in replaced or name not in self._origin_items:
                        continue  # it is new, or stands for the origin's already
                    if function.text == self._of_origin(name)[0]:
                        function.text = f"={name}"
                known = written(form), replaced
            self._names[text] = known
        return known

    def _key_of(self, text: str, cancel: CancelFlag | None) -> str:
        """Return the key of a text without a form: its tokens, if its grammar has no forms."""
        if self._grammar is None or self._grammar in ASSURED or is_large(text):
            return f"text {text}"
        try:
            lines, has_errors = self._texts.read(text, self._reading, cancel=cancel)
            if has_errors:
                return f"text {text}"
            alike = self._by_tokens.setdefault(lines.code(), [])
            for other in alike:
                if other == text or self._tokens(other, cancel) == self._tokens(text, cancel):
                    return f"tokens of {other}"
        except Unparsable:
            return f"text {text}"
        alike.append(text)
        return f"tokens of {text}"

    def _tokens(self, text: str, cancel: CancelFlag | None) -> str:
        """Return the tokens of a text with what is known of its white space."""
        if text not in self._written:
            tree = self._texts.tree(text, self._reading, cancel)
            self._written[text] = written_tokens(text, tree, self._grammar or "")
        return self._written[text]

    @cached_property
    def _origin_functions(self) -> Mapping[str, list[FormItem]]:
        form = self._form(self._origin)
        return {} if form is None else _by_name(form)

    @cached_property
    def _origin_items(self) -> dict[str, FormItem]:
        """The functions of the origin by qualified name, but for names that several have."""
        return {name: of[0] for name, of in self._origin_functions.items() if len(of) == 1}

    def _of_origin(self, name: str) -> tuple[str, Sequence[str]]:
        return renamed(self._origin_items[name], self._grammar or "", self._old_names(name))

    def _old_names(self, name: str) -> frozenset[str]:
        item = self._origin_items.get(name)
        return frozenset() if item is None else names_in(item)


def _by_name(form: Form) -> Mapping[str, list[FormItem]]:
    """Return the outermost functions of a form by their qualified names."""
    known: dict[str, list[FormItem]] = {}
    for name, function in functions(form):
        assert function.item is not None
        known.setdefault(name, []).append(function.item)
    return known


KeyOf = Callable[[CodeForms, str, CancelFlag | None], str]


def _text(forms: CodeForms, text: str, cancel: CancelFlag | None) -> str:
    return text


@dataclass(eq=False)
class Programs:
    """Which revisions of one origin are the same program, over all of their files.

    - ``origin``: the contents of the files that revisions change, by path; those that are missing
      here are created.
    - ``edited``: for each revision, the contents that differ from the origin's, by path.
    - ``facts``: for each revision, changes other than text, by path (`excise.pairwise.ChangeSet`).
    - ``facets``: for each revision, what a file is for, by path, where it is not ``code``: two
      revisions that both change code are the same program whatever else they change.
    - ``digests``: for each revision, what stands for all of its bytes, or an empty string.
    - ``forms``: returns the normal forms of the texts of a path.
    - ``cancel``: looked at while forms are made, when somebody first asks; may be replaced. Where
      it runs out of time by itself, only equal texts are the same.
    """

    origin: Mapping[str, Any]
    edited: Sequence[Mapping[str, Any]]
    facts: Sequence[Mapping[str, tuple[Any, ...]]]
    facets: Sequence[Mapping[str, str]]
    digests: Sequence[str]
    forms: Callable[[str], CodeForms]
    cancel: CancelFlag | None = None

    def level(self, i: int, j: int) -> Level | None:
        """Return the level of two revisions, or None if they are not known to be the same."""
        parts = self.edited, self.facts, self.digests
        if all(part[i] == part[j] for part in parts):
            return Level(IDENTICAL)
        if self.codes[i] == self.codes[j]:
            return Level(CODE)
        if self.codes_up_to_names[i] != self.codes_up_to_names[j]:
            return None
        renamed: dict[tuple[str, str], None] = {}
        for path in sorted(self._paths[i] & self._paths[j]):
            a, b = (self._content(each, path) for each in (i, j))
            if isinstance(a, str) and isinstance(b, str):
                own = self.forms(path).level(a, b, self.cancel)
                renamed |= dict.fromkeys(own.renamed if own is not None else ())
        return Level(NAMES, tuple(renamed))

    def beside(self, i: int, j: int) -> tuple[str, ...]:
        """Return the facets other than code in which two revisions of code differ, sorted."""
        if not (self._is_code(i) and self._is_code(j)):
            return ()
        paths = {*self.edited[i], *self.facts[i], *self.edited[j], *self.facts[j]}
        differing = {
            self.facets[i].get(path) or self.facets[j].get(path)
            for path in paths
            if (self._content(i, path), self.facts[i].get(path))
            != (self._content(j, path), self.facts[j].get(path))
        }
        return tuple(sorted(facet for facet in differing if facet))

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Per revision: a key that is equal for those with the same code."""
        return self._keys(CodeForms.code)

    @cached_property
    def codes_up_to_names(self) -> tuple[str, ...]:
        """Per revision: a key that two of different code share if they are the same up to names."""
        keys = self._keys(CodeForms.values)
        codes = Counter(key for key, _ in set(zip(keys, self.codes, strict=True)))
        doubtful = [index for index, key in enumerate(keys) if codes[key] > 1]
        names = self._keys(CodeForms.names, doubtful)
        of_index = dict(zip(doubtful, names, strict=True))
        return tuple(of_index.get(index, key) for index, key in enumerate(keys))

    def _keys(self, key_of: KeyOf, chosen: Sequence[int] | None = None) -> tuple[str, ...]:
        indices = range(len(self.edited)) if chosen is None else chosen
        try:
            return tuple(self._key(index, key_of) for index in indices)
        except Cancelled:
            if self.cancel is None or not self.cancel.timed_out:
                raise
        return tuple(self._key(index, _text) for index in indices)

    @cached_property
    def _paths(self) -> tuple[frozenset[str], ...]:
        """Per revision: the files that decide, which are those of code if it changes any."""
        every = [
            frozenset((*edited, *facts))
            for edited, facts in zip(self.edited, self.facts, strict=True)
        ]
        return tuple(
            frozenset(path for path in paths if path not in facets) or paths
            for paths, facets in zip(every, self.facets, strict=True)
        )

    def _is_code(self, index: int) -> bool:
        """Whether the files that decide are code."""
        return self._paths[index].isdisjoint(self.facets[index])

    def _content(self, index: int, path: str) -> object:
        return self.edited[index].get(path, self.origin.get(path, ""))

    def _key(self, index: int, key_of: KeyOf) -> str:
        parts = []
        for path in sorted(self._paths[index]):
            before, after = self.origin.get(path, ""), self._content(index, path)
            facts = self.facts[index].get(path, ())
            if isinstance(before, str) and isinstance(after, str):
                forms = self.forms(path)
                key = key_of(forms, after, self.cancel)
                is_old = not facts and path in self.origin
                if is_old and key == key_of(forms, before, self.cancel):
                    continue
            else:
                key = repr(after)
            parts.append((path, path in self.origin, facts, key))
        return blake2b(
            repr((self._is_code(index), parts)).encode(errors="surrogatepass")
        ).hexdigest()


def level(
    origin: str, a: str, b: str, *, language: str | None = None, path: str | None = None
) -> Level | None:
    """Return whether two revisions of an origin are the same program, and in which sense.

    Parameters
    ----------
    origin, a, b : str
        Texts of a file: before, and after each edit.
    language, path : str, optional
        Name the grammar. Without one, or where a text does not parse, only equal texts are the
        same.

    Returns
    -------
    Level or None
        None says nothing but that no rule makes them the same.
    """
    origin, a, b = (normalise(text) for text in (origin, a, b))
    grammar = languages.resolve(language, path, origin)
    return CodeForms(origin, grammar, path).level(a, b)
