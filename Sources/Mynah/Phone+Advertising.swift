public import MynahCore

// What managers ask of the one advertisement.
extension Phone {
    /// Keeps what is on the air until `releaseAdvertising()`, so that what is being set up does not go out half done.
    public func holdAdvertising() {
        advertiser.hold()
    }

    /// Brings the radio in step with what the managers ask for, and returns when it is.
    public func releaseAdvertising() async throws(RadioError) {
        try await advertiser.release(on: self)
    }

    func startAdvertising(
        _ new: Advertisement, for reference: ManagerReference
    ) async throws(RadioError) -> AdvertisingReport {
        guard let manager = manager(reference) else {
            throw RadioError(.invalidState, "the app of this manager has ended, or its phone was stopped")
        }
        return try await advertiser.start(new, for: manager, on: self)
    }

    func stopAdvertising(for reference: ManagerReference) async {
        guard let manager = manager(reference), manager.app?.isRunning ?? true else { return }
        await advertiser.stop(manager, on: self)
    }
}
