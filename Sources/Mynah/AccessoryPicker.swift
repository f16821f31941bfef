package import MynahCore
package import MynahLifecycle
import MynahSupport

/// The end of a picker of AccessorySetupKit.
package enum AccessoryPick: Sendable {
    /// A device was heard that is meant, with the name that it advertises.
    case picked(PeripheralIdentifier, DeviceAddress, name: String?)
    /// None was heard in time.
    case notFound
    /// Bluetooth was turned off.
    case poweredOff
    /// The app has ended.
    case ended
}

/// The picker of AccessorySetupKit: the system scans, and the app hears only of the device that its user
/// picks.
///
/// The user picks the first device that is meant. The picker's scan is that of a central manager that no app
/// has made. It belongs to its app, and runs on the phone's executor.
final class AccessoryPicker {
    /// The time for finding a device ("Default is 30 seconds", ASPickerDisplaySettings.discoveryTimeout).
    static let timeout: Duration = .seconds(30)

    /// Leads the events of the scan to the picker of an app.
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
        // As fast as an app on the screen scans.
        let options = ScanOptions(interval: .milliseconds(40), window: .milliseconds(30))
        manager.startScan(.init(services: [], options: options, mode: .foreground))
        central.memory.managers.append(manager)
        central.scanner.update()
        alarm = work.tell(
            .app(app.number, .pickerTimedOut), at: app.clock.now.advanced(by: Self.timeout), on: app.clock)
    }

    /// Stops its scan.
    func close() {
        stop()
        work.tell(.end(manager.key))
    }

    /// The phone stops, and its scan with it.
    func stop() { alarm?.cancel() }
}
