import MynahCore

// HID (HID Service Specification 1.0, and HID 1.11 for the boot reports), and MIDI.
extension KnownLayouts {
    /// The characteristic of MIDI over Bluetooth LE.
    static let midiPackets: BluetoothUUID = "7772E5DB-3868-4112-A1A9-F2669D106BF3"
    static let midi = ValueLayout(
        [field("timestamps", uint16, "ms", count: .rest), field("messages", .utf8, count: .rest)], .midi)

    static func input(_ number: UInt16) -> Entries? {
        switch number {
        case 0x2A22:
            [field("modifiers", uint8), field("reserved", uint8), field("keys", uint8, count: .rest)]
        case 0x2A32:
            [
                bits(
                    "leds", 1, .boolean("numLock"), .boolean("capsLock"), .boolean("scrollLock"),
                    .boolean("compose"), .boolean("kana"))
            ]
        case 0x2A33:
            [
                bits("buttons", 1, .boolean("left"), .boolean("right"), .boolean("middle")),
                field("x", sint8), field("y", sint8),
            ]
        case 0x2A4A:
            [
                field("bcdHID", uint16), field("countryCode", uint8),
                bits(1, .boolean("remoteWake"), .boolean("normallyConnectable")),
            ]
        case 0x2A4C: [choice("command", "suspend", "exit suspend")]
        case 0x2A4E: [choice("protocolMode", "boot protocol", "report protocol")]
        default: nil
        }
    }
}
