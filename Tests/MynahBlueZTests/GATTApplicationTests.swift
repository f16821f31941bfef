import MynahCore
import MynahDBus
import MynahTestSupport
import Testing

@testable import MynahBlueZ

@Suite struct GATTApplicationTests {
    @Test func `an application is added, registered and removed`() throws {
        var registry = GATTApplicationRegistry()
        let definitions = Definitions()
        let application = try registry.add([definitions.service])
        #expect(application.layout.root == "/org/mynah/application1")
        #expect(registry[definitions.rate.key]?.sends == true)
        #expect(registry[definitions.location.descriptors[0].key]?.value == [0x61])
        #expect(registry.all.map(\.isRegistered) == [false])
        let isPublished = registry.registered(application.id)
        #expect(isPublished)
        #expect(registry.all.map(\.isRegistered) == [true])
        #expect(registry.published(application.id).handles[definitions.service.key] == 0x0100)
        registry.forgetRegistrations()
        #expect(registry.all.map(\.isRegistered) == [false])
        let maybeRemoved = registry.remove(application.id)
        let removed = try #require(maybeRemoved)
        #expect(registry[definitions.rate.key] != nil, "a request may be under way")
        registry.removeAttributes(of: removed)
        #expect(registry[definitions.rate.key] == nil)
        #expect(registry.remove(application.id) == nil)
        let isStillPublished = registry.registered(application.id)
        #expect(!isStillPublished)
    }

    @Test func `each application has its own handles and number`() throws {
        var registry = GATTApplicationRegistry()
        let first = try registry.add([Definitions().service])
        _ = registry.published(first.id)
        let second = try registry.add([ServiceDefinition(uuid: "180F")])
        #expect(second.layout.handles.values.sorted() == [0x0110])
        #expect(second.layout.root == "/org/mynah/application2")
        registry.removeAll()
        let third = try registry.add([ServiceDefinition(uuid: "180F")])
        #expect(third.layout.handles.values.sorted() == [0x0100])
        #expect(third.id == PublishedServices.ID(3), "an identifier is never used twice")
    }

    @Test func `handles are given up at the same paths`() throws {
        var registry = GATTApplicationRegistry()
        let application = try registry.add([Definitions().service])
        let released = try registry.releaseHandles(of: application.id)
        let layouts = try #require(released)
        #expect(layouts.old.items.map(\.path) == layouts.new.items.map(\.path))
        #expect(layouts.new.handles.isEmpty)
        #expect(registry.published(application.id).handles.isEmpty)
        let unknown = try registry.releaseHandles(of: PublishedServices.ID(9))
        #expect(unknown == nil)
    }

    // MARK: Registration

    private static let exists = DBusError("org.bluez.Error.AlreadyExists", "Already Exists")
    private static let taken = DBusError("org.bluez.Error.Failed", "Failed to create entry in database")
    private static let invalid = DBusError("org.bluez.Error.Failed", "No valid service object found")
    private static let gone = DBusError(.noReply, "disconnected from message bus")

    /// The steps after each refusal, and whether the last one was final.
    @Test(arguments: [
        ([exists], [ApplicationRegistration.Step.registerAgain], false),
        ([exists, exists], [.registerAgain], true),
        ([exists, taken], [.registerAgain, .registerWithoutHandles], false),
        ([taken], [.registerWithoutHandles], false),
        ([taken, taken], [.registerWithoutHandles], true),
        ([taken, exists], [.registerWithoutHandles], true),
        ([invalid], [], true), ([gone], [], true),
    ])
    func `a refusal is answered once`(
        errors: [DBusError], steps: [ApplicationRegistration.Step], isFinal: Bool
    ) {
        var registration = ApplicationRegistration(hasHandles: true)
        #expect(registration.step == .register)
        var taken: [ApplicationRegistration.Step] = []
        var hasFailed = false
        for error in errors {
            do throws(RadioError) {
                try registration.refused(error)
                taken.append(registration.step)
            } catch {
                hasFailed = true
            }
        }
        #expect(taken == steps)
        #expect(hasFailed == isFinal)
    }

    @Test func `handles that were not asked for are not given up`() {
        var registration = ApplicationRegistration(hasHandles: false)
        #expect(throws: RadioError.self) { try registration.refused(Self.taken) }
    }

    // MARK: Requests

    private func verdict(
        isRead: Bool, offset: Int = 0, count: Int = 0, preparesAuthorization: Bool = false,
        isAuthorized: Bool = false, value: [UInt8]? = nil, requirement: SecurityRequirement = .open,
        properties: CharacteristicProperties = [.read, .write]
    ) -> PublishedAttribute.Verdict {
        let definition = CharacteristicDefinition(
            uuid: "2A39", properties: properties,
            permissions: .init(read: requirement, write: requirement), value: value, maximumLength: 4)
        let request = AttributeRequest(
            isRead: isRead,
            options: RequestOptions(offset: offset, preparesAuthorization: preparesAuthorization),
            value: [UInt8](repeating: 0, count: count))
        return PublishedAttribute(definition, at: "/a").verdict(on: request, isAuthorized: isAuthorized)
    }

    @Test func `a read is answered from the offset on, or asks the sink`() {
        #expect(verdict(isRead: true) == .askSink)
        #expect(verdict(isRead: true, value: [1, 2, 3]) == .answer([1, 2, 3]))
        #expect(verdict(isRead: true, offset: 2, value: [1, 2, 3]) == .answer([3]))
        #expect(verdict(isRead: true, offset: 3, value: [1, 2, 3]) == .answer([]))
        #expect(verdict(isRead: true, offset: 4, value: [1, 2, 3]) == .refuse(.invalidOffset))
    }

    @Test func `a write asks the sink unless it is too long`() {
        #expect(verdict(isRead: false, offset: 1, count: 3) == .askSink)
        #expect(verdict(isRead: false, offset: 2, count: 3) == .refuse(.invalidAttributeValueLength))
    }

    @Test func `a characteristic that is only notified is neither read nor written`() {
        for properties in [CharacteristicProperties.notify, .indicate] {
            #expect(verdict(isRead: true, value: [1], properties: properties) == .refuse(.readNotPermitted))
            #expect(verdict(isRead: true, properties: properties) == .refuse(.readNotPermitted))
            #expect(verdict(isRead: false, count: 1, properties: properties) == .refuse(.writeNotPermitted))
        }
        #expect(verdict(isRead: false, count: 1, properties: .writeWithoutResponse) == .askSink)
        #expect(verdict(isRead: false, count: 1, properties: .read) == .refuse(.writeNotPermitted))
    }

    @Test func `an attribute with authorization is refused to other centrals`() {
        for isRead in [true, false] {
            #expect(
                verdict(isRead: isRead, value: [1], requirement: .authorized)
                    == .refuse(.insufficientAuthorization))
            #expect(
                verdict(isRead: isRead, isAuthorized: true, value: [1], requirement: .authorized)
                    == (isRead ? .answer([1]) : .askSink))
        }
        #expect(
            verdict(isRead: false, count: 9, preparesAuthorization: true, isAuthorized: true) == .answer([]))
        #expect(
            verdict(isRead: false, preparesAuthorization: true, requirement: .authorized)
                == .refuse(.insufficientAuthorization))
    }
}

@Suite(.timeLimit(.minutes(15))) struct RecoveryLoopTests {
    @Test(.timeLimit(.minutes(15)))
    func `one task carries the jobs out in order, each once`() async throws {
        let starts = Mailbox<Void>("the starts of the loop")
        let work: @Sendable () async -> Void = { starts.put(()) }
        var loop = RecoveryLoop()
        loop.add(.reconnect, work)
        loop.add(.learnObjects, work)
        loop.add(.learnObjects, work)
        var jobs: [RecoveryJob?] = []
        for _ in 0..<3 { jobs.append(loop.next()) }
        #expect(jobs == [.reconnect, .learnObjects, nil])
        // The task has ended, so another job starts one.
        loop.add(.registerAll(epoch: 1), work)
        loop.cancel()
        let next = loop.next()
        #expect(next == nil)
        #expect(try await starts.take(2).count == 2)
    }
}

private final class SilentSink: RadioSink {
    func handle(_ event: RadioEvent) -> RadioAnswer { .none }
}

@Suite struct RadioStageTests {
    private let identity = DeviceIdentity(name: "Mynah")

    @Test func `a radio starts once until it is stopped, and each start has an epoch`() throws {
        var stage = RadioStage.stopped(epoch: 0)
        let early = stage.stop()
        #expect(!early)
        try stage.start(identity, SilentSink())
        #expect(stage.epoch == 1 && stage.sink != nil)
        #expect(throws: RadioError.self) { try stage.start(identity, SilentSink()) }
        stage.started()
        #expect(throws: RadioError.self) { try stage.start(identity, SilentSink()) }
        let isStopping = [stage.stop(), stage.stop()]
        #expect(isStopping == [true, false])
        #expect(stage.sink != nil, "the end of links is reported during the stop")
        stage.started()
        stage.stopped()
        #expect(stage.sink == nil && stage.epoch == 1)
        try stage.start(identity, SilentSink())
        #expect(stage.epoch == 2)
    }
}
