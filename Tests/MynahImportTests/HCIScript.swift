import MynahCore
import MynahHCI
import MynahSupport

@testable import MynahHost
@testable import MynahImport

/// The packets of a host and its controller, step by step; a step takes 10 ms unless said.
struct HCIScript {
    static let peer = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)
    /// 2026-01-01, in microseconds since 1970.
    static let start: Int64 = 1_767_225_600_000_000

    private(set) var packets: [CapturedPacket] = []
    var time = HCIScript.start
    /// Whether this host is the central.
    let isCentral: Bool
    private let source: Int
    private let handle: ConnectionHandle

    init(isCentral: Bool = true, source: Int = 0, handle: ConnectionHandle = 0x40) {
        (self.isCentral, self.source, self.handle) = (isCentral, source, handle)
    }

    mutating func append(_ packet: CapturedPacket) { packets.append(packet) }

    mutating func wait(_ milliseconds: Int64) { time += milliseconds * 1000 }

    private mutating func add(_ packet: H4Packet, isFromController: Bool) {
        packets.append(
            .init(source: source, time: time, isFromController: isFromController, packet: packet))
    }

    mutating func event(_ code: UInt8, _ hex: String) {
        add(HCIEvent(code, Hex.decode(hex) ?? []).packet, isFromController: true)
    }

    mutating func command(_ opcode: HCIOpcode, _ hex: String) {
        add(HCICommand(opcode, Hex.decode(hex) ?? []).packet, isFromController: false)
    }

    private static func littleEndian(_ address: DeviceAddress) -> String {
        var writer = ByteWriter()
        writer.write(address)
        return Hex.encode(writer.bytes)
    }

    mutating func connect(_ peer: DeviceAddress = HCIScript.peer) {
        wait(10)
        event(
            0x3E,
            "01 00" + Hex.encode(handle.littleEndianBytes) + (isCentral ? "00" : "01") + "01"
                + Self.littleEndian(peer) + "1800 0000 4800 00")
    }

    mutating func disconnect() {
        wait(10)
        event(0x05, "00" + Hex.encode(handle.littleEndianBytes) + "13")
    }

    mutating func encrypt() {
        wait(10)
        event(0x08, "00" + Hex.encode(handle.littleEndianBytes) + "01")
    }

    /// An advertising report: ADV_IND, or SCAN_RSP.
    mutating func advert(
        _ data: String, from address: DeviceAddress = HCIScript.peer, isScanResponse: Bool = false
    ) {
        let bytes = Hex.decode(data) ?? []
        event(
            0x3E,
            "02 01" + (isScanResponse ? "04" : "00") + "01" + Self.littleEndian(address)
                + Hex.encode([UInt8(bytes.count)]) + Hex.encode(bytes) + "C8")
    }

    /// A PDU on a channel, in packets of `size` bytes.
    mutating func send(_ pdu: [UInt8], on channel: UInt16, isFromHost: Bool, size: Int = 27) {
        for var packet in L2CAPFrame(channel: channel, payload: pdu).packets(for: handle, of: size) {
            if !isFromHost, packet.boundary == .first { packet.boundary = .firstFlushable }
            add(packet.packet, isFromController: !isFromHost)
        }
    }

    /// A PDU of the GATT client, in hexadecimal digits.
    mutating func ask(_ hex: String) {
        wait(10)
        send(Hex.decode(hex) ?? [], on: 4, isFromHost: isCentral)
    }

    /// A PDU of the GATT server.
    mutating func answer(_ hex: String) {
        wait(10)
        send(Hex.decode(hex) ?? [], on: 4, isFromHost: !isCentral)
    }

    mutating func exchange(_ request: String, _ response: String) {
        ask(request)
        answer(response)
    }

    /// Discovers a service 180D at 16...22: 2A37 at 18 with its configuration at 19, 2A39 at 21.
    mutating func discover() {
        exchange("10 0100 FFFF 0028", "11 06 1000 FFFF 0D18")
        exchange("08 1000 FFFF 0328", "09 07 1100 12 1200 372A 1400 08 1500 392A")
        exchange("08 1600 FFFF 0328", "01 08 1600 0A")
        exchange("04 1300 1300", "05 01 1300 0229")
    }

    /// A heart rate strap that is heard, connected and subscribed, and sends a value each second.
    static func strap(isCentral: Bool = true) -> HCIScript {
        var script = HCIScript(isCentral: isCentral)
        if isCentral {
            for _ in 0..<20 {
                script.wait(105)
                script.advert("020106 03030D18 0609 5374726170")
            }
        }
        script.connect()
        script.discover()
        script.exchange("12 1300 0100", "13")
        for beat in 0..<5 {
            script.wait(990)
            script.answer("1B 1200 00 4\(beat)")
        }
        script.exchange("12 1500 01", "13")
        script.disconnect()
        return script
    }

    func profile(
        device: String? = nil, recordingFile: String? = nil
    ) throws(ImportProblem) -> CaptureImport.Result {
        try CaptureImport.profile(
            from: CaptureFormat.pcapng.bytes(packets), named: "test", device: device,
            recordingFile: recordingFile.map { name in { _ in name } })
    }
}
