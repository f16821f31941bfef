import MynahCDBus
import MynahSupport

@testable import MynahDBus

extension FuzzTarget {
    /// A message's body under a signature of the input's own: libdbus says whether it can be, and we read it.
    static let dbus = FuzzTarget("dbus") { bytes in
        guard let length = bytes.first.map({ Int($0 % 32) }), bytes.count > length else { return }
        let signature = bytes[1..<(1 + length)]
        let body = bytes.dropFirst(1 + length)
        var writer = ByteWriter(capacity: 128)
        // Little-endian, a signal, version 1 (D-Bus Specification, Message Format).
        writer.write([0x6C, 4, 0, 1] as [UInt8])
        writer.write(UInt32(body.count))
        writer.write(1 as UInt32)
        var fields = ByteWriter()
        func align(_ writer: inout ByteWriter, _ size: Int) {
            while writer.bytes.count % size != 0 { writer.write(0 as UInt8) }
        }
        for (code, type, text) in [(1, "o", "/a"), (2, "s", "a.b"), (3, "s", "C")]
            as [(UInt8, String, String)]
        {
            align(&fields, 8)
            fields.write([code, 1] as [UInt8])
            fields.write(type.utf8)
            fields.write(0 as UInt8)
            fields.write(UInt32(text.utf8.count))
            fields.write(text.utf8)
            fields.write(0 as UInt8)
        }
        align(&fields, 8)
        fields.write([8, 1, UInt8(ascii: "g"), 0, UInt8(length)] as [UInt8])
        fields.write(signature)
        fields.write(0 as UInt8)
        writer.write(UInt32(fields.bytes.count))
        writer.write(fields.bytes)
        align(&writer, 8)
        writer.write(body)
        let message = writer.bytes.withUnsafeBytes { buffer in
            dbus_message_demarshal(
                buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count), nil)
        }
        guard let message else { return }
        let read = DBusMessage(adopting: message)
        guard let values = try? read.values() else {
            // A file descriptor that did not come along.
            precondition(bytes.contains(UInt8(ascii: "h")), "what libdbus took is not read")
            return
        }
        precondition(values.map(\.signature).joined() == read.signature)
    }
}
