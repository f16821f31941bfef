package import MynahCore

extension Profile {
    /// An L2CAP channel that an app publishes or opens.
    package struct Channel: Sendable {
        /// The largest length of a greeting in bytes, which is the MTU of a channel of Mynah's host.
        package static let largestGreeting = 2048

        /// The characteristic that contains the PSM.
        package var psm: AttributeName
        /// Whether the channel requires an encrypted link, if the app publishes the channel.
        package var isEncrypted = false
        /// The SDU that is sent after the channel was opened, or `nil` if there is none.
        package var greeting: [UInt8]?
    }
}
