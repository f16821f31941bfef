/// The names of radios in events and on screens.
package enum RadioNames {
    /// The name of the virtual radio on the air that the processes of one user share.
    package static let virtual = "virtual radio"
}
