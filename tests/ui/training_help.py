"""Training a model in a test's window."""


def train(qtbot, session, kind: str, **parameters) -> str:
    """Add a model, train it and wait for its end; its run id."""
    document = session.document
    run_id = document.add_run(kind)
    document.select_run(run_id)
    for name, value in parameters.items():
        document.set_parameter(run_id, name, value)
    with qtbot.waitSignal(session.trainer.ended, timeout=120_000):
        assert session.trainer.train(run_id), document.messages
    assert document.run(run_id).state in ("done", "stopped"), document.run(run_id).error
    return run_id
