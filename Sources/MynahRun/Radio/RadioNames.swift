/// The names of radios in events and on screens.
package enum RadioNames {
    /// The radio that the processes of one user share.
    package static let virtual = "virtual radio"
}
