"""The server on a local port: one client, this machine only."""

import json
import re
import socket

import pytest
from tests.server.raw_client import TIMEOUT, RawClient

pytestmark = pytest.mark.slow


def exchange(stream, message: dict) -> dict:
    body = json.dumps(message).encode()
    stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    stream.flush()
    length = int(stream.readline().split(b":")[1])
    assert stream.readline() == b"\r\n"
    return json.loads(stream.read(length))


def port_of(client: RawClient) -> int:
    found = re.search(r"listening on 127\.0\.0\.1:(\d+)", client.next_log_line())
    assert found
    return int(found[1])


def test_one_client_is_served_and_a_second_refused():
    with RawClient("--tcp", "0") as server:
        port = port_of(server)
        with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as connection:
            stream = connection.makefile("rwb")
            params = {"processId": None, "rootUri": None, "capabilities": {}}
            answer = exchange(
                stream, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
            )
            assert answer["result"]["serverInfo"]["name"] == "excise"
            with pytest.raises(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
            answer = exchange(stream, {"jsonrpc": "2.0", "id": 2, "method": "shutdown"})
            assert answer["result"] is None
            body = b'{"jsonrpc": "2.0", "method": "exit"}'
            stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            stream.flush()
            assert server.process.wait(timeout=TIMEOUT) == 0


def test_a_client_that_vanishes_ends_the_server():
    with RawClient("--tcp", "0") as server:
        socket.create_connection(("127.0.0.1", port_of(server)), timeout=TIMEOUT).close()
        assert server.process.wait(timeout=TIMEOUT) == 1
