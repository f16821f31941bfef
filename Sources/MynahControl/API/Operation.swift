/// The operation of a request.
enum Operation: String, CaseIterable, Sendable {
    case getInstance, getHealth, getOpenAPI, getMetrics, getReport
    case getClock, advanceClock
    case listDevices, addDevice, getDevice, removeDevice
    case getLayout, getValue, setValue, setVariable
    case disconnect, forget, advertise, setAppState, enterPasskey, alert, typeText
    case listFaults, addFault, turnFault, removeFault
    case playScenario
    case answerRequest
    case listEvents, mark, wait, verify, reset

    /// `true` if the operation concerns the devices or their time.
    var takesPart: Bool {
        switch self {
        case .getHealth, .getOpenAPI, .getMetrics: false
        default: true
        }
    }
}
