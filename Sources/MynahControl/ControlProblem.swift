package import MynahSupport

/// An error that is sent to a client as a problem document (RFC 9457).
package struct ControlProblem: Error, Hashable, Sendable {
    /// The HTTP status.
    package var status: Int
    /// A sentence without its full stop: the cause, the place and the remedy.
    package var detail: String
    /// The members in addition to `title`, `status` and `detail`.
    package var members: [JSON.Member]

    /// Makes a problem with a status.
    package init(_ status: Int, _ detail: String, _ members: [JSON.Member] = []) {
        self.status = status
        self.detail = detail
        self.members = members
    }
}
