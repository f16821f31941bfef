import Mynah
import MynahCore
import MynahEmulator
import MynahSupport

/// Carries out the commands of `mynah connect` for one device.
struct ConnectedDevice: Sendable {
    /// The result of a command.
    enum Outcome {
        case done
        case failed
        case quit
    }

    private let phone: CentralPhone
    let peripheral: Peripheral
    private let plan: ConnectPlan
    private let interruption: Interruption

    init(
        _ peripheral: Peripheral, of phone: CentralPhone, plan: ConnectPlan, interruption: Interruption
    ) {
        self.phone = phone
        self.peripheral = peripheral
        self.plan = plan
        self.interruption = interruption
    }

    /// Whether the session is ending, so that failed requests are not reported.
    var isEnding: Bool { interruption.isInterrupted }

    var sink: ConnectSink { phone.sink }

    func tell(_ report: ConnectReport) { sink.tellResult(report) }

    /// Connects to the device and discovers the services of the plan; reports them if `plan.reportsServices`
    /// is set.
    func open() async throws(RequestError) {
        try await phone.open(
            peripheral, timeout: plan.timeout, limitsAnswers: true, services: plan.services,
            reportsServices: plan.reportsServices)
    }

    /// Parses and carries out a line.
    func perform(_ line: String) async -> Outcome {
        do throws(ConnectRequest.Problem) {
            guard let request = try ConnectRequest.parse(line) else { return .done }
            return await perform(request)
        } catch {
            tell(.problem(error.message))
            return .failed
        }
    }

    private func perform(_ request: ConnectRequest) async -> Outcome {
        switch request {
        case .quit: return .quit
        case .help: tell(.help)
        // The wait lasts as long as the user has requested, even if the link ends.
        case .wait(let duration): try? await phone.clock.sleep(for: duration)
        case .connect:
            guard await !peripheral.isConnected else { return .done }
            do throws(RequestError) {
                try await open()
            } catch {
                if !isEnding { tell(.failed(error)) }
                return .failed
            }
        default:
            guard let verb = request.verb(for: plan) else { return .done }
            do throws(PhoneFailure) {
                _ = try await phone.carryOut(verb, on: peripheral)
            } catch {
                return .failed
            }
        }
        return .done
    }

    /// Waits until the device has received all values that were written without response.
    func settle() async { await phone.settle(peripheral) }
}
