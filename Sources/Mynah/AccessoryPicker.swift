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
            _ = phone.run { [app] phone in phone.memory.app(app)?.picker?.handle(event, of: app, on: phone) }
            return .none
        }
    }

    private let manager: CentralManagerState
    private let accepts: @Sendable (AdvertisementData) -> Bool
    let end: @Sendable (AccessoryPick) -> Void
    private var alarm: Task<Void, Never>?

    init(
        of app: AppProcess, _ accepts: @escaping @Sendable (AdvertisementData) -> Bool,
        then end: @escaping @Sendable (AccessoryPick) -> Void, on phone: isolated Phone
    ) {
        self.accepts = accepts
        self.end = end
        let (link, number) = (PhoneLink(phone), app.number)
        manager = CentralManagerState(
            number: phone.memory.nextNumber(), state: phone.central.memory.radioState, options: .init(),
            sink: Link(phone: link, app: number))
        // As fast as an app on the screen scans.
        let options = ScanOptions(interval: .milliseconds(40), window: .milliseconds(30))
        manager.startScan(.init(services: [], options: options, mode: .foreground))
        phone.central.memory.managers.append(manager)
        phone.central.scanner.update()
        alarm = link.enqueue(at: app.clock.now.advanced(by: Self.timeout), on: app.clock) {
            $0.memory.app(number)?.closePicker(.notFound, on: $0)
        }
    }

    /// Stops its scan.
    func close(on phone: isolated Phone) {
        stop()
        phone.central.end(manager, on: phone)
    }

    /// The phone stops, and its scan with it.
    func stop() { alarm?.cancel() }

    private func handle(_ event: CentralManagerEvent, of app: UInt64, on phone: isolated Phone) {
        switch event {
        case .discovered(let found) where accepts(found.advertisement):
            let peripheral = found.peripheral
            phone.memory.app(app)?.closePicker(
                .picked(peripheral.identifier, peripheral.address, name: found.advertisement.localName),
                on: phone)
        case .stateChanged(let state) where state != .poweredOn:
            phone.memory.app(app)?.closePicker(.poweredOff, on: phone)
        // The phone gives its warnings to the managers of programs.
        case .warning(let warning): phone.reports.report(.warning(warning))
        default: break
        }
    }
}
