import Logging
import MynahCore
import MynahHCI
import MynahSupport

// The own address.
extension HostRadio {
    /// How soon a change is tried again that the controller did not allow, as while it connects.
    static let rotationRetry = Duration.seconds(10)

    func chooseAddress(_ publicAddress: DeviceAddress?) async throws(RadioError) {
        let publicAddress = publicAddress?.value == 0 ? nil : publicAddress
        rotating?.cancel()
        rotation = nil
        let identity: DeviceAddress
        switch options.address {
        case .automatic:
            identity = publicAddress ?? staticAddress()
        case .public:
            guard let publicAddress else {
                throw RadioError(
                    .unsupported, "the controller has no public address", remedy: "choose another address")
            }
            identity = publicAddress
        case .fixed(let address):
            guard address == publicAddress || address.isStatic else {
                throw RadioError(
                    .unsupported, "\(address) is neither the controller's public address nor a static one",
                    remedy: "the two highest bits of a static address are set, as in C0:…")
            }
            identity = address
        case .resolvablePrivate(let interval):
            identity = publicAddress ?? staticAddress()
            rotation = AddressRotation(
                security.bonds.identityResolvingKey, every: max(interval, .seconds(1)), at: now(),
                random: security.random)
        }
        identityAddress = identity
        let onAir = rotation?.address ?? identity
        if onAir.kind == .random { try await setRandomAddress(onAir) }
        ownAddress = onAir
        guard rotation != nil else { return }
        rotating = Task { [run] in await rotateAddresses(run) }
    }

    private func setRandomAddress(_ address: DeviceAddress) async throws(RadioError) {
        var writer = ByteWriter(capacity: 6)
        writer.write(address)
        try await command(.leSetRandomAddress, writer.bytes, "setting its random address")
    }

    private func staticAddress() -> DeviceAddress {
        if let kept = security.bonds.staticAddress { return kept }
        let new = PrivateAddress.fixed(from: &security.random)
        security.bonds.staticAddress = new
        saveBonds()
        return new
    }

    private func rotateAddresses(_ run: Int) async {
        while run == self.run, let due = rotation?.due {
            let left = due - now()
            if left > .zero {
                guard (try? await sleep(left)) != nil else { return }
            } else {
                guard await rotate(), !Task.isCancelled else {
                    guard (try? await sleep(Self.rotationRetry)) != nil else { return }
                    continue
                }
            }
        }
    }

    /// A new address; false: the controller does not take one now.
    ///
    /// It may not change on the air (Vol 4, Part E, 7.8.4), so advertising and scanning stop for a moment.
    private func rotate() async -> Bool {
        guard state == .running, var next = rotation, let address = next.rotate(at: now()) else {
            return false
        }
        advertiser.hold()
        await settleAdvertising()
        await pauseScan()
        var isSet = false
        do throws(RadioError) {
            try await setRandomAddress(address)
            ownAddress = address
            rotation = next
            isSet = true
        } catch {
            logger.debug("address stays", metadata: ["error": "\(error)"])
        }
        advertiser.release(ownAddress)
        advertiseAgain()
        await resumeScan()
        if isSet, reported.isOn {
            reported.address = address
            tell(.advertisingChanged(reported))
        }
        return isSet
    }
}
