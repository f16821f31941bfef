import Mynah
import MynahCore

/// Answers the reads and writes of centrals for a device.
///
/// Requests are passed to a test (`ask`), or else handled by the `RequestPipeline`. Belongs to the device's
/// player, and runs on the phone's executor.
final class RequestAnswerer {
    private let memory: DeviceMemory
    private let asks: RequestAsker
    private let pipeline: RequestPipeline

    init(of memory: DeviceMemory, _ asks: RequestAsker, _ pipeline: RequestPipeline) {
        self.memory = memory
        self.asks = asks
        self.pipeline = pipeline
    }

    func read(_ request: ReadRequest, _ central: Central) -> RadioAnswer {
        memory.noteWake(request.attribute)
        if memory.table.isAsking, let answer = asks.ask(request, central) { return answer }
        // If the PSM of the app's channel is not known yet, the answer waits for it.
        if request.attribute == memory.device.responses.psm,
            let pending = memory.appSide.channel.wait(with: request, central)
        {
            return .later(pending)
        }
        return .answer(pipeline.answer(request, central))
    }

    func write(_ request: WriteRequest, _ central: Central) -> RadioAnswer {
        for part in request.parts { memory.noteWake(part.attribute) }
        if memory.table.isAsking, let answer = asks.ask(request, central) { return answer }
        let outcome = pipeline.answer(request, central)
        memory.reportWrite(request, central, outcome)
        return .answer(outcome)
    }
}
