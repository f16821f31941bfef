package import MynahCore

extension Profile.App {
    /// The properties that an app requires of an accessory to set it up (ASDiscoveryDescriptor).
    ///
    /// An accessory must have all of these properties. ASDiscoveryDescriptor's data blobs and range are not
    /// supported, and are ignored.
    package struct AccessoryDescriptor: Hashable, Sendable {
        /// A service that the accessory advertises, or `nil` for any.
        package var serviceUUID: BluetoothUUID?
        /// The company identifier of the accessory's manufacturer data, or `nil` for any.
        package var companyIdentifier: UInt16?
        /// A part of the name that the accessory advertises, or `nil` for any.
        package var nameSubstring: String?

        package init(
            serviceUUID: BluetoothUUID? = nil, companyIdentifier: UInt16? = nil, nameSubstring: String? = nil
        ) {
            self.serviceUUID = serviceUUID
            self.companyIdentifier = companyIdentifier
            self.nameSubstring = nameSubstring
        }

        /// Whether the descriptor matches a device with this advertisement.
        ///
        /// The comparison of the name is case-sensitive, which is an assumption.
        package func matches(_ advertisement: AdvertisementData) -> Bool {
            if let serviceUUID, !advertisement.serviceUUIDs.contains(serviceUUID) { return false }
            if let company = companyIdentifier,
                !advertisement.manufacturerData.contains(where: { $0.company == company })
            {
                return false
            }
            guard let nameSubstring else { return true }
            return advertisement.localName?.contains(nameSubstring) ?? false
        }
    }
}
