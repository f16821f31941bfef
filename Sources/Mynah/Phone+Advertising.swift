package import MynahCore

// Requests of managers to advertise.
extension Phone {
    /// Keeps what is on the air until `releaseAdvertising()`, so that what is being set up does not go out
    /// half done.
    package func holdAdvertising() {
        advertiser.hold()
    }

    /// Resumes advertising as the managers request, and returns when the radio does that.
    package func releaseAdvertising() async throws(RadioError) {
        try await advertiser.release()
    }
}
