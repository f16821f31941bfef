"""An app that opens a lock, whose link is dropped."""


def test_the_app_opens_the_lock_again_after_the_link_was_dropped(mynah):
    lock = mynah("lock.yaml")
    mynah("phone-lock-app.yaml")
    mynah.wait("write device=Lock value=01", within=30)

    mynah.mark("dropped")
    lock.disconnect()
    mynah.wait("write device=Lock value=01", within=30)
    mynah.verify(order=["central.disconnected", "central.connected", "write device=Lock value=01"])
