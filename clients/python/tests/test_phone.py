"""Notifications of a phone."""

import pytest

from mynah import Problem

APP = {"mynah": 1, "name": "App", "app": {}, "phone": {"name": "Anna", "services": ["ancs"]}}


def test_notifications_are_shown_and_removed(mynah):
    app = mynah(APP)
    assert app.alert("Hello", title="Bob", negativeAction="Clear") == 1
    assert app.alert("Bye", uid=1) == 1
    app.remove_alert(1)
    with pytest.raises(Problem):
        app.remove_alert(1)
