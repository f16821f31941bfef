public import MynahCore
import MynahSupport

/// An air that several processes share.
///
/// The processes find each other in a directory, and may start in any order.
///
/// Advertising is sent only to processes that scan. If a process ends, only peers with a link to it are
/// affected.
public final class SharedAir: Sendable {
    /// The directory in which the processes of the air find each other.
    public let directory: String
    /// The part of the air in this process, which has the time, the distances and the packet loss.
    public let air: LiveAir
    private let mesh: AirMesh

    /// Joins the air with this directory.
    ///
    /// If `directory` is `nil`, the directory is that in `MYNAH_AIR`, or else one of this user. `notice` is
    /// called with warnings, on any thread.
    public init(
        directory: String? = nil, seed: UInt64 = .random(in: .min ... .max),
        notice: @escaping @Sendable (RadioWarning) -> Void = { _ in }
    ) throws(RadioError) {
        let found: AirDirectory
        if let directory {
            found = AirDirectory(path: directory)
        } else {
            let choice = AirDirectoryChoice.ofThisProcess()
            if let warning = choice.warning { notice(warning) }
            found = choice.directory
        }
        let air = LiveAir(seed: seed)
        let mesh = AirMesh(found, receive: { [weak air] in air?.handle($0) }, notice: notice)
        self.directory = found.path
        self.air = air
        self.mesh = mesh
        air.share { mesh.send($0) }
        do throws(RadioError) {
            try mesh.join()
        } catch {
            mesh.leave()
            throw error
        }
    }

    deinit { leave() }

    /// The most devices of one process.
    package static let deviceLimit = AirNeighbours.stationLimit

    /// The number of other processes on the air.
    package var neighbours: Int { mesh.count }

    /// Makes a new controller on the air.
    ///
    /// `address` is the public address of the controller. If it is `nil`, the controller has no public
    /// address, and the host generates a static random address.
    public func transport(
        address: DeviceAddress? = nil, cipher: ControllerConfiguration.Cipher? = nil
    ) -> VirtualTransport {
        transport(
            ControllerConfiguration(
                address: address ?? DeviceAddress(value: 0, kind: .public), cipher: cipher))
    }

    /// Makes a new controller with this configuration.
    public func transport(_ configuration: ControllerConfiguration) -> VirtualTransport {
        VirtualTransport(air: air, configuration: configuration, keeping: self)
    }

    /// Leaves the shared air.
    ///
    /// The controllers of this process then reach only each other.
    public func leave() {
        air.share(nil)
        mesh.leave()
    }
}
