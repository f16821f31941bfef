import MynahCore

/// The objects that all parts of a phone are initialized with.
struct PhoneCommon {
    let radio: any PeripheralRadio
    let identity: DeviceIdentity
    let memory: PhoneMemory
    let central: CentralMemory
    let work = PhoneWork()
    let reports: PhoneReports
    let files: PhoneFiles
    let meter: PhoneMeter

    init(
        _ radio: any PeripheralRadio, _ identity: DeviceIdentity, _ directory: StateDirectory?,
        _ sink: (any PhoneSink)?
    ) {
        (self.radio, self.identity) = (radio, identity)
        let states = RadioStates()
        (memory, central) = (PhoneMemory(states), CentralMemory(states))
        reports = PhoneReports(to: sink, on: radio)
        files = PhoneFiles(directory, reports)
        meter = PhoneMeter(radio, memory, central)
    }
}
