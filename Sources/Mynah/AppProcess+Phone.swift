import MynahCore
import MynahLifecycle

// The effects of a restarted or locked phone on an app.
extension AppProcess {
    /// The Bluetooth state of its managers changed, although that of the phone did not.
    func bluetoothChanged() {
        let state = bluetoothState(ports.states.phone)
        for manager in managers { manager.note(.stateChanged(state)) }
        radioStateChanged(to: ports.states.phone)
        centralStateChanged(to: ports.states.central)
        request(.stateChanged)
    }

    /// The phone restarted and waits to be unlocked, or its user has unlocked it.
    ///
    /// While it waits, the system works for no app.
    func setAwaitsUnlock(_ awaits: Bool, in central: PhoneCentral) {
        awaitsUnlock = awaits
        // The links are about to end with the phone, and their devices are waited for.
        if awaits {
            central.connections.change {
                $0.powerLost(keepingFor: central.memory.keeps, links: { _ in true }, into: &$1)
            }
        }
        bluetoothChanged()
    }
}

extension AppAccess {
    /// The phone restarts, which ends the app if it is in memory, and removes its alerts.
    package func restart() {
        look { app, phone in
            app.handle(.phoneRestarted)
            phone.central.alerts.restarted(app)
        }
    }

    /// From now on no event launches the app, unless it runs; returns whether one could until now.
    ///
    /// The user's next launch of the app restores nothing either.
    package func forbidRelaunch() -> Bool {
        look { app, phone in
            defer {
                app.handle(.relaunchForbidden)
                // The state that an earlier process preserved may not have been loaded.
                if [.notRunning, .terminated].contains(app.state) {
                    for name in app.preservedNames { phone.files.remove(name) }
                }
            }
            return app.isKept
        } ?? false
    }

    /// Whether the system works for it although it has ended.
    package var isKept: Bool { look { app, _ in app.isKept } ?? false }

    /// The phone waits for its first unlock after a restart, or no longer does.
    package func setAwaitsUnlock(_ awaits: Bool) {
        look { app, phone in app.setAwaitsUnlock(awaits, in: phone.central) }
    }
}
