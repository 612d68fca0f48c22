"""The page of `--html`: well formed, harmless whatever was read, looked at by a browser."""

import base64
import re
from random import Random

import pytest
from tests.browser import CHROMIUM, Browser
from tests.server.command import excise
from tests.server.html_seen import check_page
from tests.server.test_cli_patches import AGAIN, ONE, OTHER, mail

pytestmark = pytest.mark.slow

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is missing: apt-get install chromium"
)
HOSTILE = (
    '<script>window.hit=1</script>',
    '"><img src=x onerror=window.hit=2>',
    "</title></style></pre><svg onload=window.hit=3>",
    "javascript:window.hit=4",
    "\x1b[31mred \u202egnp.exe \u2066\u200b",
    "&lt;script&gt;&#x3c;",
)  # fmt: skip


def page(tmp_path, *arguments, stdin="", code=0):
    path = tmp_path / "report.html"
    ran = excise(*arguments, "--format", "html", "-o", str(path), stdin=stdin)
    assert ran.code == code, ran.err
    return path


def hostile_mails():
    """Texts in every place that a page shows: subject, author, date, path, lines, Message-ID."""
    found = []
    for text in HOSTILE:
        line = text.replace("\n", " ")
        subject = f"=?utf-8?b?{base64.b64encode(line.encode()).decode()}?="
        for version, new in (("", "1"), (" v2", "2")):
            more = f"Date: {line if line.isascii() and line.isprintable() else 'x'}\n"
            name = "".join(c for c in line if c.isprintable() and c not in '"\\')
            found.append(
                mail(f"[PATCH{version}] {subject}", "a(b);", f"a({line}, {new});", path=name,
                     author=f"{subject} <a@b>", more=more)
            )  # fmt: skip
    return "".join(found)


@pytest.mark.parametrize("stdin", ["", ONE, mail("cover"), mail("a", "x", "y") * 300])
def test_few_and_many(tmp_path, stdin):
    check_page(page(tmp_path, "cluster", "-", stdin=stdin, code=int(not stdin)).read_text())


def test_limits_are_said(tmp_path, monkeypatch):
    monkeypatch.setattr("excise_server.report.blocks.MOST_LINES", 3)
    monkeypatch.setattr("excise_server.report.html_page.MOST_DRAWN", 2)
    same = [f"line {at}, which stays as it was;" for at in range(40)]
    long = [
        mail(f"[PATCH v{n}] long", *same, *(f"v{n}, {at};" for at in range(8 * n)))
        for n in (1, 2, 3)
    ]
    text = "".join(check_page(page(tmp_path, "cluster", "-", stdin="".join(long)).read_text()).text)
    assert "more lines" in text
    assert "Similarities of 2 members, 1 more are not drawn" in text


def test_hostile_texts_stay_texts(tmp_path):
    seen = check_page(page(tmp_path, "cluster", "-", stdin=hostile_mails()).read_text())
    text = "".join(seen.text)
    for shown in (*HOSTILE[:4], "\\x1b[31mred \\u202egnp.exe \\u2066\\u200b", HOSTILE[5]):
        assert text.count(shown) >= 2, shown


def test_a_report_that_cannot_be_written(tmp_path):
    ran = excise(
        "cluster", "-", "--format", "html", "-o", str(tmp_path / "no" / "r.html"), stdin=ONE
    )
    assert ran.code == 2
    assert "cannot write" in ran.err
    ran = excise("cluster", "-", "--format", "html", "-o", str(tmp_path), stdin=ONE)
    assert "not a regular file" in ran.err
    kept = tmp_path / "kept.html"
    kept.write_text("before")
    kept.chmod(0o600)
    assert excise("cluster", "-", "--format", "html", "-o", str(kept), stdin=ONE).code == 0
    assert kept.read_text() != "before"
    assert [path.name for path in tmp_path.iterdir()] == ["kept.html"]


# --- in a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("chromium")) as found:
        yield found


@pytest.fixture
def quiet(browser):
    """Fail where a page complained, threw, asked the network, or was kept from something."""
    browser.problems.clear()
    yield browser
    assert browser.problems == []


@needs_chromium
def test_nothing_hostile_runs(quiet, tmp_path):
    path = page(tmp_path, "cluster", "-", stdin=hostile_mails())
    for dark in (False, True):
        quiet.open(path.as_uri(), dark=dark)
        quiet.run("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert quiet.run("typeof window.hit") == "undefined"
        assert quiet.run("document.scripts.length") == 0
        assert quiet.run("[...document.images].every(i => i.src.startsWith('data:'))")
        assert HOSTILE[0] in quiet.run("document.body.innerText")


@needs_chromium
def test_the_policy_holds(browser, tmp_path):
    """What got into the page all the same would not run: the test plays the intruder."""
    browser.open(page(tmp_path, "cluster", "-", stdin=ONE + AGAIN).as_uri())
    browser.problems.clear()
    browser.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=window.hit=1>')")
    browser.run(
        "document.body.append(Object.assign(document.createElement('script'), "
        "{textContent: 'window.hit = 2'}))"
    )
    browser.run("fetch('https://example.org/').catch(() => 0)")
    assert browser.run("typeof window.hit") == "undefined"
    assert sum("Content Security Policy" in problem for problem in browser.problems) >= 2
    assert not [problem for problem in browser.problems if "asked the network" in problem]


@needs_chromium
def test_it_is_used_by_keyboard(quiet, tmp_path):
    quiet.open(page(tmp_path, "cluster", "-", stdin=ONE + AGAIN + OTHER).as_uri())
    for _ in range(20):
        quiet.press("Tab")
        if quiet.run("document.activeElement.tagName") == "SUMMARY":
            break
    assert quiet.run("document.activeElement.tagName") == "SUMMARY"
    assert quiet.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert not quiet.run("document.activeElement.parentElement.open")
    quiet.press("Enter")
    assert quiet.run("document.activeElement.parentElement.open")


CONTRAST = """(() => {
  const light = c => c.map(v => v / 255).map(v => v <= .03928 ? v / 12.92
    : ((v + .055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const rgb = text => text.match(/[\\d.]+/g).map(Number);
  const back = element => { for (let e = element; e; e = e.parentElement) {
    const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c.slice(0, 3) } return [255, 255, 255] };
  return Math.min(...[...document.querySelectorAll('h1, p, a, dt, dd, summary span, pre span, th')]
    .filter(e => e.innerText && !e.closest('.matrix')).map(e => {
      const [a, b] = [rgb(getComputedStyle(e).color).slice(0, 3), back(e)].map(light);
      return (Math.max(a, b) + .05) / (Math.min(a, b) + .05) })) })()"""


@needs_chromium
@pytest.mark.parametrize("dark", [False, True])
def test_it_is_read_in_the_light_and_in_the_dark(quiet, tmp_path, dark):
    quiet.open(page(tmp_path, "cluster", "-", stdin=ONE + AGAIN + OTHER).as_uri(), dark=dark)
    quiet.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    back = quiet.run("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", back))) < 300) == dark
    assert quiet.run(CONTRAST) >= 4.5


@needs_chromium
def test_three_hundred_patches(quiet, tmp_path):
    draw = Random(7)
    words = [f"w{at}" for at in range(400)]

    def line():
        return " ".join(draw.choices(words, k=8)) + ";"

    mails = []
    for at in range(100):
        lines = [line() for _ in range(6)]
        for version in range(1, 4):
            again = [*lines[:-1], line()]
            mails.append(mail(f"[PATCH v{version}] change {at}", *again, path=f"f{at}.c"))
    path = page(tmp_path, "cluster", "-", stdin="".join(mails))
    quiet.open(path.as_uri())
    assert quiet.run("document.querySelectorAll('article.card').length") == 100
    assert quiet.run("document.querySelectorAll('details').length") == 200
    assert quiet.run("document.querySelectorAll('svg.matrix').length") == 100
    for width in (1280, 400):
        quiet.call("Emulation.setDeviceMetricsOverride", width=width, height=800,
                   deviceScaleFactor=1, mobile=False)  # fmt: skip
        assert quiet.run("document.documentElement.scrollWidth") <= width
