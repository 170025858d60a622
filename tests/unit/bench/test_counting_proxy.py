"""What the proxy reads off Postgres's wire."""

from local.bench.counting_proxy import Session, Wire


def message(kind: str, body: bytes) -> bytes:
    return kind.encode() + (len(body) + 4).to_bytes(4) + body


def query(text: str) -> bytes:
    return message("Q", text.encode() + b"\0")


def prepared(text: str, times: int = 1) -> bytes:
    execute = message("B", b"\0\0") + message("E", b"\0" * 5)
    return message("P", b"\0" + text.encode() + b"\0\0\0") + execute * times + message("S", b"")


def started() -> tuple[Wire, Session]:
    wire = Wire()
    session = Session(wire)
    session.client_spoke((8).to_bytes(4) + b"\0\x03\0\0")
    session.server_spoke()
    return wire, session


def test_simple_and_prepared_statements_are_counted_by_their_text() -> None:
    wire, session = started()
    session.client_spoke(query("BEGIN") + prepared("select set_config('app.tenant', $1, true)") + query(""))
    session.client_spoke(prepared("insert into turns values ($1)", times=3))
    assert wire.statements == {"housekeeping": 3, "work": 3}


def test_a_message_may_come_in_pieces() -> None:
    wire, session = started()
    whole = query("select 1")
    session.client_spoke(whole[:3])
    session.client_spoke(whole[3:7])
    assert wire.statements.total() == 0
    session.client_spoke(whole[7:])
    assert wire.statements == {"work": 1}


def test_a_round_trip_begins_when_the_client_speaks_after_the_server() -> None:
    wire, session = started()
    session.client_spoke(query("begin"))
    session.client_spoke(query("select 1"))
    assert wire.round_trips == 1
    session.server_spoke()
    session.server_spoke()
    session.client_spoke(query("commit"))
    assert wire.round_trips == 2


def test_the_startup_message_is_no_statement_and_no_round_trip() -> None:
    wire, _ = started()
    assert (wire.statements.total(), wire.round_trips) == (0, 0)


def test_a_reset_forgets_what_was_counted() -> None:
    wire, session = started()
    session.client_spoke(query("select 1"))
    wire.reset()
    assert (wire.statements.total(), wire.round_trips, wire.connections) == (0, 0, 0)
