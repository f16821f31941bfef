package import MynahCore

// Links of centrals, and rules for links and requests.
extension Profile {
    /// A device's parameter request and rules for links with centrals.
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

    /// A request for connection parameters, which is made after each connection.
    package struct ParameterRequest: Hashable, Sendable {
        /// The requested parameters.
        package var wanted: ConnectionParameterRange
        /// The time from the connection to the request.
        package var delay: Duration
    }

    /// The rules of a characteristic.
    package struct Reactions: Hashable, Sendable {
        /// The rules for writes.
        package var write: [Reaction] = []
        /// The rules for subscriptions.
        package var subscribe: [Reaction] = []

        package init() {}

        /// `true` if there are no rules.
        package var isEmpty: Bool { write.isEmpty && subscribe.isEmpty }
    }

    /// The rules of a device for links with centrals.
    package struct LinkRules: Hashable, Sendable {
        /// The rules for a new connection.
        package var connect: [Reaction] = []
        /// The rules for the end of a link.
        package var disconnect: [Reaction] = []
        /// The rules for a successful pairing.
        package var pair: [Reaction] = []

        package init() {}
    }
}
