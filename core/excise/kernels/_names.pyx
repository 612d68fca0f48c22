"""The names of a parsed text: the walk of its tree. What types and fields say is in `excise.names`.

The whole tree is walked, or only what touches some lines. The runtime that made it is the
binding's, so that each look at a node is an attribute of an object.
"""
from libc.stdint cimport int32_t

import re

from excise.names import FIELDS, NameRole, NameScope, ScopedName, kind_of

cdef extern from "Python.h":
    object PyUnicode_DecodeUTF8(const char* text, Py_ssize_t size, const char* errors)

cdef enum:
    # What a node is, by its type: as in `excise.names.kind_of`.
    FUNCTION = 1 << 0
    CLASS = 1 << 1
    SCOPE = 1 << 2
    NAME = 1 << 3
    IMPORTS = 1 << 4
    NO_NAMES = 1 << 5
    BODILESS = 1 << 6
    KEYED = 1 << 7
    ASSIGNS = 1 << 8
    DECLARES = 1 << 9
    READS = 1 << 10
    FIELD_ONLY = 1 << 11
    ENUM = 1 << 12
    ALIASED = 1 << 13
    PATTERN = 1 << 14
    KEYWORD_ARGUMENT = 1 << 15
    EXPRESSION = 1 << 16
    TYPE_IDENTIFIER = 1 << 17
    MACRO_TEXT = 1 << 18
    IMPORT_SPEC = 1 << 19
    ERROR = 1 << 20
    DOT = 1 << 21
    # What a field says of the node in it: as in `excise.names.FIELDS`.
    NO_FIELD = 0
    IN_PARAMETERS = 1
    IN_NAME = 2
    IN_DECLARATOR = 3
    IN_LEFT = 4
    IN_VALUE = 5
    IN_MEMBER = 6
    IN_PATH = 7
    IN_OTHER = 8
    # What is done with names: as `excise.names.NameRole`.
    READ = 0
    BIND = 1
    PARAMETER = 2
    ASSIGN = 3
    IMPORT = 4
    PATH = 5
    MEMBER = 6
    KEYWORD = 7
    DEEPEST = 50     # most scopes in each other: a deeper one counts as the last of them
    LONGEST = 200    # most bytes on either side of a line that names a scope: it can be endless

cdef tuple _ROLES = tuple(NameRole)
_new = tuple.__new__    # as `ScopedName` itself does, in half of the time
_WORD = re.compile(r"[^\W\d]\w*")
_VERSION = re.compile(r"/v\d+$|\.v\d+$")


cdef inline bint is_passed_on(int role) noexcept:
    return BIND <= role <= ASSIGN


cdef class Frame:
    """A node above the one that is looked at.

    - `role`: what its children inherit.
    - `name_start`: the byte where the name of the nearest scope starts, which is bound around it.
    - `before`: the type of the child before, and `before_kind` what it is.
    """
    cdef object node, scope
    cdef str type, before
    cdef int kind, role, before_kind
    cdef Py_ssize_t name_start


cdef Frame frame_of(node, str node_type, int kind, scope, int role, Py_ssize_t name_start):
    cdef Frame frame = Frame.__new__(Frame)
    frame.node, frame.type, frame.kind, frame.scope = node, node_type, kind, scope
    frame.role, frame.name_start = role, name_start
    frame.before, frame.before_kind = "", 0
    return frame


cdef class NameWalk:
    """One walk; see `walk_names`."""
    cdef bytes data
    cdef const char* text
    cdef Py_ssize_t size
    cdef const int32_t[::1] starts    # of lines
    cdef const int32_t[::1] within    # of lines to look at, flat: the first, and one past the last
    cdef bint whole
    cdef dict known
    cdef dict types     # by its number, the name of a type and what nodes of it are
    cdef dict fields    # by its number, what a field says
    cdef list names

    cdef Py_ssize_t line_of(self, Py_ssize_t byte) noexcept:
        cdef Py_ssize_t low = 0, high = self.starts.shape[0] - 1, middle
        while low + 1 < high:
            middle = (low + high) >> 1
            if self.starts[middle] <= byte:
                low = middle
            else:
                high = middle
        return low

    cdef bint touches(self, Py_ssize_t start, Py_ssize_t end) noexcept:
        """Whether the lines from a byte to another, the last one included, are looked at."""
        cdef Py_ssize_t low = 0, high, middle
        if self.whole:
            return True
        high = self.within.shape[0] >> 1
        while low < high:  # the first stretch that starts behind
            middle = (low + high) >> 1
            if self.starts[self.within[2 * middle]] <= end:
                low = middle + 1
            else:
                high = middle
        return low > 0 and self.starts[self.within[2 * low - 1]] > start

    cdef Py_ssize_t line_start(self, Py_ssize_t byte):
        """Return where the line of a byte starts, within a limit."""
        cdef Py_ssize_t least = max(byte - LONGEST, 0)
        return self.data.rfind(b"\n", least, byte) + 1 or least

    cdef str text_of(self, Py_ssize_t start, Py_ssize_t stop):
        stop = min(stop, self.size)
        return PyUnicode_DecodeUTF8(self.text + start, max(stop - start, 0), "replace")

    cdef int walk(self, cursor, int field, Frame outermost) except -1:
        """Collect the names of the node of a cursor, which is in a field of the node above."""
        cdef list frames = [outermost]
        cdef Frame above = outermost
        cdef bint is_top = True, goes_below, is_part, is_leaf
        cdef int kind, role
        cdef str node_type
        cdef tuple of_type
        cdef Py_ssize_t start
        while True:
            node = cursor.node
            number = node.kind_id
            of_type = self.types.get(number)
            if of_type is None:
                node_type = node.type
                self.types[number] = of_type = node_type, kind_of(node_type)
            node_type, kind = <str>of_type[0], of_type[1]
            goes_below, role = False, READ
            if not is_top:
                number = cursor.field_id
                if number is None:
                    field = NO_FIELD
                elif (said := self.fields.get(number)) is not None:
                    field = said
                else:
                    self.fields[number] = field = FIELDS.get(cursor.field_name, IN_OTHER)
            is_part = (
                self.known is not None and not is_top
                and (kind & FUNCTION or (len(frames) == 2 and not outermost.type))
                and node.is_named and not above.scope.is_within_function
            )
            if is_part:
                self.part(node, field, above)
            else:
                start = node.start_byte
                is_leaf = not node.child_count
                if is_leaf and not kind & (NAME | MACRO_TEXT | IMPORT_SPEC):
                    pass  # as most are: punctuation
                elif self.whole or self.touches(start, node.end_byte):
                    role = self.role(node, node_type, kind, field, above)
                    goes_below = not is_leaf and (self.whole or not kind & ERROR)
                    if is_leaf:
                        self.leaf(node, node_type, kind, role, start, above)
                    if kind & IMPORT_SPEC:
                        self.path(node, start, above)
            above.before, above.before_kind = node_type, kind
            is_top = False
            if goes_below and cursor.goto_first_child():
                above = self.below(node, node_type, kind, role, above)
                frames.append(above)
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return 0
                frames.pop()
                above = frames[len(frames) - 1]

    cdef int part(self, node, int field, Frame above) except -1:
        """Collect the names of a part, of which another version of the text may have told."""
        cdef Py_ssize_t start = node.start_byte, end = node.end_byte, first = self.line_of(start)
        cdef Py_ssize_t rest = self.data.find(b"\n", end, end + LONGEST)
        cdef list names = self.names, own
        cdef Py_ssize_t low = self.line_start(start)
        # With the rest of its lines, which may name a scope.
        key = (field, above.type, above.before, above.role, above.scope, start - low, end - low,
               self.data[low:rest if rest >= 0 else end + LONGEST])
        if key not in self.known:
            self.names = own = []
            self.walk(node.walk(), field, above)
            self.known[key] = [shifted(name, -first) for name in own]
            self.names = names
            names.extend(own)
        else:
            own = self.known[key]
            names.extend([shifted(name, first) for name in own])
        return 0

    cdef int path(self, node, Py_ssize_t start, Frame above) except -1:
        """Collect what an import of a path binds: its last part, without a version."""
        path = node.child_by_field_name("path")
        if path is None or node.child_by_field_name("name") is not None:
            return 0
        text = self.text_of(path.start_byte, path.end_byte).strip("\"`'")
        last = _VERSION.sub("", text).rpartition("/")[2]
        return self.push(self.line_of(start), above.scope, last, IMPORT)

    cdef int push(
        self, Py_ssize_t line, scope, str name, int role, bint is_member=False,
        bint is_plain=True,
    ) except -1:
        self.names.append(_new(ScopedName, (line, scope, name, _ROLES[role], is_member, is_plain)))
        return 0

    cdef Frame below(self, node, str node_type, int kind, int role, Frame above):
        """Return the frame of a node for its children, which may stand in a scope of their own."""
        cdef Py_ssize_t start, name_start = -1, line
        outer = above.scope
        if (
            not kind & SCOPE or not node.is_named or len(outer.path) >= DEEPEST
            or (kind & BODILESS and node.child_by_field_name("body") is None)
        ):
            return frame_of(node, node_type, kind, outer, role, above.name_start)
        name_node, declarator = node.child_by_field_name("name"), node
        while name_node is None and (inner := declarator.child_by_field_name("declarator")):
            declarator, name_node = inner, None if inner.child_count else inner
        name_node = name_node or node.child_by_field_name("type")
        start = node.start_byte
        if name_node is not None and node_type != "arrow_function":
            name_start = name_node.start_byte
            name = self.text_of(name_start, name_node.end_byte)
            if (receiver := node.child_by_field_name("receiver")) is not None:
                name += self.text_of(receiver.start_byte, receiver.end_byte)
        else:
            name = self.text_of(self.line_start(start), start + LONGEST).split("\n")[0].strip()
            line = self.line_of(start)
            if not self.whole and self.touches(self.starts[line], self.starts[line]):
                name += f"\n{line}"
        scope = NameScope(
            (*outer.path, name), outer, bool(kind & FUNCTION), bool(kind & CLASS),
            bool(kind & FUNCTION) or outer.is_within_function)
        return frame_of(node, node_type, kind, scope, READ, name_start)

    cdef int role(self, node, str node_type, int kind, int field, Frame above) except -1:
        """Return what is done with the names of a node, by its field and the node above."""
        cdef int inherited = above.role, binding
        if inherited == PATH or kind & NO_NAMES:
            return PATH if inherited == PATH or inherited == IMPORT else READ
        if inherited == IMPORT:
            return self.imported(field, above)
        if kind & IMPORTS:
            return IMPORT
        if field == NO_FIELD:
            return READ if kind & TYPE_IDENTIFIER and is_passed_on(inherited) else inherited
        if field == IN_PARAMETERS:
            return PARAMETER
        if field == IN_NAME and above.kind & KEYWORD_ARGUMENT:
            return KEYWORD
        binding = inherited if inherited == PARAMETER else BIND
        if field == IN_NAME:
            return READ if reads(node_type, above) else binding
        if field == IN_DECLARATOR:
            return binding
        if field == IN_LEFT:
            if above.kind & DECLARES:
                return binding
            return ASSIGN if above.kind & ASSIGNS else READ
        if field == IN_VALUE and above.kind & PATTERN:
            return inherited
        if field == IN_MEMBER and is_passed_on(inherited):
            owner = above.node.child(0)
            if owner is not None:
                if self.data[owner.start_byte:owner.end_byte] in (b"self", b"this", b"cls"):
                    return MEMBER
        return READ

    cdef int imported(self, int field, Frame above) except -1:
        """Return the role of a part of an import: what is named last, or its alias, is bound."""
        if field == IN_PATH:
            return PATH
        if field == IN_NAME and above.kind & ALIASED:
            if above.node.child_by_field_name("alias") is not None:
                return PATH
        return PATH if above.type == "dotted_name" and above.before == "." else IMPORT

    cdef int leaf(
        self, node, str node_type, int kind, int role, Py_ssize_t start, Frame above
    ) except -1:
        """Collect the names of a node without children."""
        cdef bint is_member, arrow
        cdef Py_ssize_t line
        cdef str name
        scope = above.scope
        if kind & MACRO_TEXT:
            return self.macro_text(self.text_of(start, node.end_byte), self.line_of(start), scope)
        if not kind & NAME or role == PATH or not node.is_named:
            return 0
        name = self.text_of(start, node.end_byte)
        line = self.line_of(start)
        if name == "_" or not self.touches(self.starts[line], self.starts[line]):
            return 0
        if role == MEMBER or role == KEYWORD:
            return self.push(line, scope, name, role, role == MEMBER)
        if role == IMPORT:
            return self.push(line, scope, name, role)
        if is_passed_on(role) and above.before_kind & DOT:
            return self.push(line, scope, name, MEMBER)
        if is_passed_on(role) and start == above.name_start and scope.outer is not None:
            return self.declared(line, scope.outer, name, above.kind)
        if role == BIND and above.kind & PATTERN and name[:1].isupper():
            return self.push(line, scope, name, READ)
        if role == BIND:
            return self.declared(line, scope, name, above.kind)
        if role == PARAMETER and not scope.is_function:
            return 0  # of a type or a prototype
        if is_passed_on(role):
            return self.push(line, scope, name, role)
        arrow = above.kind & EXPRESSION and above.before == "->"
        is_member = arrow or above.before_kind & DOT or node_type == "field_identifier"
        if is_member or above.kind & KEYED:  # or a variable: the grammar does not say
            self.push(line, scope, name, MEMBER)
        if not is_member:
            self.push(line, scope, name, READ)
        return 0

    cdef int macro_text(self, str text, Py_ssize_t line, scope) except -1:
        """Collect the words of a macro's text, which no grammar reads."""
        cdef Py_ssize_t own
        for match in _WORD.finditer(text):
            own = line + text.count("\n", 0, match.start())
            if self.touches(self.starts[own], self.starts[own]):
                self.push(own, scope, match[0], READ)
        return 0

    cdef int declared(self, Py_ssize_t line, scope, str name, int parent) except -1:
        """Collect a name that is declared in a scope, by what the node above is."""
        cdef bint is_class = scope.is_class
        cdef bint is_plain = is_class or not parent & FIELD_ONLY
        cdef bint is_member = is_class or not is_plain or parent & ENUM != 0
        return self.push(line, scope, name, BIND, is_member, is_plain)


cdef object shifted(name, Py_ssize_t lines):
    return _new(ScopedName, (name[0] + lines, *name[1:])) if lines else name


cdef bint reads(str node_type, Frame above) except -1:
    """Whether a field `name` is a name that the node above only reads."""
    if above.type == "field_pattern":
        return node_type == "field_identifier"
    if above.kind & BODILESS:
        return above.node.child_by_field_name("body") is None
    return above.kind & READS != 0


def walk_names(tree, bytes data not None, const int32_t[::1] starts not None,
               const int32_t[::1] within, dict known):
    """Return the names of a text, in the order of its tree.

    - `tree`: its ``tree_sitter.Tree``.
    - `data`: the text, encoded.
    - `starts`: the byte at which each line starts, and one past the end.
    - `within`: the lines to look at, flat, ascending and apart (from, to), or None for all. Broken
      parts are only looked at where the whole text is.
    - `known`: the names of parts of other texts of the grammar, or None; those of this text are
      added.
    """
    cdef NameWalk work = NameWalk.__new__(NameWalk)
    work.data = data
    work.text = data
    work.size = len(data)
    work.starts = starts
    work.whole = within is None
    work.within = within
    work.known = known
    work.names, work.types, work.fields = [], {}, {}
    root = tree.root_node
    work.walk(tree.walk(), NO_FIELD, frame_of(root, "", 0, NameScope(), READ, -1))
    return work.names
