/// Profiles of apps.
package enum AppProfile {
    /// The profile of an app with one service, whose characteristic 2A39 has the app's name as its value.
    package static func text(_ name: String, _ service: String) -> String {
        """
        mynah: 1
        name: \(name)
        app: {backgroundModes: [bluetooth-peripheral]}
        advertising: {localName: \(name), serviceUUIDs: [\(service)]}
        services:
          - uuid: \(service)
            characteristics: [{uuid: 2A39, properties: [read, write], value: {text: \(name)}}]

        """
    }
}
