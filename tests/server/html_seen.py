"""What every HTML page of ours must be: well formed, without scripts, with links that lead."""

import base64
import hashlib
import re
from html.parser import HTMLParser

VOID = {"meta", "img", "br"}


class Seen(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.ids: list[str] = []
        self.feed(text)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def check_page(text: str) -> Seen:
    """Check what holds for every page; return what it is made of."""
    assert text.startswith("<!doctype html>\n")
    (style,) = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', text)
    assert policy.startswith("default-src &#x27;none&#x27;")
    assert f"style-src &#x27;sha256-{digest}&#x27;" in policy
    assert text.index("Content-Security-Policy") < text.index("<style>")
    seen = Seen(text)
    assert not {"script", "iframe", "object", "form", "link", "base"} & set(seen.tags)
    names = {name for _, name, _ in seen.attributes}
    assert not [name for name in names if name.startswith("on") or name == "style"]
    for tag, name, value in seen.attributes:
        if name == "href":
            assert value[0] == "#"
            assert value[1:] in seen.ids
        if name == "src":
            assert value.startswith("data:image/png;base64,")
            assert (tag, "alt") in {(t, n) for t, n, _ in seen.attributes}
    assert len(seen.ids) == len(set(seen.ids))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", text)
    return seen
