import MynahCore
import MynahTestSupport
import Testing

@testable import MynahImport

/// Which values of one characteristic answer requests, by their times: a table of cases.
@Suite struct CauseFinderTests {
    /// The cause of a value: the index of its request, or another cause.
    enum Cause: Hashable, Sendable {
        case of(Int)
        case stream
        case unasked

        init(_ cause: ValueCause) {
            switch cause {
            case .answer(let request, _): self = .of(request)
            case .stream: self = .stream
            case .unasked: self = .unasked
            }
        }
    }

    /// Requests and values on one link, with times in milliseconds.
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var requests: [(time: Int, value: [UInt8])] = []
        var values: [(time: Int, value: [UInt8], cause: Cause)] = []

        var testDescription: String { name }

        init(_ name: String) { self.name = name }

        /// Requests, the first at `time`.
        func ask(_ count: Int = 1, from time: Int = 0, every gap: Int = 0, _ value: (Int) -> [UInt8]) -> Case
        {
            var result = self
            for number in 0..<count { result.requests.append((time + gap * number, value(number))) }
            return result
        }

        /// Values, the first at `time`; `uneven` makes them late by up to 380 ms.
        func send(
            _ count: Int = 1, from time: Int, every gap: Int = 0, uneven: Int = 0,
            _ value: (Int) -> [UInt8], _ cause: (Int) -> Cause
        ) -> Case {
            var result = self
            for number in 0..<count {
                result.values.append(
                    (time + gap * number + number * uneven % 380, value(number), cause(number)))
            }
            result.values.sort { $0.time < $1.time }
            return result
        }
    }

    static let single: [Case] = [
        Case("nothing was requested").send(2, from: 10, every: 490) { _ in
            [1]
        } _: { _ in
            .unasked
        },
        Case("an answer").ask { _ in [1] }.send(from: 30) { _ in
            [0x81]
        } _: { _ in
            .of(0)
        },
        Case("an answer of several values").ask { _ in [1] }
            .send(20, from: 30, every: 40) { _ in
                [0x81]
            } _: { _ in
                .of(0)
            },
        Case("a late answer to the only request").ask { _ in [1] }
            .send(from: 1800) { _ in
                [0x81]
            } _: { _ in
                .of(0)
            },
        Case("a value long after the only request").ask { _ in [1] }
            .send(from: 8000) { _ in
                [0x81]
            } _: { _ in
                .unasked
            },
        Case("a write that starts a stream").ask { _ in [1] }
            .send(200, from: 30, every: 50) {
                [9, UInt8($0)]
            } _: { _ in
                .of(0)
            },
        Case("status values with a write by chance before one").ask(from: 5900) { _ in [1] }
            .send(3, from: 1000, every: 5000) { _ in
                [4]
            } _: { _ in
                .unasked
            },
    ]

    /// Twenty requests with an answer each.
    private static let answered = Case("").ask(20, every: 1500) { [0x10 + UInt8($0)] }
        .send(20, from: 30, every: 1500) {
            [0x80 + UInt8($0)]
        } _: {
            .of($0)
        }

    static let repeated: [Case] = [
        answered.send(from: 5730) { _ in
            [0xEE]
        } _: { _ in
            .unasked
        },
        answered.send(from: 4930) { _ in
            [0xEE]
        } _: { _ in
            .unasked
        },
        Case("a result that is late each time").ask(5, every: 4000) { _ in [0x10] }
            .send(5, from: 30, every: 4000) { _ in
                [0x80]
            } _: {
                .of($0)
            }
            .send(5, from: 1430, every: 4000) { _ in
                [0x81]
            } _: {
                .of($0)
            },
        Case("late results of requests that differ").ask(5, every: 4000) { [0x10, UInt8($0)] }
            .send(5, from: 2500, every: 4000) {
                [0x81, UInt8($0)]
            } _: {
                .of($0)
            },
        Case("late results, each by another time").ask(5, every: 9000) { [0x10, UInt8($0)] }
            .send(5, from: 1500, every: 9900) {
                [0x81, UInt8($0)]
            } _: {
                .of($0)
            },
        Case("answers that come after the next request").ask(8, every: 100) { [0x10, UInt8($0)] }
            .ask(from: 2000) { _ in [0x10, 9] }.ask(from: 2060) { _ in [0x10, 10] }
            .send(8, from: 40, every: 100) {
                [0x81, UInt8($0)]
            } _: {
                .of($0)
            }
            .send(from: 2075) { _ in
                [0x81, 9]
            } _: { _ in
                .of(9)
            },
        Case("values that are polled").ask(20, every: 1000) { _ in [3] }
            .send(20, from: 25, every: 1000) {
                [0x83, UInt8($0)]
            } _: {
                .of($0)
            },
        Case("polled values with uneven delays").ask(20, every: 1000) { _ in [3] }
            .send(20, from: 20, every: 1000, uneven: 137) {
                [0x83, UInt8($0)]
            } _: {
                .of($0)
            },
    ]

    static let streams: [Case] = [
        Case("a stream with a write in it").ask(from: 3300) { _ in [1] }
            .send(10, from: 0, every: 1000) {
                [0, UInt8($0)]
            } _: { _ in
                .stream
            },
        Case("a stream with an answered write in it").ask(from: 3300) { _ in [1] }
            .send(10, from: 0, every: 1000) {
                [0, UInt8($0)]
            } _: { _ in
                .stream
            }
            .send(from: 3330) { _ in
                [0x81]
            } _: { _ in
                .of(0)
            },
        Case("a stream of the same kind as the answers").ask(5, from: 3300, every: 5100) { _ in [1] }
            .send(30, from: 0, every: 1000) {
                [7, UInt8($0)]
            } _: { _ in
                .stream
            }
            .send(5, from: 3340, every: 5100) { _ in
                [7, 99]
            } _: {
                .of($0)
            },
        Case("a fast stream that writes do not change").ask(10, from: 500, every: 150) { _ in [2] }
            .send(100, from: 3, every: 20) {
                [UInt8($0)]
            } _: { _ in
                .stream
            },
        Case("a stream with polls at a multiple of its time").ask(10, from: 500, every: 1000) { _ in [3] }
            .send(45, from: 70, every: 250) {
                [4, UInt8($0)]
            } _: { _ in
                .stream
            }
            .send(10, from: 530, every: 1000) {
                [0x83, UInt8($0)]
            } _: {
                .of($0)
            },
        Case("a stream of bytes at random, with answers of another first byte")
            .ask(10, from: 500, every: 1300) { _ in [3] }
            .send(140, from: 70, every: 100) {
                [UInt8($0 * 89 & 0x7F), 1]
            } _: { _ in
                .stream
            }
            .send(10, from: 530, every: 1300) { _ in
                [0x83, 1]
            } _: {
                .of($0)
            },
        Case("rare values that come near writes without answers").ask(30, every: 700) { [0x80, UInt8($0)] }
            .send(4, from: 1200, every: 5000) {
                [100 - UInt8($0)]
            } _: { _ in
                .unasked
            },
        Case("a stream with keep-alive writes of another rate").ask(30, every: 710) { _ in [0xAA] }
            .send(20, from: 1000, every: 1000) {
                [5, UInt8($0)]
            } _: { _ in
                .stream
            },
    ]

    @Test(arguments: single + repeated + streams)
    func `a value has the cause that its time shows`(one: Case) {
        let requests = one.requests.map { request in
            TimedRequest(
                pattern: .write(21, request.value), sentAt: Int64(request.time) * 1000,
                time: Int64(request.time) * 1000, link: 1)
        }
        let values = one.values.enumerated().map { place, value in
            TimedValue(value: value.value[...], time: Int64(value.time) * 1000, link: 1, place: place)
        }
        let causes = CauseFinder.causes(of: values, after: requests).map { Cause($0) }
        #expect(causes == one.values.map(\.cause))
    }

    @Test func `a few values after a subscription follow from it, and a stream does not`() {
        func causes(_ times: [Int64]) -> [Cause] {
            let request = TimedRequest(pattern: .subscription(18), sentAt: 0, time: 0, link: 1)
            let values = times.enumerated().map { place, time in
                TimedValue(value: [1], time: time * 1000, link: 1, place: place)
            }
            return CauseFinder.causes(of: values, after: [request]).map { Cause($0) }
        }
        #expect(causes([20]) == [.of(0)])
        #expect(causes([20, 40]) == [.of(0), .of(0)])
        #expect(causes([1500]) == [.unasked])
        #expect(causes((1...20).map { $0 * 100 }) == Array(repeating: .stream, count: 20))
        #expect(causes([1000, 2000, 3000]) == [.unasked, .unasked, .unasked])
    }

    @Test func `a value of another link has no request`() {
        let request = TimedRequest(pattern: .write(21, [1]), sentAt: 0, time: 0, link: 1)
        let value = TimedValue(value: [1], time: 30_000, link: 2, place: 0)
        #expect(CauseFinder.causes(of: [value], after: [request]) == [.unasked])
    }

    /// A capture that is made up so that each moment has many values.
    @Test func `many values at one time are sorted`() {
        let requests = (0..<3).map {
            TimedRequest(pattern: .write(21, [1]), sentAt: Int64($0), time: Int64($0), link: $0)
        }
        let values = (0..<100_000).map {
            TimedValue(value: [UInt8($0 & 0xFF)], time: 10 + Int64($0 / 1000), link: $0 % 3, place: $0)
        }
        #expect(CauseFinder.causes(of: values, after: requests).count == values.count)
    }
}
