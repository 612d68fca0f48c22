"""Never the same code if they print different things: pairs of programs that are executed.

A program is drawn, and a mutant of it: most mutants move white space, quotes, comments, imports and
parentheses, as somebody does who says the same in another way; some of them say something else.
"""

import contextlib
import io
import random
import shutil
import subprocess
import textwrap
import warnings

import pytest

from excise import level
from excise.agreement import CODE

PYTHON = [
    'print(f"{n:02}", f"{n: 02}|{n:>{w}}")',
    'print(f"{n!r:>{w}} {n:{w}.1f}", f"""a\n\n{n}\nb""")',
    'print("""one\n\n  two\n three""", \'a  b\')',
    "print('''x\n\n\ny''', r'a\\b', b'a  b', 'it''s')",
    'print("a\\\n\nb", "c\\\n  d", (1,), [1, 2, ])',
    "if n > 1:\n    print('big')\nelse:\n    print('small')",
    "for i in range(2):\n    x = i\n    print(i)\nprint(x)",
    "def f(a, b=2):\n    '''doc'''\n    # note\n    return a \\\n        + b\nprint(f(n))",
    "import os.path\nimport os as path\nprint(path.__name__)",
    "from math import floor as up\nfrom math import ceil as up\nprint(up(1.5))",
    "import json\nimport math\nprint(json.dumps([1]), math.pi)",
    "class A:\n    x = 1\n\n    def g(self):\n        return (self.x)\nprint(A().g())",
    "print(1 + 2 * 3, (1 + 2) * 3, not (n == 1), 1.0, 1, 0x10)",
    "s = '''#\n\n#'''\nprint(s, len(s))",
    "with open(__import__('os').devnull) as h:\n    pass\nprint(h.closed)",
    "try:\n    print(1 / 0)\nexcept ZeroDivisionError:\n    print('zero')",
    "print(*[k for k in 'a b'.split( ' ')], sep='\\n\\n')",
    "print('a' 'b'\n      '  c')",
]
SHELL = [
    "cat <<E\na\n\n  $x b\nE",
    "cat <<-'E'\n\ta $x\n\n\tb\n\tE",
    "echo a \\\n  b",
    "echo 'a\n\n b' \"$x  \n\ny\"",
    "if true; then\n  echo yes\nfi",
    "f() {\n  echo $1\n}\nf 'a  b'",
    "for i in 1 2; do echo $i; done",
    "echo a\\ b \\\\ c # note",
    "printf '%s|' a  b\necho",
    "case $x in\n  1) echo one ;;\n  *) echo other ;;\nesac",
]
SCRIPT = [
    "console.log(`a\n\n${n}  ${n}\nb`)",
    "console.log('a  b', \"it's\", /a  b/.source)",
    "if (n > 0) {\n  console.log(1);\n}\nelse console.log(2)",
    "function f(a) {\n  return (a + 1)\n}\nconsole.log(f(n), [1, , 2].length, [1, 2, ].length)",
    "console.log(`${n}\\\n\n${n}`, 'a\\\nb')",
    "let o = {a: 1, 'b c': 2}; // note\nconsole.log(o['b c'], o)",
    "console.log((1, 2), 1 + +1, 1 - -1, !(n > 1))",
]


def mutated(chance: random.Random, text: str, comment: str) -> str:
    """Change a text once: a blank line, a blank, a quote, a bracket, a comment, two lines."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    line = lines[at]
    kind = chance.randrange(9)
    spaces = [place for place, char in enumerate(line) if char == " "]
    if kind == 0:
        lines.insert(at, "")
    elif kind == 1 and "" in lines:
        lines.remove("")
    elif kind == 2 and spaces:
        place = chance.choice(spaces)
        lines[at] = line[:place] + chance.choice(["", "  "]) + line[place + 1 :]
    elif kind == 3:
        lines[at] = line + chance.choice([" ", "  " + comment, ""])
    elif kind == 4:
        place = chance.randrange(len(line) + 1)
        lines[at] = line[:place] + " " + line[place:]
    elif kind == 5:
        lines[at] = line.translate(str.maketrans("'\"", "\"'"))
    elif kind == 6 and at + 1 < len(lines):
        lines[at : at + 2] = lines[at + 1], line
    elif kind == 7 and at + 1 < len(lines):
        lines[at : at + 2] = [line + " " + lines[at + 1].lstrip()]
    else:
        lines[at] = line.replace("(", "((", 1).replace(")", "))", 1)
    return "\n".join(lines)


def drawn(chance: random.Random, parts: list[str], head: str, comment: str) -> tuple[str, str]:
    program = head + "\n".join(chance.sample(parts, 3)) + "\n"
    other = program
    for _ in range(chance.randint(1, 2)):
        other = mutated(chance, other, comment)
    return program, other


def by_python(text: str) -> str:
    out = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(out):
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, "program", "exec"), {"__name__": "p"})
        except Exception as error:  # noqa: BLE001 - what it prints is compared, and how it ends
            return f"{out.getvalue()}{type(error).__name__}"
    return out.getvalue()


def by_command(*command: str):
    def run(text: str) -> str:
        done = subprocess.run(
            [*command], input=text, capture_output=True, text=True, timeout=20, check=False
        )
        return f"{done.stdout}{done.returncode}"

    return run


WAYS = {
    "python": (PYTHON, "n, w = 3, 6\n", "# c", by_python, 500),
    "bash": (SHELL, "x=1\n", "# c", by_command("sh"), 60),
    "javascript": (SCRIPT, "const n = 3;\n", "// c", by_command("node", "-"), 12),
}


@pytest.mark.parametrize("grammar", WAYS)
def test_no_two_programs_of_one_code_print_different_things(grammar):
    parts, head, comment, run, pairs = WAYS[grammar]
    if grammar == "javascript" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    chance = random.Random(45)
    same = different = 0
    while same + different < pairs:
        a, b = drawn(chance, parts, head, comment)
        found = level("", a, b, language=grammar)
        if found is None or found.word != CODE:
            different += 1  # nothing is claimed
            continue
        same += 1
        assert run(a) == run(b), textwrap.indent(f"{a}\n---- and\n{b}", "  ")
    assert same > pairs / 10
    assert different > pairs / 10
