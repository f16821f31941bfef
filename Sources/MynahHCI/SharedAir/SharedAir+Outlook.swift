package import MynahCore

extension SharedAir {
    /// The directory of this process's air, and the error if it cannot be joined; this creates nothing.
    package static var outlook: (directory: String, problem: RadioError?) {
        let directory = AirDirectoryChoice.ofThisProcess().directory
        return (directory.path, directory.problem)
    }
}
