import MynahCore
import MynahSupport

extension Profile {
    /// Makes copies of an accessory, named `NAME 1`, `NAME 2` and so on, each with its own values.
    ///
    /// The number is added to the profile's name, to the device's name and to the advertised name. All
    /// copies advertise their name in the same payload as the profile, advertising data or scan response.
    /// Throws an issue if the longest name is too long.
    public func copies(_ count: Int) throws(ProfileIssues) -> [Profile] {
        try checkLastName(of: count)
        return (1...max(1, count)).map(copy)
    }

    private func copy(_ number: Int) -> Profile {
        var copy = self
        copy.copy = number
        copy.name = Self.name(name, number)
        copy.device.name = Self.name(device.name, number)
        if let localName = advertising?.advertisement.localName, !localName.isEmpty {
            copy.advertising?.advertisement.localName = Self.name(localName, number)
        }
        return copy
    }

    private static func name(_ name: String, _ number: Int) -> String { "\(name) \(number)" }

    /// Throws an issue if the name of the last copy is too long.
    private func checkLastName(of count: Int) throws(ProfileIssues) {
        let last = copy(count)
        let nameMark = marks["device.name"] ?? marks["name"]
        let excess = last.device.name.utf8.count - DeviceIdentity.longestName
        if excess > 0 {
            throw refusal(
                last.device.name, excess,
                "the device's name can have \(DeviceIdentity.longestName) bytes; shorten it", at: nameMark)
        }
        guard let advertisement = last.advertising?.advertisement, let own = advertising?.advertisement,
            let name = advertisement.localName, let room = AccessoryAdvertising.roomForName(of: own),
            name.utf8.count > room.count
        else { return }
        throw refusal(
            name, name.utf8.count - room.count,
            """
            the \(room.payload.rawValue) has room for a name of \(room.count.counting("byte")); shorten it, \
            leave something else out, or write localName: \"\"
            """, at: advertising?.marks["localName"] ?? nameMark)
    }

    private func refusal(_ name: String, _ excess: Int, _ reason: String, at mark: SourceMark?)
        -> ProfileIssues
    {
        ProfileIssues([
            issue(
                .error, at: mark,
                "the copy's name \"\(name)\" is \(excess.counting("byte")) too long: \(reason)")
        ])
    }
}
