import MynahCore
import MynahLifecycle

/// The parts of a phone that its apps use directly.
///
/// Each app passes all its other requests to `work`, as values that the phone carries out.
struct AppPorts {
    let radio: any PeripheralRadio
    let reports: PhoneReports
    let files: PhoneFiles
    let work: PhoneWork
    /// The Bluetooth states of the phone.
    let states: RadioStates
    /// The phone's table of centrals, for their names in reports of refused requests.
    let centrals: CentralTable

    init(_ common: PhoneCommon) {
        (radio, reports, files, work) = (common.radio, common.reports, common.files, common.work)
        (states, centrals) = (common.memory.states, common.memory.centrals)
    }

    /// Whether Bluetooth is on; `false` as soon as the radio is off, even before the radio reports that.
    var isOn: Bool {
        states.phone == .poweredOn && PhoneControl.ask(radio) { $0.isOn } != false
    }
}

/// The Bluetooth states that the radio reported last for a phone's peripheral role and central role.
final class RadioStates {
    var phone = RadioState.unknown
    var central = RadioState.unknown
}
