package import MynahCore

// Links of centrals, and rules for their requests.
extension Profile {
    /// A device's requests and rules for links with centrals.
    package struct Links: Hashable, Sendable {
        /// The connection parameters that the device requests, or `nil` if it requests none.
        package var parameterRequest: ParameterRequest?
        /// The rules for connections, disconnections and pairings.
        package var rules = LinkRules()

        package init() {}
    }

    /// The connection parameters that the device requests, or `nil` if it requests none.
    package var parameterRequest: ParameterRequest? {
        get { links.parameterRequest }
        set { links.parameterRequest = newValue }
    }

    /// The rules for links with centrals.
    package var linkRules: LinkRules {
        get { links.rules }
        set { links.rules = newValue }
    }

    /// A request for connection parameters, made some time after each connection.
    package struct ParameterRequest: Hashable, Sendable {
        /// The parameters.
        package var wanted: ConnectionParameterRange
        /// The time from the beginning of the connection to the request.
        package var delay: Duration
    }

    /// The rules of a characteristic.
    package struct Reactions: Hashable, Sendable {
        /// For a write.
        package var write: [Reaction] = []
        /// For a subscription.
        package var subscribe: [Reaction] = []

        package init() {}

        /// Whether there are no rules.
        package var isEmpty: Bool { write.isEmpty && subscribe.isEmpty }
    }

    /// The rules of a device for links with centrals.
    package struct LinkRules: Hashable, Sendable {
        /// For a connection.
        package var connect: [Reaction] = []
        /// The rules for the end of a link.
        package var disconnect: [Reaction] = []
        /// The rules for a successful pairing.
        package var pair: [Reaction] = []

        package init() {}
    }
}
