"""The lines of a hunk, counted in Python: what `excise.kernels._diff` is held against."""

DOUBTFUL = (b"---", b"-- ", b"--", b"--\r")


def body(lines, start, old, new, ends_early):
    """Return the text, the line behind it, how many are missing, and whether images are open."""
    taken, opened = [], set()
    at, end = start + 1, len(lines)
    while (old or new) and at < end:
        line = lines[at]
        kind = line[:1]
        if kind == b"+" and new:
            new -= 1
        elif kind == b"-" and old:
            if line[:3] in DOUBTFUL and ends_early(at, old, new):
                break
            old -= 1
        elif (kind == b" " or line in (b"", b"\r")) and old and new:
            if at == end - 1 and not line:
                break
            old, new = old - 1, new - 1
            line = line if kind == b" " else b" " + line
        elif kind == b"\\":
            opened.update(last[:1] for last in taken[-1:])
            at += 1
            continue
        else:
            break
        taken.append(line)
        at += 1
    if at < end and lines[at].startswith(b"\\ ") and taken:
        opened.add(taken[-1][:1])
        at += 1
    are_open = bool(opened & {b" ", b"-"}), bool(opened & {b" ", b"+"})
    return b"\n".join(taken), at, old, new, *are_open
