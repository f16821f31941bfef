package import MynahCore

extension SharedAir {
    /// The directory of the air that this process would join, and the error if that is not possible.
    ///
    /// Nothing is created.
    package static var outlook: (directory: String, problem: RadioError?) {
        let directory = AirDirectoryChoice.ofThisProcess().directory
        return (directory.path, directory.problem)
    }
}
