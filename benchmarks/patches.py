"""Figures of patches: groups against hand-made ones, verdicts, line counts against git, times.

    EXCISE_DATA=DIR python benchmarks/patches.py

docs/patches.md explains them.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from measure import data, rows

from excise import Cluster, similarity
from excise.patches import Message, Patch, PatchError, Pool, group, parse, read

TF_IDF = 0.40
DISTANCES = (0.3, 0.4, 0.5, 0.55, 0.6, 0.7)


def main() -> None:
    kernel()
    versions()
    agents()
    counts()


# --- groups --------------------------------------------------------------------------------------


def kernel() -> None:
    found = [
        (row["id"], candidate["patch_id"], candidate["patch"].encode("latin-1"))
        for row in rows("kernel_versions_dev.jsonl.gz")
        for candidate in row["candidates"]
    ]
    group(pool_of([Patch(), Patch()]))  # imports SciPy
    start = time.process_time()
    messages = [read(data)[0] for _, _, data in found]
    patches = [message.patch for message in messages]
    pool = pool_of(patches)
    middle = time.process_time()
    pool.near(0.45)
    pairs = time.process_time() - middle
    clusters = group(pool)
    seconds = time.process_time() - start - pairs
    n = len(found)
    print(f"kernel_versions_dev, {n} patches, text to clusters: {seconds:.2f} s of the processor")
    print(f"  all {n * (n - 1) // 2} pairs: {pairs / (n * (n - 1) / 2) * 1e9:.0f} ns a pair")
    truth = [name for name, _, _ in found]
    compared("all", truth, clusters, messages)
    by_distance("all", truth, pool)
    first = list(
        {patch_id: at for at, (_, patch_id, _) in reversed(list(enumerate(found)))}.values()
    )
    first.sort()
    hard = [messages[at] for at in first]
    for idf in (False, True):
        said = ", idf" if idf else ""
        if idf:
            compared(f"all{said}", truth, group(pool_of(patches, idf=True)), messages)
        clusters = group(pool_of([message.patch for message in hard], idf=idf))
        compared(f"one text a patch-id{said}", [truth[at] for at in first], clusters, hard)
    by_distance(
        "one text a patch-id", [truth[at] for at in first], pool_of([m.patch for m in hard])
    )


def pool_of(patches: Sequence[Patch], **options: Any) -> Pool:  # noqa: ANN401
    pool = Pool(**options)
    for patch in patches:
        pool.add(patch)
    return pool


def compared(
    what: str, truth: list[str], clusters: Sequence[Cluster], messages: Sequence[Message]
) -> None:
    from sklearn.metrics import adjusted_rand_score

    labels = {at: place for place, found in enumerate(clusters) for at in found.members}
    ours = adjusted_rand_score(truth, [labels[at] for at in range(len(truth))])
    theirs = adjusted_rand_score(truth, tf_idf(messages))
    print(f"  ARI, {what} ({len(truth)}): {ours:.3f}; TF-IDF at {TF_IDF}: {theirs:.3f}")


def by_distance(what: str, truth: list[str], pool: Pool) -> None:
    """Print the agreement of complete linkage by where it ends."""
    from sklearn.metrics import adjusted_rand_score

    cells = []
    for distance in DISTANCES:
        labels = dict[int, int]()
        for place, cluster in enumerate(group(pool, threshold=distance)):
            labels |= dict.fromkeys(cluster.members, place)
        ari = adjusted_rand_score(truth, [labels[at] for at in range(len(truth))])
        cells.append(f"{distance:g}: {ari:.3f}")
    print(f"  ARI by distance, {what}: {', '.join(cells)}")


def versions() -> None:
    """Print how many versions of one commit, on one origin, are within a distance."""
    values = []
    for row in rows("git_same_origin_dev.jsonl.gz"):
        a, b = (candidate["text"] for candidate in row["candidates"])
        values.append(similarity(origin=row["origin"], a=a, b=b, path=row["path"]).value)
    within = (f"{d:g}: {sum(1 - value <= d for value in values)}" for d in DISTANCES)
    print(f"git_same_origin_dev, whole files, pairs of {len(values)} within: {', '.join(within)}")


def tf_idf(messages: Sequence[Message]) -> list[int]:
    """Cluster by signed 1-3-grams of the words of changed lines: the strongest simple peer."""
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [list(signed(message)) for message in messages]
    vectors = TfidfVectorizer(analyzer=lambda text: text, sublinear_tf=True).fit_transform(texts)
    distances = 1.0 - (vectors @ vectors.T).toarray()
    model = AgglomerativeClustering(
        n_clusters=None, metric="precomputed", linkage="average", distance_threshold=TF_IDF
    )
    return list(model.fit_predict(distances.clip(0, 1)))


def signed(message: Message) -> Iterator[str]:
    from excise.lexical import words

    for pair in message.patch.files:
        for hunk in pair.hunks:
            for line in hunk.lines:
                if (sign := line[:1].decode()) in "+-":
                    found = words(line[1:].decode("latin-1"))
                    for n in (1, 2, 3):
                        for at in range(len(found) - n + 1):
                            yield sign + " ".join(found[at : at + n])


# --- verdicts ------------------------------------------------------------------------------------


def agents() -> None:
    """Does a higher score with the developer's patch go with passing tests?"""
    scored: list[list[tuple[float, bool]]] = []
    left_out = 0
    for row in rows("swebench_lite_agents_dev.jsonl.gz"):
        judged = [c for c in row["candidates"] if c["label"] in ("resolved", "unresolved")]
        left_out += len(row["candidates"]) - len(judged)
        patches = [parse(c["patch"].encode()) for c in judged]
        verdicts = [c["label"] == "resolved" for c in judged]
        reference = parse(row["reference"].encode())
        pool = pool_of([reference, *patches])
        edits = [pool.score(0, at + 1) for at in range(len(patches))]
        scored.append(list(zip(edits, verdicts, strict=True)))

    n = sum(map(len, scored))
    everywhere = auc([pair for item in scored for pair in item])
    within, mean = auc_within(scored), auc_of_instances(scored)
    print(f"swebench_lite_agents_dev, basis:edits, {n} patches ({left_out} left out):", end="")
    print(f" AUC {everywhere:.3f}; within an instance: pairs pooled {within:.3f},", end="")
    print(f" mean of {mean[1]} instances {mean[0]:.3f}")


def auc(scored: list[tuple[float, bool]]) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score([good for _, good in scored], [value for value, _ in scored]))


def auc_within(items: list[list[tuple[float, bool]]]) -> float:
    """The share of (resolved, unresolved) pairs of one instance in the right order; ties half."""
    right = total = 0.0
    for item in items:
        good = [value for value, passed in item if passed]
        bad = [value for value, passed in item if not passed]
        right += sum((x > y) + (x == y) / 2 for x, y in product(good, bad))
        total += len(good) * len(bad)
    return right / total


def auc_of_instances(items: list[list[tuple[float, bool]]]) -> tuple[float, int]:
    """The mean of that share over the instances that have both verdicts, and how many they are."""
    both = [item for item in items if len({passed for _, passed in item}) == 2]
    return sum(auc_within([item]) for item in both) / len(both), len(both)


# --- reading -------------------------------------------------------------------------------------


def counts() -> None:
    """Compare our line counts with those of `git apply --numstat` wherever it accepts."""
    git = shutil.which("git")
    if git is None:
        print("git is not installed: line counts are not compared")
        return
    kernel = "kernel_versions_dev.jsonl.gz", "latin-1"
    for name, encoding in (kernel, ("swebench_lite_agents_dev.jsonl.gz", "utf-8")):
        texts = (c["patch"] for row in rows(name) for c in row["candidates"])
        against_git(git, name, [text.encode(encoding) for text in texts])
    mails = [path.read_bytes() for path in sorted(data("mail").glob("*/*"))]
    against_git(git, "mail", mails)


def against_git(git: str, name: str, patches: Sequence[bytes]) -> None:
    wrong = errors = refused = 0
    for patch in patches:
        ran = subprocess.run([git, "apply", "--numstat", "-"], input=patch, capture_output=True)
        if ran.returncode:
            refused += 1
            continue
        theirs = sorted(line.split(b"\t")[:2] for line in ran.stdout.split(b"\n") if line)
        try:
            files = parse(patch).files
        except PatchError:
            errors += 1
            continue
        ours = sorted(
            [b"-", b"-"] if pair.binary else [b"%d" % pair.added, b"%d" % pair.deleted]
            for pair in files
        )
        wrong += ours != theirs
    print(f"{name}: {len(patches)} read, {wrong} wrong counts, {errors} errors;", end="")
    print(f" git refuses {refused}")


if __name__ == "__main__":
    main()
