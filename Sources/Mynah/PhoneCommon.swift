import MynahCore

/// The parts of a phone that its other parts are made with.
struct PhoneCommon {
    let radio: any PeripheralRadio
    let memory = PhoneMemory()
    let central = CentralMemory()
    let work = PhoneWork()
    let reports: PhoneReports
    let files: PhoneFiles
    let meter: PhoneMeter

    init(_ radio: any PeripheralRadio, _ directory: StateDirectory?, _ sink: (any PhoneSink)?) {
        self.radio = radio
        reports = PhoneReports(to: sink, on: radio)
        files = PhoneFiles(directory, reports)
        meter = PhoneMeter(radio, memory, central)
    }
}
