/// The effect of a request.
enum Operation: String, CaseIterable, Sendable {
    case getInstance, getHealth, getOpenAPI, getMetrics, getReport
    case listDevices, addDevice, getDevice, removeDevice
    case getLayout, getValue, setValue, setVariable
    case disconnect, forget, advertise, setAppState, enterPasskey
    case listFaults, addFault, turnFault, removeFault
    case playScenario
    case answerRequest
    case listEvents, mark, wait, verify, reset
}
