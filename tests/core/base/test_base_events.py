"""Pause and cancel."""

import threading

import pytest

from core.base.errors import Cancelled, KnownError, LibraryLocked, known_error
from core.base.events import Control


def test_check_waits_while_paused_and_raises_when_cancelled():
    control = Control()
    control.check()
    control.pause()
    passed = threading.Event()

    def work():
        control.check()
        passed.set()

    thread = threading.Thread(target=work)
    thread.start()
    assert not passed.wait(0.1)
    control.resume()
    assert passed.wait(5)
    thread.join()
    control.cancel()
    with pytest.raises(Cancelled):
        control.check()


def test_cancel_ends_a_pause():
    control = Control()
    control.pause()
    control.cancel()
    with pytest.raises(Cancelled):
        control.check()


def test_a_known_error_keeps_its_kind_over_a_pipe():
    error = LibraryLocked("busy", "wait")
    back = known_error(error.code, error.message, error.advice)
    assert type(back) is LibraryLocked
    assert (back.message, back.advice) == ("busy", "wait")
    assert type(known_error("no such code", "m")) is KnownError
