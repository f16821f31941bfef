import MynahCore
import MynahProfiles
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahImport

/// Captures of more than a profile can have.
@Suite(.timeLimit(.minutes(15))) struct LargeImportTests {
    private static func hex(_ number: Int) -> String {
        Hex.encode([UInt8(number & 0xFF), UInt8(number >> 8)])
    }

    /// A service with many characteristics, each of whose handles is `start` + 2n + 1.
    private static func discover(_ count: Int, _ script: inout HCIScript, properties: String) {
        let end = hex(0x10 + 2 * count)
        script.exchange("10 0100 FFFF 0028", "11 06 1000 \(end) 0D18")
        for index in 0..<count {
            let handle = 0x11 + 2 * index
            script.exchange(
                "08 \(hex(handle)) \(end) 0328",
                "09 07 \(hex(handle)) \(properties) \(hex(handle + 1)) \(hex(0x2A00 + index))")
        }
    }

    @Test func `a profile is at most 1 MiB, and what is left out is said`() throws {
        var script = HCIScript()
        script.connect()
        script.exchange("02 0002", "03 0002")
        Self.discover(120, &script, properties: "0A")
        for index in 0..<120 {
            let handle = Self.hex(0x12 + 2 * index)
            for value in 0..<32 {
                let long = Hex.encode([UInt8(value)] + Array(repeating: 0xAB, count: 400))
                script.exchange("12 \(handle) \(long)", "01 12 \(handle) 80")
            }
            script.exchange("12 \(handle) 01", "13")
        }
        let result = try script.profile()
        #expect(result.profile.utf8.count <= ProfileText.maximumSize)
        let words = "answers to writes are left out: a profile has at most 1 MiB"
        #expect(result.warnings.count == 1 && result.warnings.first?.hasSuffix(words) == true)
        #expect(result.profile.contains(words + ".\n"))
        let profile = try ProfileLoader.load(text: result.profile, file: "test.yaml")
        #expect(profile.services[0].characteristics.count == 120)
    }

    @Test func `a table of thousands of services and descriptors is cut to what can be loaded`() throws {
        var imported = ImportedProfile(name: "Large")
        for service in 0..<600 {
            var one = ImportedProfile.Service(uuid: "180D", includes: service == 0 ? [] : [service - 1])
            one.characteristics = (0..<13).map { number in
                var characteristic = ImportedProfile.Characteristic(
                    uuid: BluetoothUUID(UInt16(0x2B00 + number)),
                    properties: [
                        .broadcast, .read, .writeWithoutResponse, .write, .notify, .authenticatedSignedWrites,
                    ],
                    value: .bytes(Array(repeating: 1, count: 512)))
                characteristic.descriptors = [.init(uuid: "2900", value: [1, 2])]
                return characteristic
            }
            imported.services.append(one)
        }
        let files = ProfileText.files(of: imported, from: .file("test"), recordingFile: nil)
        #expect(files.yaml.utf8.count <= ProfileText.maximumSize)
        let note = try #require(files.leftOut.first)
        for words in ["values", "7800 descriptors", "services"] { #expect(note.contains(words), "\(note)") }
        _ = try ProfileLoader.load(text: files.yaml, file: "test.yaml")
    }

    @Test func `a device that sends values without end is not kept whole`() {
        var server = ObservedServer(sentLimit: 3)
        for number in 0..<5 { server.add(.init(handle: 18, value: [UInt8(number)], time: 0, link: 1)) }
        let settled = server.settled()
        #expect(settled.sent.map(\.value) == [[0], [1], [2]])
        #expect(settled.notes == ["only the first 3 values that the device sent are kept"])
    }

    @Test func `of one characteristic only the first values are kept, and the user is told once`() throws {
        var server = ObservedServer(flowLimit: 2)
        server.declare("180D", 16...20, isPrimary: true)
        server.declare(.init(uuid: "2A37", properties: 0x10, value: 18), at: 17)
        for number in 0..<5 {
            server.add(.init(handle: 18, value: [UInt8(number)], time: 0, link: 1))
            server.add(.init(handle: 19, value: [UInt8(number)], time: 0, link: number))
        }
        let settled = server.settled()
        #expect(settled.sent.filter { $0.handle == 18 }.map(\.value) == [[0], [1]])
        #expect(settled.sent.count == 7 && settled.notes == [])
        #expect(settled.limits.map(\.text) == ["only the first 2 values of 2A37 are kept"])
        var device = ObservedDevice(.remote(HCIScript.peer))
        device.server = settled
        let warning = "only the first \(ImportedProfile.recordingLimit) values of 2A37 are kept"
        #expect(ImportedProfile(device, fallback: "x").warnings == [warning])
    }

    @Test func `values that are not kept are a warning at that moment, and a comment`() throws {
        let warned = Lock<[String]>([])
        let capture = LiveCapture { text in warned.withLock { $0.append(text) } }
        var script = HCIScript()
        script.connect()
        script.discover()
        script.exchange("12 1300 0100", "13")
        script.wait(5000)
        for packet in script.packets {
            capture.add(packet.packet, isFromController: packet.isFromController, at: packet.time)
        }
        var value = HCIScript()
        value.answer("1B 1200 0048")
        let words = "only the first \(ImportedProfile.recordingLimit) values of 2A37 are kept"
        for number in 0..<(ImportedProfile.recordingLimit + 2) {
            let time = script.time + Int64(number) * 1000
            capture.add(value.packets[0].packet, isFromController: true, at: time)
            guard number == ImportedProfile.recordingLimit - 1 else { continue }
            let early = warned.withLock { $0 }
            #expect(early == [])
        }
        let told = warned.withLock { $0 }
        #expect(told == [words])
        let result = try capture.profile(of: HCIScript.peer)
        #expect(
            result.profile.contains("# Only the first \(ImportedProfile.recordingLimit) values are kept.\n"))
        #expect(
            result.profile.contains("# \(ImportedProfile.recordingLimit) values were sent; mynah record "))
    }

    @Test func `a recording that is full is a warning at that moment, and fits into its file`() throws {
        let warned = Lock<[String]>([])
        let capture = LiveCapture { text in warned.withLock { $0.append(text) } }
        var script = HCIScript()
        script.connect()
        script.discover()
        script.exchange("12 1300 0100", "13")
        for packet in script.packets {
            capture.add(packet.packet, isFromController: packet.isFromController, at: packet.time)
        }
        // Lines of some 500 bytes: 16 MiB are full before 100,000 values are.
        var value = HCIScript()
        value.answer("1B 1200 " + String(repeating: "AB", count: 220))
        var full: Int?
        for number in 0..<50_000 {
            let time = script.time + 1_000_000 + Int64(number) * 1000
            for packet in value.packets { capture.add(packet.packet, isFromController: true, at: time) }
            if full == nil, warned.withLock({ !$0.isEmpty }) { full = number }
        }
        let told = warned.withLock { $0 }
        #expect(told.count == 1 && told.first?.hasPrefix("the recording is full: ") == true)
        let result = try capture.profile(of: HCIScript.peer) { _ in "full.jsonl" }
        #expect(result.warnings == [])
        #expect(result.profile.contains("# The recording is full: "))
        let size = result.recording.text.utf8.count
        #expect(size <= ProfileText.maximumRecordingSize && size > ProfileText.maximumRecordingSize * 9 / 10)
        #expect(result.recording.text.split(separator: "\n").count == full)
    }

    @Test func `a recording is at most 16 MiB, and each characteristic has a value in it`() throws {
        var imported = ImportedProfile(name: "Large")
        var service = ImportedProfile.Service(uuid: "180D")
        for (uuid, start) in [("2A37", 0), ("2A39", 40_000)] as [(BluetoothUUID, Int64)] {
            let values = (0..<20_000).map { number in
                ImportedProfile.RecordedValue(
                    time: (start + Int64(number)) * 1_000_000, value: ArraySlice(repeating: 0xAB, count: 400))
            }
            service.characteristics.append(
                .init(uuid: uuid, properties: .notify, value: .recorded(values, initial: nil)))
        }
        imported.services = [service]
        let files = ProfileText.files(of: imported, from: .file("test"), recordingFile: "large.jsonl")
        #expect(files.recording.text.utf8.count <= ProfileText.maximumRecordingSize)
        #expect(files.recording.text.utf8.count > ProfileText.maximumRecordingSize - 2000)
        let note = try #require(files.leftOut.first)
        #expect(note.hasPrefix("the recording ends after ") && note.hasSuffix("larger than 16 MiB"))
        #expect(files.yaml.contains("# The recording ends after "))
        let directory = try TemporaryDirectory()
        try directory.write(files.yaml, to: "large.yaml")
        try directory.write(files.recording.text, to: "large.jsonl")
        _ = try ProfileLoader.load(path: directory.path + "/large.yaml")
    }
}
