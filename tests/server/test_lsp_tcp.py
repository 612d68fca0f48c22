"""The server on a local port: one client, who knows the token, on this machine only."""

import json
import re
import socket

import pytest
from tests.server.process_tree import DEADLINE
from tests.server.raw_client import RawClient

pytestmark = pytest.mark.slow


def sent(stream, message: dict) -> None:
    body = json.dumps(message).encode()
    stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    stream.flush()


def exchange(stream, message: dict) -> dict:
    sent(stream, message)
    length = int(stream.readline().split(b":")[1])
    assert stream.readline() == b"\r\n"
    return json.loads(stream.read(length))


def initialize(token: object) -> dict:
    options = {"token": token}
    params = {"processId": None, "capabilities": {}, "initializationOptions": options}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


def address_of(client: RawClient) -> tuple[tuple[str, int], str]:
    found = re.search(r"listening on (127\.0\.0\.1):(\d+), token (\S+)", client.next_log_line())
    assert found
    return (found[1], int(found[2])), found[3]


def test_one_client_is_served_and_a_second_refused():
    with RawClient("--tcp", "0") as server:
        address, token = address_of(server)
        with socket.create_connection(address, timeout=DEADLINE) as connection:
            stream = connection.makefile("rwb")
            answer = exchange(stream, initialize(token))
            assert answer["result"]["serverInfo"]["name"] == "excise"
            with pytest.raises(OSError):
                socket.create_connection(address, timeout=DEADLINE)
            answer = exchange(stream, {"jsonrpc": "2.0", "id": 2, "method": "shutdown"})
            assert answer["result"] is None
            sent(stream, {"jsonrpc": "2.0", "method": "exit"})
            assert server.process.wait(timeout=DEADLINE) == 0


def test_a_client_that_vanishes_ends_the_server():
    with RawClient("--tcp", "0") as server:
        address, token = address_of(server)
        with socket.create_connection(address, timeout=DEADLINE) as connection:
            exchange(connection.makefile("rwb"), initialize(token))
        assert server.process.wait(timeout=DEADLINE) == 1


HTTP = json.dumps(initialize("x")).encode()


HOSTILE = [
    b"",
    b"\0" * 3_000_000,
    b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(HTTP), HTTP),
    b"Content-Length: 2\r\n\r\n{}",
    b"Content-Length: 1000000000\r\n\r\n{",
    b"Content-Length: 4\r\n\r\nnull",
    *(
        b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        for token in (None, "", "x", 1, ["x"], "\ud800")
        for body in [json.dumps(initialize(token)).encode()]
    ),
]


def test_who_does_not_know_the_token_is_refused_and_the_next_one_served():
    with RawClient("--tcp", "0") as server:
        address, token = address_of(server)
        for hostile in HOSTILE:
            with socket.create_connection(address, timeout=DEADLINE) as connection:
                try:
                    connection.sendall(hostile)
                    connection.shutdown(socket.SHUT_WR)
                    assert connection.recv(1) == b""
                except OSError:
                    pass  # refused before all of it was read
            assert server.next_log_line() == "refused a connection without the token\n"
        with socket.create_connection(address, timeout=DEADLINE) as connection:
            answer = exchange(connection.makefile("rwb"), initialize(token))
            assert answer["result"]["serverInfo"]["name"] == "excise"
