"""Relation of two patches, slowly, from docs/duplicates.md alone: dicts, one pair at a time."""

import math
import re
from collections import Counter

from excise.patches.evidence import Background, plain_message
from excise.patches.features import IGNORED, compared, facts_of

WORD = re.compile(r"[A-Za-z0-9_$]+")
PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
CLOSING = {"close", "closed", "closes", "fix", "fixed", "fixes", "resolve", "resolved"}
CLOSING |= {"resolves", "issue"}


def words(text):
    """Sub-tokens of an ASCII text, with how often they occur."""
    found = Counter()
    for word in WORD.findall(text):
        parts = [part.lower() for part in PART.findall(word) if len(part) > 1]
        found.update([*parts, word.lower()] if len(parts) > 1 else parts)
    return found


def bags(patch, subject="", message="", background=None):
    """The three bags, term to weight, of unit length (the last one a little shorter)."""
    background = background or Background.shipped()
    texts = {"+": "", "-": "", " ": ""}
    what, where = {}, {}
    for pair in compared(patch, IGNORED)[0]:
        path = pair.old or pair.path
        where[path] = 0.5
        for fact in facts_of(pair):
            what["=" + pair.path + "\0" + fact] = -math.log(0.01)
        for hunk in pair.hunks:
            if hunk.heading:
                where[path + "\0@" + hunk.heading.decode()] = 1.0
            for raw in hunk.lines:
                line = raw.decode()
                texts[line[0]] += line[1:] + "\n"
                bare = "".join(line[1:].split())
                if line[0] != "+" and len(bare) > 3:
                    key = path + "\0" + bare
                    where[key] = max(where.get(key, 0.0), 3.0 if line[0] == "-" else 1.0)
    context = words(texts[" "])
    for sign in "-+":
        for word, n in words(texts[sign]).items():
            known = 0.5 if word in context else 1.0
            what[sign + word] = math.log1p(n) * background.change(word) * known
    why = words(plain_message(message if subject in message else subject + "\n" + message))
    for word in words(plain_message(subject)):
        why[word] += 4
    weights = {
        w: (1.0 + math.log(n)) * background.message(w) for w, n in why.items() if w not in CLOSING
    }
    return unit(what), unit(where), unit(weights, 50.0)


def unit(bag, little=0.0):
    bag = {term: weight for term, weight in bag.items() if weight > 0}
    length = math.sqrt(sum([bag[term] * bag[term] for term in sorted(bag)]) + little)
    return {term: bag[term] / length for term in sorted(bag)}


def cosine(a, b):
    return min(1.0, sum([a[term] * b[term] for term in sorted(a.keys() & b.keys())]))


def relation(a, b):
    """What, where, why (None: one has no message), and their mean."""
    what, where, why = (cosine(x, y) for x, y in zip(a, b, strict=True))
    if not (a[2] and b[2]):
        return what, where, None, (what + where) / 2.0
    return what, where, why, (what + where + why) / 3.0
