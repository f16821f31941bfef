import Glibc
package import MynahCore
import MynahSupport

/// The expected result of opening a controller.
///
/// The controller is not opened to find this out, because every connection may create a new controller.
package enum ControllerOutlook: Hashable, Sendable {
    /// No obstacle is known.
    case open
    /// A run would fail with this error.
    case failed(RadioError)
    /// Only a run can determine whether the controller can be opened, for the given reason.
    case unknown(String)

    /// Determines the expected result of opening the controller at an address.
    ///
    /// `mayTakeAdapters` is `true` if this process may open a user channel.
    package init(_ address: HCITransportAddress, mayTakeAdapters: Bool) {
        switch address {
        case .tcpServer(let host, let port):
            self = Self.server(ListeningSocket.error(host: host, port: port))
        case .unixServer(let path): self = Self.server(ListeningSocket.error(path: path))
        case .tcpClient(let host, let port):
            guard Self.isLoopback(host) else {
                self = .unknown("only a run can tell whether a controller listens there")
                return
            }
            self = LoopbackListeners.listens(on: port) ? .open : .failed(Self.nobody(host, port))
        case .unixClient(let path):
            self = UnixSocketPath(path).problem.map { .failed(SocketTransport.error($0, of: path)) } ?? .open
        case .serial(let path, _):
            do throws(SerialLine.Unknown) {
                self = try SerialLine.problem(path).map { .failed($0) } ?? .open
            } catch {
                self = .unknown("the kernel does not list its terminals")
            }
        case .userChannel(let index): self = Self.adapter(index, mayTakeAdapters: mayTakeAdapters)
        }
    }

    /// Whether a host name or number certainly means this machine's loopback interface (RFC 1122, 3.2.1.3).
    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return host.lowercased() == "localhost"
            || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func nobody(_ host: String, _ port: UInt16) -> RadioError {
        RadioError(
            .unreachable, "no controller listens on \(HCITransportAddress.endpoint(host, port))",
            remedy: "start the controller first")
    }

    /// Returns the expected result if the controller connects to this process.
    ///
    /// `problem` is the error of listening at the address, or `nil` if none is known.
    private static func server(_ problem: RadioError?) -> ControllerOutlook {
        problem.map { .failed($0) } ?? .unknown("a run waits until the controller connects")
    }

    private static func adapter(_ index: UInt16, mayTakeAdapters: Bool) -> ControllerOutlook {
        func failed(_ number: Int32) -> ControllerOutlook {
            .failed(UserChannel.trouble(SystemError(number), index))
        }
        guard access("/sys/class/bluetooth", F_OK) == 0 else { return failed(EAFNOSUPPORT) }
        guard access("/sys/class/bluetooth/hci\(index)", F_OK) == 0 else { return failed(ENODEV) }
        guard mayTakeAdapters else { return failed(EPERM) }
        do throws(ManagementChannel.Problem) {
            return try ManagementChannel.settings(of: index).isPowered ? failed(EBUSY) : .open
        } catch {
            return .unknown(error.description)
        }
    }
}
