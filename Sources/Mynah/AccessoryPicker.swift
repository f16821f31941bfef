package import MynahCore
package import MynahLifecycle
import MynahSupport

/// The result of an AccessorySetupKit picker.
package enum AccessoryPick: Sendable {
    /// The user picked a device that matches.
    ///
    /// `name` is the name that the device advertises.
    case picked(PeripheralIdentifier, DeviceAddress, name: String?)
    /// No matching device was heard before the timeout.
    case notFound
    /// Bluetooth was turned off while the picker was open.
    case poweredOff
    /// The app ended while its picker was open.
    case ended
}

/// An AccessorySetupKit picker: the system scans, and the app learns only of the device that its user picks.
///
/// The simulated user picks the first device that matches. The picker scans through a central manager of its
/// own, which the app does not see. The picker belongs to its app, and runs on the phone's executor.
final class AccessoryPicker {
    /// The time for finding a device ("Default is 30 seconds", ASPickerDisplaySettings.discoveryTimeout).
    static let timeout: Duration = .seconds(30)

    /// Passes the events of the picker's scan on to the app.
    private struct Link: CentralManagerSink {
        let phone: PhoneLink
        let app: UInt64

        func handle(_ event: CentralManagerEvent) -> RadioAnswer {
            _ = phone.run { [app] phone in phone.memory.app(app)?.accessories.pickerReceived(event) }
            return .none
        }
    }

    private let manager: CentralManagerState
    private let work: PhoneWork
    let accepts: @Sendable (AdvertisementData) -> Bool
    let end: @Sendable (AccessoryPick) -> Void
    private var alarm: Task<Void, Never>?

    init(
        of app: AppProcess, _ accepts: @escaping @Sendable (AdvertisementData) -> Bool,
        then end: @escaping @Sendable (AccessoryPick) -> Void, in central: PhoneCentral
    ) {
        self.accepts = accepts
        self.end = end
        work = app.ports.work
        manager = CentralManagerState(
            number: central.nextNumber(), state: central.memory.radioState, options: .init(),
            sink: Link(phone: work.link, app: app.number))
        // The picker scans like an app in the foreground.
        let options = ScanOptions(interval: .milliseconds(40), window: .milliseconds(30))
        manager.startScan(.init(services: [], options: options, mode: .foreground))
        central.memory.managers.append(manager)
        central.scanner.update()
        alarm = work.tell(
            .app(app.number, .pickerTimedOut), at: app.clock.now.advanced(by: Self.timeout), on: app.clock)
    }

    /// Stops the picker's scan.
    func close() {
        stop()
        work.tell(.end(manager.key))
    }

    /// Cancels the picker's timeout because the phone stops.
    func stop() { alarm?.cancel() }
}
