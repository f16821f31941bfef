package import MynahCore

extension Profile.App {
    /// The properties of accessories that an app can set up (ASDiscoveryDescriptor).
    ///
    /// An accessory has to have all of them. Its data blobs and its range are not played.
    package struct AccessoryDescriptor: Hashable, Sendable {
        /// A service that it advertises, or `nil` for any.
        package var serviceUUID: BluetoothUUID?
        /// The company of its manufacturer data, or `nil` for any.
        package var companyIdentifier: UInt16?
        /// A part of the name that it advertises, or `nil` for any.
        package var nameSubstring: String?

        /// A descriptor.
        package init(
            serviceUUID: BluetoothUUID? = nil, companyIdentifier: UInt16? = nil, nameSubstring: String? = nil
        ) {
            self.serviceUUID = serviceUUID
            self.companyIdentifier = companyIdentifier
            self.nameSubstring = nameSubstring
        }

        /// Whether the descriptor matches a device with this advertisement.
        ///
        /// Case matters in the name, which is an assumption.
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
