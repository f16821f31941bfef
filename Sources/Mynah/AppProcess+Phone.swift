import MynahCore
import MynahLifecycle

// The effects of a restarted or locked phone on an app.
extension AppProcess {
    /// Reports the app's Bluetooth state to its managers, after a change that the radio did not cause.
    func bluetoothChanged() {
        let state = condition.bluetoothState(ports.states.phone)
        for manager in managers { manager.note(.stateChanged(state)) }
        radioStateChanged(to: ports.states.phone)
        centralStateChanged(to: ports.states.central)
        request(.stateChanged)
    }

    /// Sets whether the phone waits for its first unlock after a restart.
    ///
    /// While it waits, the system scans, advertises and connects for no app.
    func setAwaitsUnlock(_ awaits: Bool, in central: PhoneCentral) {
        condition.awaitsUnlock = awaits
        // The links end when the phone restarts, and the phone then waits for their devices.
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

    /// Prevents events from relaunching the app until the user launches it.
    ///
    /// Returns `true` if events could relaunch it before. The user's next launch restores no state.
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

    /// `true` if the app has ended and the system still scans, advertises or connects for it.
    package var isKept: Bool { look { app, _ in app.isKept } ?? false }

    /// Sets whether the phone waits for its first unlock after a restart.
    package func setAwaitsUnlock(_ awaits: Bool) {
        look { app, phone in app.setAwaitsUnlock(awaits, in: phone.central) }
    }
}
