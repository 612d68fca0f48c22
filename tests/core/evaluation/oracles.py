"""The formulas of the measures once more, slow and plain, from the papers alone.

Nothing of excise is imported here, so that a slip there cannot repeat itself unseen.
"""

import re
from collections import Counter
from math import exp, log


def ngrams(tokens, n):
    return [tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1)]


def f(p, r):
    return 2 * p * r / (p + r) if p + r else 0.0


def over(a, b):
    return a / b if b else 0.0


def sari(origin, references, hypothesis):
    """Xu et al. 2016, section 3.1, with the script's averages over distinct n-grams."""
    r = len(references)
    parts = []
    for n in range(1, 5):
        o = Counter({g: c * r for g, c in Counter(ngrams(origin, n)).items()})
        h = Counter({g: c * r for g, c in Counter(ngrams(hypothesis, n)).items()})
        refs = Counter(g for text in references for g in ngrams(text, n))
        kept = {g: min(o[g], h[g]) for g in o if h[g]}
        should = {g: min(o[g], refs[g]) for g in o if refs[g]}
        good = {g: min(c, refs[g]) for g, c in kept.items() if refs[g]}
        keep = f(
            over(sum(good[g] / kept[g] for g in good), len(kept)),
            over(sum(good[g] / should[g] for g in good), len(should)),
        )
        gone = {g: o[g] - h[g] for g in o if o[g] > h[g]}
        rightly = {g: max(0, gone[g] - refs[g]) for g in gone}
        delete = over(sum(rightly[g] / gone[g] for g in gone), len(gone))
        new, wanted = set(h) - set(o), set(refs) - set(o)
        add = f(over(len(new & wanted), len(new)), over(len(new & wanted), len(wanted)))
        parts += [keep, delete, add]
    return sum(parts) / 12


def sari_easse(origin, references, hypothesis):
    """EASSE's: totals before division, F for deletion too, times 100."""
    r = len(references)
    total = 0.0
    for n in range(1, 5):
        o, h = Counter(ngrams(origin, n)), Counter(ngrams(hypothesis, n))
        refs = Counter(g for text in references for g in ngrams(text, n))
        every = set(o) | set(h) | set(refs)
        kept = {g: r * min(o[g], h[g]) for g in every}
        should = {g: min(r * o[g], refs[g]) for g in every}
        gone = {g: max(0, r * (o[g] - h[g])) for g in every}
        wrong = {g: max(0, r * o[g] - refs[g]) for g in every}
        for ours, theirs in ((kept, should), (gone, wrong)):
            both = sum(min(ours[g], theirs[g]) for g in every)
            total += f(over(both, sum(ours.values())), over(both, sum(theirs.values())))
        new = {g for g in every if h[g] and not o[g]}
        wanted = {g for g in every if refs[g] and not o[g]}
        total += f(over(len(new & wanted), len(new)), over(len(new & wanted), len(wanted)))
    return 100 * total / 12


def bleu(hypothesis, references, smooth=None):
    """Papineni et al. 2002 on lists of tokens; `smooth` as sacrebleu's: exp, and orders it has."""
    logs, factor = [], 1
    for n in range(1, 5):
        ours = Counter(ngrams(hypothesis, n))
        total = sum(ours.values())
        if not total:
            break
        match = sum(min(c, max(ngrams(r, n).count(g) for r in references)) for g, c in ours.items())
        if not match:
            if n == 1 or smooth is None:
                return 0.0
            factor *= 2
            logs.append(log(1 / factor / total))
        else:
            logs.append(log(match / total))
    c = len(hypothesis)
    r = min((abs(len(ref) - c), len(ref)) for ref in references)[1]
    return exp(sum(logs) / len(logs)) * (1 if c > r else exp(1 - r / c))


def levenshtein(a, b):
    """The textbook's table."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def lcs(a, b):
    """Length of the longest common subsequence, by the textbook's table."""
    row = [0] * (len(b) + 1)
    for x in a:
        last = 0
        for j, y in enumerate(b, start=1):
            last, row[j] = row[j], last + 1 if x == y else max(row[j], row[j - 1])
    return row[-1]


def rouge(hypothesis, reference, kind):
    """Lin 2004, F with beta = 1, on runs of a-z and 0-9 in lower case."""
    h, r = (re.findall(r"[a-z0-9]+", text.lower()) for text in (hypothesis, reference))
    if kind == "rougeL":
        both, ours, theirs = lcs(h, r), len(h), len(r)
    else:
        a, b = (Counter(ngrams(side, int(kind[-1]))) for side in (h, r))
        both, ours, theirs = sum((a & b).values()), sum(a.values()), sum(b.values())
    return f(over(both, ours), over(both, theirs))


def gleu(origin, reference, hypothesis):
    """Napoles et al. 2015, equations of section 4 (no tuning), each count of 0 taken as 1."""
    logs = 0.0
    for n in range(1, 5):
        h, r, s = (Counter(ngrams(side, n)) for side in (hypothesis, reference, origin))
        good = sum(min(c, r[g]) for g, c in h.items())
        bad = sum(min(c, s[g]) for g, c in h.items() if not r[g])
        logs += log((max(0, good - bad) or 1) / (max(0, len(hypothesis) - n + 1) or 1)) / 4
    return exp(min(0, 1 - len(reference) / len(hypothesis)) + logs)
