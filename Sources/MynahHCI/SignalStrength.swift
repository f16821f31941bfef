/// Decodes the RSSI in LE events and in command results.
package enum SignalStrength {
    /// Returns the RSSI in dBm, or `nil` if the controller does not know it.
    ///
    /// Valid octets are those for -127 to 20 dBm. 127 means "not available", and all others are reserved
    /// (Vol 4, Part E, 7.7.65.2).
    package static func dBm(_ octet: UInt8) -> Int8? {
        let value = Int8(bitPattern: octet)
        return (-127...20).contains(value) ? value : nil
    }
}
