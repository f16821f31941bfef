public import MynahCore

// Connections that the central's half asks for.
extension HostRadio {
    /// Connects; several connections may be waited for at once.
    public func connect(_ address: DeviceAddress, timeout: Duration?) async throws(RadioError) -> Peer {
        guard life.isRunning else { throw RadioError(.invalidState, "the radio does not run") }
        let address = peers.identity(of: address, security.bonds)
        guard !links.hasPeripheral(address), !controller.connector.wants(address) else {
            throw RadioError(.invalidState, "\(address) is connected already, or about to be")
        }
        let (epoch, onAir) = (life.epoch, peers.current(of: address))
        let number = change { _, _, connector in connector.want(address, onAir: onAir) }
        if let timeout { deadlines[.connect(number)] = now() + timeout }
        follow()
        armTimer()
        let overdue = RadioError(.timedOut, "\(address) did not answer within \(timeout ?? .zero)")
        let cancelled = RadioError(.timedOut, "connecting to \(address) was cancelled")
        return try await withTaskCancellationHandler {
            await withCheckedContinuation {
                waiters.connections[number] = .init(continuation: $0, overdue: overdue)
            }
        } onCancel: {
            Task { await self.giveUp(number, cancelled, in: epoch) }
        }.get()
    }

    func connectOverdue(_ number: UInt64) {
        if let overdue = waiters.connections[number]?.overdue { giveUp(number, overdue, in: life.epoch) }
    }

    /// Gives a request up; after a stop its number may be another request's.
    private func giveUp(_ number: UInt64, _ error: RadioError, in epoch: Int) {
        guard epoch == life.epoch else { return }
        change { _, _, connector in _ = connector.giveUp(number) }
        endConnection(number, .failure(error))
        follow()
        changeLinks { $0.giveUp(number, &$1) }
    }

    func endConnection(_ number: UInt64, _ result: Result<Peer, RadioError>) {
        deadlines[.connect(number)] = nil
        waiters.endConnection(number, result)
    }
}
