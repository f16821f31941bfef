/// Decodes the RSSI in LE events and in results of commands.
package enum SignalStrength {
    /// The RSSI in a byte, in dBm, or `nil` if the controller does not know it.
    ///
    /// An RSSI is -127 to 20, and 127 is "not available"; every other octet is reserved (Vol 4, Part E,
    /// 7.7.65.2).
    package static func dBm(_ octet: UInt8) -> Int8? {
        let value = Int8(bitPattern: octet)
        return (-127...20).contains(value) ? value : nil
    }
}
