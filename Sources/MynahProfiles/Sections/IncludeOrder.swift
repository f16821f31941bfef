/// Puts included services before the services that include them, and keeps the order of the file otherwise.
///
/// Services of one UUID keep the file's order, so that `180F~2` is the same one in the file and on the air.
struct IncludeOrder {
    private enum State { case open, entered, placed }

    let targets: [[Int]]
    /// The services that must precede each service: the previous one with its UUID, and those that it
    /// includes.
    private let earlier: [[Int]]
    private(set) var order: [Int] = []
    /// The members of a cycle if one was found, with the first one again at the end.
    private(set) var cycle: [Int] = []
    private var states: [State]

    init(targets: [[Int]], predecessors: [Int?]) {
        self.targets = targets
        earlier = zip(targets, predecessors).map { ($1.map { [$0] } ?? []) + $0 }
        states = Array(repeating: .open, count: targets.count)
    }

    /// Places a service and all that precede it; returns `false` if there is a cycle.
    ///
    /// The way down is kept by hand: a chain can be longer than the stack is deep.
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
