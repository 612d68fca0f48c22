"""The scorer of examples/inspect_ai_scorer.py, run by inspect_ai on a list of answers."""

import runpy
from pathlib import Path

import pytest

import excise

pytestmark = pytest.mark.slow
inspect_ai = pytest.importorskip("inspect_ai", reason="pip install inspect-ai, to test its scorer")

ADAPTER = Path(__file__).parents[2] / "examples" / "inspect_ai_scorer.py"
ORIGIN = "def mean(xs):\n    return sum(xs) / 2\n"
REFERENCES = [ORIGIN.replace("2", "len(xs)"), "import statistics\nmean = statistics.mean\n"]
ANSWERS = [REFERENCES[1], f"Here it is:\n```python\n{REFERENCES[0]}```\nDone.", ORIGIN, "", "def ("]


def test_the_scorer_gives_the_scores_of_the_library(tmp_path):
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    adapter = runpy.run_path(str(ADAPTER))
    assert len(ADAPTER.read_text().split("\n")) <= 41
    samples = [
        Sample(input="Mend it.", target=REFERENCES, metadata={"origin": ORIGIN}) for _ in ANSWERS
    ]
    outputs = [ModelOutput.from_content("mockllm/model", answer) for answer in ANSWERS]
    for output in outputs:
        output.usage = ModelUsage()  # or inspect_ai fetches a tokeniser to count with
    task = inspect_ai.Task(dataset=samples, scorer=adapter["excision_score"]("python"))
    (log,) = inspect_ai.eval(
        task,
        model=get_model("mockllm/model", custom_outputs=outputs),
        log_dir=str(tmp_path),
        display="none",
        max_samples=1,
    )
    assert log.status == "success", log.error
    scored = [own.scores["excision_score"] for own in log.samples]
    answers = [*ANSWERS[:1], REFERENCES[0], *ANSWERS[2:]]
    expected = [
        excise.excision_score(
            origin=ORIGIN, reference=REFERENCES, hypothesis=answer, language="python"
        )
        for answer in answers
    ]
    assert [own.value for own in scored] == [score.value for score in expected]
    assert {own.metadata["signature"] for own in scored} == {score.signature for score in expected}
    assert log.results.scores[0].metrics["mean"].value == pytest.approx(
        sum(score.value for score in expected) / len(expected)
    )
