import MynahCore
import MynahLifecycle

// The effects of a restarted or locked phone on an app.
extension AppProcess {
    /// Reports a new Bluetooth state of the app's managers, although the phone's own state did not change.
    func bluetoothChanged() {
        let state = bluetoothState(ports.states.phone)
        for manager in managers { manager.note(.stateChanged(state)) }
        radioStateChanged(to: ports.states.phone)
        centralStateChanged(to: ports.states.central)
        request(.stateChanged)
    }

    /// Sets whether the phone waits for its first unlock after a restart.
    ///
    /// While it waits, the system scans, advertises and connects for no app.
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
    /// Ends the app because the phone restarts, and removes its alerts.
    package func restart() {
        look { app, phone in
            app.handle(.phoneRestarted)
            phone.central.alerts.restarted(app)
        }
    }

    /// Forbids events to launch the app if it does not run; returns whether one could have until now.
    ///
    /// When the user launches the app the next time, it restores nothing either.
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

    /// Whether the system still works for the app although it has ended.
    package var isKept: Bool { look { app, _ in app.isKept } ?? false }

    /// Sets whether the phone waits for its first unlock after a restart.
    package func setAwaitsUnlock(_ awaits: Bool) {
        look { app, phone in app.setAwaitsUnlock(awaits, in: phone.central) }
    }
}
