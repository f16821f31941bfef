package import MynahCore

extension Profile {
    /// An L2CAP channel that an app publishes or opens.
    package struct Channel: Sendable {
        /// The most bytes of a greeting: the MTU of a channel of Mynah's host.
        package static let largestGreeting = 2048

        /// The characteristic with the PSM.
        package var psm: AttributeName
        /// Whether the link has to be encrypted; of a channel that is published.
        package var isEncrypted = false
        /// The SDU that is sent when the channel was opened, or `nil` if none is.
        package var greeting: [UInt8]?
    }
}
