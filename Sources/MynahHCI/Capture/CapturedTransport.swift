import MynahCore
import MynahSupport

/// Records what crosses another transport, in both directions.
final class CapturedTransport: HCITransport {
    /// LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR.
    static let linkType: UInt16 = 201

    private let inner: any HCITransport
    private let file: CaptureFile
    private let interface: CaptureFile.Interface

    init(_ inner: any HCITransport, _ file: CaptureFile, _ interface: CaptureFile.Interface) {
        self.inner = inner
        self.file = file
        self.interface = interface
    }

    func open(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) async throws(RadioError) {
        try await inner.open(
            receive: { [file, interface] packet in
                file.add(Self.record(of: packet, isFromController: true), to: interface)
                receive(packet)
            }, ended: ended)
    }

    func send(_ packet: H4Packet) {
        file.add(Self.record(of: packet, isFromController: false), to: interface)
        inner.send(packet)
    }

    func close() { inner.close() }

    /// The direction as four bytes, the highest first, and the packet as on a UART.
    static func record(of packet: H4Packet, isFromController: Bool) -> [UInt8] {
        [0, 0, 0, isFromController ? 1 : 0, packet.type.rawValue] + packet.body
    }
}
