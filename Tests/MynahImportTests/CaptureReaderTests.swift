import Glibc
import MynahHCI
import MynahSupport
import MynahTestSupport
import Testing

@testable import MynahImport

/// Captures of each format, whole and damaged.
@Suite struct CaptureReaderTests {
    private static let packets = HCIScript.strap().packets

    private static func read(_ bytes: [UInt8]) throws(ImportProblem) -> (
        packets: [CapturedPacket], warnings: [String]
    ) {
        let found = Lock<[CapturedPacket]>([])
        let read = try CaptureReader.read(bytes) { packet in found.withLock { $0.append(packet) } }
        return (found.withLock { $0 }, read.warnings)
    }

    private static func problem(_ bytes: [UInt8]) -> String? {
        do throws(ImportProblem) {
            _ = try read(bytes)
            return nil
        } catch {
            return error.description
        }
    }

    @Test(arguments: CaptureFormat.allCases)
    func `every format has the same packets, with their times and directions`(format: CaptureFormat) throws {
        let (found, warnings) = try Self.read(format.bytes(Self.packets))
        let expected = Self.packets.map { packet in
            var packet = packet
            // The interface for the air is the first.
            packet.source = format == .pcapng ? 1 : 0
            return packet
        }
        #expect(found == expected)
        #expect(warnings == [])
    }

    @Test(arguments: CaptureFormat.allCases)
    func `a capture that is cut keeps what comes before, and says where`(format: CaptureFormat) throws {
        let whole = format.bytes(Self.packets)
        let (found, warnings) = try Self.read(whole.dropLast(3))
        #expect(found.count == Self.packets.count - 1)
        #expect(warnings.count == 1)
        #expect(warnings.first?.hasPrefix("the file ends within the packet at byte ") == true)
    }

    @Test(arguments: CaptureFormat.allCases)
    func `a file that is cut anywhere is read or refused`(format: CaptureFormat) {
        let whole = format.bytes(Array(Self.packets.prefix(4)))
        for count in whole.indices {
            let problem = Self.problem(Array(whole.prefix(count)))
            #expect(problem != "")
        }
    }

    /// Bytes with four of them replaced by a number that means a terabyte.
    private static func enormous(_ format: CaptureFormat, at offset: Int) -> [UInt8] {
        var bytes = format.bytes(packets)
        for index in offset..<(offset + 4) { bytes[index] = 0xFF }
        return bytes
    }

    static let damaged: [([UInt8], String)] = [
        ([], "the file is empty; record or copy it again"),
        (Array("hello there, reader".utf8), "at byte 0: this is no capture; known are btsnoop, pcap,"),
        ([0x1F, 0x8B, 0x08, 0, 0], "at byte 0: the file is compressed; unpack it first."),
        (Array("btsn".utf8), "at byte 0: a btsnoop file begins with"),
        (Array("btsnoop\0".utf8), "at byte 8: the file ends within the header of btsnoop"),
        (Array("btsnoop\0".utf8) + [0, 0, 0, 2, 0, 0, 3, 0xEA], "at byte 8: version 2 of btsnoop"),
        (Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 3, 0xEB], "at byte 12: data link 1003 of btsnoop"),
        (Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 3, 0xEA], "it has no packets; record HCI:"),
        ([0xD4, 0xC3, 0xB2, 0xA1, 2, 0], "at byte 4: the file ends within the header of pcap"),
        (enormous(.btsnoop, at: 20), "at byte 20: a packet says that it has 4294967295 bytes"),
        (enormous(.pcap, at: 32), "at byte 32: a packet says that it has 4294967295 bytes"),
        (enormous(.pcapng, at: 4), "at byte 4: a block says that it has 4294967295 bytes"),
        (enormous(.pcapng, at: 8), "at byte 8: a section of pcapng has no byte order"),
        (
            Pcapng.sectionHeader(application: "x") + Pcapng.interface(linkType: 256, name: "air")
                + Pcapng.packet(interface: 0, microseconds: 0, data: [1, 2, 3]),
            "every packet that the sniffer heard is damaged; record again, nearer"
        ),
        (
            Pcapng.sectionHeader(application: "x") + Pcapng.interface(linkType: 1, name: "eth0")
                + Pcapng.packet(interface: 0, microseconds: 0, data: [1, 2, 3]),
            "it has no Bluetooth HCI packets (link type 1); record HCI:"
        ),
        (
            Pcapng.sectionHeader(application: "x")
                + Pcapng.packet(interface: 7, microseconds: 0, data: [1, 2, 3]),
            "a packet is of interface 7, which the file does not describe"
        ),
    ]

    @Test func `a large block that is not a packet's is skipped, and a packet's is refused`() throws {
        func block(_ type: UInt8, _ count: Int) -> [UInt8] {
            let length = (0..<4).map { UInt8(truncatingIfNeeded: (count + 12) >> (8 * $0)) }
            return [type, 0, 0, 0] + length + Array(repeating: 0, count: count) + length
        }
        let whole = CaptureFormat.pcapng.bytes(Self.packets)
        let (found, warnings) = try Self.read(whole + block(0x0A, 2 << 20) + whole)
        #expect(found.count == 2 * Self.packets.count && warnings == [])
        #expect(Self.problem(whole + block(6, 2 << 20))?.contains("which no such block has") == true)
    }

    @Test func `times that cannot be are far apart, and can be subtracted`() {
        let times = [Int64.min, -1, 0, Int64.max].map {
            CapturedPacket(time: $0, isFromController: true, packet: H4Packet(.event, [])).time
        }
        #expect(times == [-1 << 60, -1, 0, 1 << 60])
    }

    @Test(arguments: damaged)
    func `a damaged file is refused with the place and what to do`(bytes: [UInt8], words: String) throws {
        let problem = try #require(Self.problem(bytes))
        #expect(problem.contains(words), "\(problem)")
    }

    @Test func `packets that Android has shortened are left out, and the remedy is said`() throws {
        var bytes = CaptureFormat.btsnoop.bytes(Self.packets)
        // The original length of the first.
        bytes[18] = 1
        let (found, warnings) = try Self.read(bytes)
        #expect(found.count == Self.packets.count - 1)
        #expect(warnings.first?.contains("Enabled, not Filtered") == true)
    }

    @Test func `a path is refused before it is read if it is no regular file, or too large`() throws {
        let directory = try TemporaryDirectory()
        func problem(_ path: String) -> String {
            do throws(ImportProblem) {
                _ = try ImportFile.contents(of: path)
                return ""
            } catch {
                return error.description
            }
        }
        #expect(problem(directory.path) == "is a folder; name a capture in it")
        #expect(problem(directory.path + "/none") == "cannot be read: there is no such file")
        #expect(problem("/dev/null") == "is not a regular file; write it to a file first")
        try directory.write("", to: "large")
        #expect(truncate(directory.path + "/large", 1 << 40) == 0)
        #expect(problem(directory.path + "/large").hasPrefix("is larger than 256 MiB; cut it"))
        try directory.write("abc", to: "small")
        #expect(try ImportFile.contents(of: directory.path + "/small") == Array("abc".utf8))
    }
}
