package import MynahCore

// Requests of managers to advertise.
extension Phone {
    /// Keeps the current advertising until `releaseAdvertising()`, so that an incomplete setup is not
    /// advertised.
    package func holdAdvertising() {
        advertiser.hold()
    }

    /// Resumes advertising as the managers request, and returns when the radio advertises that.
    package func releaseAdvertising() async throws(RadioError) {
        try await advertiser.release()
    }
}
