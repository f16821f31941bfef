import Dispatch
import Glibc
import MynahCore
@testable import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct CaptureFileTests {
    /// The reports of a capture.
    private final class Reported: Sendable {
        private let lines = Lock<[String]>([])
        var all: [String] { lines.withLock { $0 } }

        var reports: CaptureFile.Reports {
            .init(
                warn: { warning in self.lines.withLock { $0.append("\(warning.code): \(warning.message)") } },
                fail: { error in self.lines.withLock { $0.append("\(error.code.rawValue): \(error)") } })
        }
    }

    private func pipe() throws -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(makePipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    private func bytes(from descriptor: Int32) -> [UInt8] {
        var found: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            found += buffer[..<count]
        }
        return found
    }

    private func bytes(of path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        return bytes(from: descriptor)
    }

    /// The data of a file's packets, by interface.
    private func packets(_ file: [UInt8]) -> [(interface: UInt32, data: [UInt8])] {
        #expect(Pcapng.wholeBlocks(in: file[...]) == file.count)
        var reader = ByteReader(file)
        var found: [(UInt32, [UInt8])] = []
        while let type = reader.readUInt32(), let length = reader.readUInt32(),
            let body = reader.readBytes(Int(length) - 8)
        {
            var block = ByteReader(body)
            guard type == 6, let interface = block.readUInt32(), block.readUInt64() != nil,
                let size = block.readUInt32(), block.readUInt32() != nil,
                let data = block.readBytes(Int(size))
            else { continue }
            found.append((interface, data))
        }
        return found
    }

    @Test func `packets of a transport are in the file in order, in both directions`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.pcapng"
        let reported = Reported()
        let file = try CaptureFile(path: path, application: "Test", reports: reported.reports)
        let air = LiveAir(seed: 1, time: .manual)
        let controller = air.transport(ControllerConfiguration(address: AirRig.address(1)))
        let transport = file.transport(controller, named: "hci")
        try await transport.open(receive: { _ in }, ended: { _ in })
        transport.send(HCICommand(.reset).packet)
        transport.close()
        file.end()
        let found = packets(try bytes(of: path))
        #expect(
            found.map(\.data) == [
                Hex.decode("00000000 01 030C00"), Hex.decode("00000001 04 0E 04 01 030C 00"),
            ])
        #expect(found.allSatisfy { $0.interface == 0 })
        #expect(reported.all.isEmpty)
    }

    @Test func `PDUs on the air are in the file, beside the HCI packets of its stations`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.pcapng"
        let file = try CaptureFile(path: path, application: "Test", reports: Reported().reports)
        let air = LiveAir(seed: 1, time: .manual)
        let controller = air.transport(ControllerConfiguration(address: AirRig.address(1)))
        let transport = file.transport(controller, named: "hci")
        file.record(air, named: "air")
        try await transport.open(receive: { _ in }, ended: { _ in })
        transport.send(HCICommand(.leSetAdvertisingEnable, [1]).packet)
        air.advance(by: 1_300_000)
        let foreign = AirPDU.scanRequest(scanner: AirRig.address(7), advertiser: AirRig.address(1))
        air.handle([AirFrame(from: Station(7), to: controller.station, pdu: foreign)])
        transport.close()
        file.end()
        let found = packets(try bytes(of: path))
        let channels = found.filter { $0.interface == 1 }.map { $0.data[0] }
        // One or two events of the device, the foreign scan request, and the answer to it.
        #expect([[0, 12, 39, 39, 39], [0, 12, 39, 0, 12, 39, 39, 39]].contains(channels))
    }

    @Test func `only its owner can read a new file, and an old one is emptied`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.pcapng"
        try directory.write(String(repeating: "old", count: 1000), to: "b.pcapng")
        for name in ["a.pcapng", "b.pcapng"] {
            try CaptureFile(
                path: "\(directory.path)/\(name)", application: "Test", reports: Reported().reports
            ).end()
            #expect(
                try bytes(of: "\(directory.path)/\(name)") == Pcapng.sectionHeader(application: "Test"))
        }
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func `a file that another capture is being written to is refused, and stays as it is`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a.pcapng"
        let first = try CaptureFile(path: path, application: "Test", reports: Reported().reports)
        let error = #expect(throws: RadioError.self) {
            try CaptureFile(path: path, application: "Test", reports: Reported().reports)
        }
        #expect(error?.message.contains("another capture is being written to it") == true)
        first.end()
        let second = try CaptureFile(path: path, application: "Test", reports: Reported().reports)
        second.end()
    }

    @Test func `a file that cannot be opened is an error with its name and the reason`() throws {
        let directory = try TemporaryDirectory()
        let fifo = directory.path + "/fifo.pcapng"
        try #require(mkfifo(fifo, 0o600) == 0)
        for (path, reason) in [
            (directory.path + "/none/a.pcapng", "No such file or directory"),
            (directory.path, "Is a directory"), (fifo, "start the program that reads it first"),
        ] {
            let error = #expect(throws: RadioError.self) {
                try CaptureFile(path: path, application: "Test", reports: Reported().reports)
            }
            #expect(error?.code == .captureFailed)
            #expect(error?.description.contains(path) == true && error?.description.contains(reason) == true)
        }
    }

    @Test func `a reader that leaves ends the capture once, with a warning`() async throws {
        let (reader, writer) = try pipe()
        defer { close(writer) }
        let reported = Reported()
        let file = try CaptureFile(
            descriptor: writer, named: "the pipe", application: "Test", reports: reported.reports)
        close(reader)
        // Nobody has to send anything for it to be noticed.
        try await until("the capture reports a problem") { !reported.all.isEmpty }
        let interface = file.addInterface(201, "hci")
        for _ in 0..<100 { file.add([1, 2, 3], to: interface) }
        file.end()
        #expect(
            reported.all == ["captureEnded: the capture has ended: the reader of the pipe has closed it"])
    }

    @Test func `a full disk ends the capture once, with an error`() async throws {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        let reported = Reported()
        let file = try CaptureFile(
            descriptor: full, named: "x.pcapng", application: "Test", reports: reported.reports)
        try await until("the capture reports a problem") { !reported.all.isEmpty }
        file.end()
        #expect(
            reported.all == [
                "captureFailed: the capture has ended: x.pcapng cannot be written: No space left on device"
            ])
    }

    @Test func `a pipe that is not read loses packets, counts them and keeps nobody waiting`() throws {
        let (reader, writer) = try pipe()
        let reported = Reported()
        let file = try CaptureFile(
            CaptureOutput(borrowing: writer), named: "the pipe", application: "Test", reported.reports,
            limit: 100_000)
        let interface = file.addInterface(201, "hci")
        for _ in 0..<10_000 { file.add([UInt8](repeating: 7, count: 100), to: interface) }
        file.end()
        close(writer)
        let found = packets(bytes(from: reader)).count
        close(reader)
        #expect((100..<2000).contains(found))
        // In one report or in several: the writer may have found room for a packet in between.
        let missing = try reported.all.map { warning in
            let digits = warning.dropFirst("packetsMissing: ".count).prefix { $0.isNumber }
            let count = try #require(Int(digits))
            #expect(
                warning
                    == """
                    packetsMissing: \(count) packets are missing from the capture, because the pipe was \
                    not read in time
                    """
            )
            return count
        }
        #expect(missing.reduce(0, +) == 10_000 - found)
    }

    @Test func `a reader that comes late gets all that is queued, also at the end`() async throws {
        let (reader, writer) = try pipe()
        let reported = Reported()
        let file = try CaptureFile(
            descriptor: writer, named: "the pipe", application: "Test", reports: reported.reports)
        let interface = file.addInterface(201, "hci")
        for _ in 0..<10_000 { file.add([UInt8](repeating: 7, count: 100), to: interface) }
        let count: Int = try await waiting(for: "the reader of the whole pipe") { waiter in
            DispatchQueue(label: "reader").async {
                waiter.resume(returning: self.packets(self.bytes(from: reader)).count)
            }
            DispatchQueue(label: "writer").async {
                file.end()
                close(writer)
            }
        }
        close(reader)
        #expect(count == 10_000)
        #expect(reported.all.isEmpty)
    }

    @Test func `an air hands nothing to a capture that nobody asked for`() {
        var air = Air(seed: 1)
        let frame = AirFrame(
            from: Station(7), to: nil,
            pdu: .scanRequest(scanner: AirRig.address(7), advertiser: AirRig.address(1)))
        #expect(air.handle(frame) == [])
        air.isMonitored = true
        #expect(air.handle(frame) == [.captured(frame)])
    }
}
