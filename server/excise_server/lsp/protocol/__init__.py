"""The custom methods: names, parameters, results. docs/lsp-extensions.md is their contract.

A test compares every class here with the table of the same name in that document. `make schema`
writes the types of the VS Code client from them. Names on the wire are camelCase as in all of the
protocol, except the clusters, which have the shape of the command's JSON.
"""

from __future__ import annotations

from excise_server.lsp.protocol.actions import *
from excise_server.lsp.protocol.candidates import *
from excise_server.lsp.protocol.conversion import *
from excise_server.lsp.protocol.methods import *
from excise_server.lsp.protocol.reports import *
from excise_server.lsp.protocol.review import *
from excise_server.lsp.protocol.revisions import *
from excise_server.lsp.protocol.sources import *
