/// Orders services so that included services come before those that include them; otherwise the order of the
/// file is kept.
///
/// Services with the same UUID keep the order of the file, so that `180F~2` is the same service in the file
/// and on the air.
struct IncludeOrder {
    private enum State { case open, entered, placed }

    let targets: [[Int]]
    /// The services that must come before each service: the previous one with the same UUID, and the included
    /// ones.
    private let earlier: [[Int]]
    private(set) var order: [Int] = []
    /// The services of a cycle if one was found; the first one is repeated at the end.
    private(set) var cycle: [Int] = []
    private var states: [State]

    init(targets: [[Int]], predecessors: [Int?]) {
        self.targets = targets
        earlier = zip(targets, predecessors).map { ($1.map { [$0] } ?? []) + $0 }
        states = Array(repeating: .open, count: targets.count)
    }

    /// Adds a service after all that must come before it; returns `false` if there is a cycle.
    ///
    /// This is not recursive, because a chain of services can be longer than the stack allows.
    mutating func place(_ index: Int) -> Bool {
        var way: [(service: Int, next: Int)] = []
        func enter(_ service: Int, _ order: inout IncludeOrder) {
            order.states[service] = .entered
            way.append((service, 0))
        }
        if states[index] == .open { enter(index, &self) }
        while let (service, next) = way.last {
            guard next < earlier[service].count else {
                way.removeLast()
                states[service] = .placed
                order.append(service)
                continue
            }
            way[way.count - 1].next += 1
            let target = earlier[service][next]
            switch states[target] {
            case .placed: break
            case .open: enter(target, &self)
            case .entered:
                cycle = way.map(\.service).drop { $0 != target } + [target]
                return false
            }
        }
        return true
    }
}
