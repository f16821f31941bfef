import MynahSupport

// The informational commands (Core Specification, Vol 4, Part E, 7.4 and 7.8).
extension ControllerConfiguration {
    /// The version that a controller reports to its host and its peers: Bluetooth 5.2, or 4.2 if it is not
    /// extended (Assigned Numbers, 2.1).
    ///
    /// 0xFFFF is the company identifier for tests, which belongs to no company.
    var version: LinkVersion {
        LinkVersion(version: isExtended ? 0x0B : 0x08, company: 0xFFFF, subversion: 1)
    }

    /// The LE features that a controller has (Vol 6, Part B, 4.6).
    var features: UInt64 {
        // Encryption, connection parameters request, extended reject, peripheral-initiated features exchange,
        // data length.
        var bits: UInt64 = 0b10_1111
        // LL privacy.
        if cipher != nil { bits |= 1 << 6 }
        // LE 2M, LE Coded, extended advertising, periodic advertising.
        if isExtended { bits |= 1 << 8 | 1 << 11 | 1 << 12 | 1 << 13 }
        return bits
    }

    /// The LE features that are reported to a peer: all but LL Privacy, which concerns only the host.
    var featuresForPeer: UInt64 { features & ~(1 << 6) }

    /// The supported commands, 64 bytes (6.27).
    var supportedCommands: [UInt8] {
        var mask = [UInt8](repeating: 0, count: 64)
        for row in CommandRow.all.values where row.octet < mask.count && row.isKnown(to: self) {
            mask[row.octet] |= 1 << UInt8(row.bit)
        }
        return mask
    }

    /// Read Local Version Information (7.4.1).
    var versionAnswer: CommandAnswer {
        .values {
            $0.write(version.version)
            $0.write(1 as UInt16)
            $0.write(version.version)
            $0.write(version.company)
            $0.write(version.subversion)
        }
    }

    /// Performs LE Encrypt (7.8.22).
    func encrypt(_ reader: inout ByteReader) -> CommandAnswer? {
        // HCI sends the lowest byte first, and FIPS 197 begins with the highest.
        guard let cipher, let key = reader.readBytes(16), let block = reader.readBytes(16),
            let found = cipher(key.reversed(), block.reversed()), found.count == 16
        else { return nil }
        return .complete(.success, found.reversed())
    }
}
