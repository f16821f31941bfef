import MynahConsole
import MynahEmulator
import MynahLifecycle
import Testing

@Suite(.timeLimit(.minutes(5))) struct TypedKeysTests {
    @Test(
        arguments: [
            ("f", false, [.app(.transition(.enterForeground))], ""),
            ("2b0x\n", false, [.app(.choose(2)), .app(.transition(.enterBackground))], ""),
            ("012345\n", true, [.number(12345)], ""), ("0123\u{7F}\u{8}9", true, [], "019"),
            ("12345678\r", true, [.number(123_456)], ""),
            ("\n1b", true, [.app(.transition(.enterBackground))], "1"),
        ] as [(String, Bool, [TypedKeys.Typed], String)])
    func `digits choose an app, or are a number's while one is asked for`(
        text: String, isNumberAsked: Bool, completed: [TypedKeys.Typed], digits: String
    ) {
        var keys = TypedKeys()
        let found = text.utf8.map { keys.type($0, isNumberAsked: isNumberAsked) }.compactMap { $0 }
        #expect(found == completed)
        #expect(keys.digits == digits)
    }

    @Test func `the digits of a pairing that is over are forgotten`() {
        var keys = TypedKeys()
        for key in "123".utf8 { #expect(type(&keys, key, true) == nil) }
        #expect(type(&keys, UInt8(ascii: "4"), false) == .app(.choose(4)))
        #expect(keys.digits == "")
        #expect(type(&keys, UInt8(ascii: "\n"), true) == nil)
    }

    private func type(_ keys: inout TypedKeys, _ key: UInt8, _ isNumberAsked: Bool) -> TypedKeys.Typed? {
        keys.type(key, isNumberAsked: isNumberAsked)
    }
}

@Suite(.timeLimit(.minutes(5))) struct AppKeysTests {
    /// Two phones, which are told apart by their identity alone.
    private final class Phone: Sendable {}

    private let anna = Phone()
    private let bob = Phone()

    private func take(_ text: String, _ keys: inout AppKeys) -> [String] {
        text.utf8.compactMap { AppKey($0) }.map { key in
            switch keys.press(key) {
            case .nothing: "-"
            case .ambiguous(let phones): "which of \(phones)"
            case .action(.transition(let step), let target, let phone):
                "\(step.rawValue) \(target) \(name(phone))"
            case .action(let action, let target, let phone): "\(action) \(target) \(name(phone))"
            }
        }
    }

    private func name(_ phone: ObjectIdentifier) -> String {
        phone == ObjectIdentifier(anna) ? "Anna" : "Bob"
    }

    @Test func `keys act on the app that was last in front until one is chosen`() {
        var keys = AppKeys(apps: ["One", "Two"])
        #expect(take("bo", &keys) == ["-", "-"])
        keys.set(["One", "Two"], of: ObjectIdentifier(anna))
        #expect(
            take("b2f9q1sto", &keys) == [
                "background lastInFront Anna", "-", #"foreground named("Two") Anna"#, "-",
                #"quit named("Two") Anna"#, "-", #"suspended named("One") Anna"#,
                #"terminated named("One") Anna"#, "openAlert every Anna",
            ])
        #expect(keys.chosen == "One" && keys.canChoose)
    }

    @Test func `with several phones keys act on the chosen app, and on its phone`() {
        var keys = AppKeys(apps: ["One", "Two", "Three"])
        keys.set(["One", "Three"], of: ObjectIdentifier(anna))
        keys.set(["Two"], of: ObjectIdentifier(bob))
        #expect(take("bo", &keys) == ["which of 2", "which of 2"])
        #expect(take("2bo", &keys) == ["-", #"background named("Two") Bob"#, "openAlert every Bob"])
        #expect(take("3b", &keys) == ["-", #"background named("Three") Anna"#])
        // Its phone goes, and one is left.
        keys.remove(ObjectIdentifier(anna))
        #expect(keys.chosen == nil && !keys.canChoose)
        #expect(take("3b", &keys) == ["-", "background lastInFront Bob"])
    }

    @Test func `an app that joins its phone later has a key, and one that is removed has none`() {
        var keys = AppKeys(apps: ["One"])
        keys.set(["One"], of: ObjectIdentifier(anna))
        #expect(take("2b", &keys) == ["-", "background lastInFront Anna"] && !keys.canChoose)
        keys.set(["One", "Two"], of: ObjectIdentifier(anna))
        #expect(take("2b", &keys) == ["-", #"background named("Two") Anna"#] && keys.canChoose)
        keys.set(["One"], of: ObjectIdentifier(anna))
        #expect(take("2b", &keys) == ["-", "background lastInFront Anna"] && keys.chosen == nil)
        // The number of an app stays its own.
        keys.set(["One", "Three"], of: ObjectIdentifier(anna))
        #expect(take("3b", &keys) == ["-", #"background named("Three") Anna"#])
    }
}
