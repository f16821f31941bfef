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
        let found = text.utf8.map { keys.take($0, isNumberAsked: isNumberAsked) }.compactMap { $0 }
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
        keys.take(key, isNumberAsked: isNumberAsked)
    }
}

@Suite(.timeLimit(.minutes(5))) struct AppKeysTests {
    @Test func `keys act on the app that was last in front until one is chosen`() {
        var keys = AppKeys(apps: ["One", "Two"])
        let taken = "b2f9q1st0xo".utf8.map { AppKey($0) }.map { key in
            key.flatMap { keys.take($0) }.map { keyed in
                guard case .transition(let transition) = keyed.action else { return "\(keyed)" }
                return "\(transition.rawValue) \(keyed.target)"
            }
        }
        #expect(
            taken == [
                "background lastInFront", nil, #"foreground named("Two")"#, nil, #"quit named("Two")"#, nil,
                #"suspended named("One")"#, #"terminated named("One")"#, nil, nil,
                "(action: MynahEmulator.UserAction.openAlert, target: MynahEmulator.AppTarget.every)",
            ])
        #expect(keys.chosen == "One")
    }
}
