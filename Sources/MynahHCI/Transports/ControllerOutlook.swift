import Glibc
package import MynahCore

/// Whether a controller can be opened, found out without opening it: each connection may be a new controller.
package enum ControllerOutlook: Hashable, Sendable {
    /// Nothing speaks against it.
    case open
    /// The error of a run.
    case failed(RadioError)
    /// It is known only to a run, for this reason.
    case unknown(String)

    /// The outlook for an address.
    ///
    /// `mayTakeAdapters`: whether this process may open a user channel.
    package init(_ address: HCITransportAddress, mayTakeAdapters: Bool) {
        switch address {
        case .tcpServer, .unixServer:
            self = .unknown("a run waits until the controller connects")
        case .tcpClient(let host, let port):
            guard [HCITransportAddress.loopback, "localhost"].contains(host) else {
                self = .unknown("it is on another machine, and only a run connects to it")
                return
            }
            self = LoopbackListeners.listens(on: port) ? .open : .failed(Self.nobody(host, port))
        case .unixClient(let path): self = Self.file(at: path, S_IFSOCK, "socket")
        case .serial(let path, _): self = Self.file(at: path, S_IFCHR, "serial device or terminal")
        case .userChannel(let index): self = Self.adapter(index, mayTakeAdapters: mayTakeAdapters)
        }
    }

    private static func nobody(_ host: String, _ port: UInt16) -> RadioError {
        RadioError(
            .unreachable, "no controller listens on \(HCITransportAddress.endpoint(host, port))",
            remedy: "start the controller first")
    }

    private static func file(at path: String, _ kind: mode_t, _ name: String) -> ControllerOutlook {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return .failed(
                RadioError(
                    .unreachable, "\(path) cannot be opened: \(SystemError(errno))",
                    remedy: "start the controller first"))
        }
        guard status.st_mode & S_IFMT == kind else {
            return .failed(RadioError(.unreachable, "\(path) is not a \(name)"))
        }
        guard access(path, R_OK | W_OK) == 0 else {
            return .failed(
                RadioError(
                    .notPermitted, "\(path) cannot be opened: \(SystemError(errno))",
                    remedy: "add yourself to the group that ls -l \(path) shows"))
        }
        return .open
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
