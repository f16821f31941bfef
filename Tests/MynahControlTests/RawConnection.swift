import Glibc
import MynahSupport
import MynahTestSupport

@testable import MynahControl

/// A response as a client finds it in the bytes.
struct RawResponse: Hashable {
    var status: Int
    /// The head's lines after the status line, in lower case.
    var headers: [String]
    var body: String

    var isProblem: Bool {
        headers.contains("content-type: application/problem+json") && body.contains("\"status\":\(status),")
    }

    var closes: Bool { headers.contains("connection: close") }
}

/// A connection to a server by the system's calls alone, so that a test decides about every byte.
final class RawConnection: Sendable {
    private let descriptor: Int32
    private let unread = Lock<[UInt8]>([])

    /// Connects; `receiveBuffer` is the size of the socket's receive buffer, in bytes.
    init(_ address: ControlAddress, receiveBuffer: Int32? = nil) throws {
        let code: Int32
        switch address {
        case .tcp(let host, let port):
            descriptor = socket(host.isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            if var size = receiveBuffer {
                setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            }
            code = host.socketAddress(port: port).with { [descriptor] in connect(descriptor, $0, $1) }
        case .unix(let path):
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            code =
                SocketAddress(path: path).map { address in
                    address.with { [descriptor] in connect(descriptor, $0, $1) }
                } ?? -1
        }
        guard descriptor >= 0, code == 0 else { throw FileTrouble("\(address)") }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close(descriptor) }

    /// Sends all bytes, or as many as the other side accepts; returns whether it was all.
    @discardableResult
    func send(_ text: String) async throws -> Bool { try await send(Array(text.utf8)) }

    /// Sends all bytes, or as many as the other side accepts; returns whether it was all.
    @discardableResult
    func send(_ bytes: [UInt8]) async throws -> Bool {
        var start = 0
        var isOpen = true
        try await until("\(bytes.count) bytes are sent") {
            let count = bytes[start...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 { start += count }
            if count < 0, errno != EAGAIN { isOpen = false }
            return start == bytes.count || !isOpen
        }
        return isOpen
    }

    /// Closes with a reset in place of an orderly end.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        // The descriptor stays open until deinit, and its number cannot be another's: only its socket goes.
        let other = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        dup2(other, descriptor)
        close(other)
    }

    /// Tells the server that nothing more comes.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Everything up to the end of the connection, or up to its reset.
    func readToEnd() async throws -> String {
        try await until("the server closes") { !receive() }
        return unread.withLock { bytes in
            defer { bytes = [] }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Everything up to and including a text.
    func read(through text: String) async throws -> String {
        let wanted = Array(text.utf8)
        var found: Int?
        try await until("the server sends \(text.debugDescription)") {
            let isOpen = receive()
            found = unread.withLock { bytes in bytes.firstRange(of: wanted)?.upperBound }
            return found != nil || !isOpen
        }
        guard let found else { throw Ended(unread: unread.withLock { String(decoding: $0, as: UTF8.self) }) }
        return take(found)
    }

    /// The next response, which has a Content-Length or no body.
    func readResponse(hasBody: Bool = true) async throws -> RawResponse {
        let head = try await read(through: "\r\n\r\n")
        let lines = head.components(separatedBy: "\r\n").dropLast(2)
        let headers = lines.dropFirst().map { $0.lowercased() }
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let length = headers.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) } ?? 0
        guard hasBody, length > 0 else { return RawResponse(status: status, headers: headers, body: "") }
        try await until("\(length) bytes of a body come") {
            let isOpen = receive()
            return !isOpen || unread.withLock { $0.count } >= length
        }
        return RawResponse(status: status, headers: headers, body: take(length))
    }

    /// Whether the server has closed the connection, and all that it sent was read.
    func hasEnded() async throws -> Bool { try await readToEnd().isEmpty }

    /// The connection ended before what a test waits for.
    struct Ended: Error {
        var unread: String
    }

    private func take(_ count: Int) -> String {
        unread.withLock { bytes in
            let text = String(decoding: bytes.prefix(count), as: UTF8.self)
            bytes.removeFirst(min(count, bytes.count))
            return text
        }
    }

    /// Reads what is there; returns `false` at the end of the connection.
    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return count < 0 && errno == EAGAIN }
            unread.withLock { $0 += buffer[..<count] }
        }
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [String] {
        var parts: [String] = []
        var rest = Array(utf8)[...]
        while let range = rest.firstRange(of: Array(separator.utf8)) {
            parts.append(String(decoding: rest[..<range.lowerBound], as: UTF8.self))
            rest = rest[range.upperBound...]
        }
        return parts + [String(decoding: rest, as: UTF8.self)]
    }
}
