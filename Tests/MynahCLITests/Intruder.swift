import Glibc
import MynahTestSupport
import Testing

/// Something on an air that is not Mynah.
final class Intruder {
    let descriptor: Int32

    /// Connects to the socket of this name in the air's directory.
    init(_ air: TemporaryDirectory, _ name: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(air.path)/\(name)".utf8) }
        let descriptor = descriptor
        let outcome = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(outcome == 0)
    }

    deinit { close(descriptor) }

    /// Whether everything was sent.
    func send(_ bytes: [UInt8]) -> Bool {
        Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Returns when the other side has greeted it and hung up.
    func waitUntilRefused() {
        var buffer = [UInt8](repeating: 0, count: 64)
        #expect(recv(descriptor, &buffer, buffer.count, 0) > 0)
        while recv(descriptor, &buffer, buffer.count, 0) > 0 {}
    }

    /// Makes each process on an air warn of one that makes no sense.
    static func disturb(_ air: TemporaryDirectory) throws {
        for name in air.files {
            let intruder = try Intruder(air, name)
            #expect(intruder.send([UInt8](repeating: 0xA5, count: 300)))
            intruder.waitUntilRefused()
        }
    }
}
