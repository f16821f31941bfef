/// Orders services so that included services come before those that include them.
///
/// Otherwise, the order of the file is kept. Services with the same UUID always keep it, so that `180F~2` is
/// the same service in the file and on the air.
struct IncludeOrder {
    private enum State { case open, entered, placed }

    let targets: [[Int]]
    /// For each service, the services that must come before it.
    ///
    /// These are the previous service with the same UUID, and the included services.
    private let earlier: [[Int]]
    private(set) var order: [Int] = []
    /// The services of a cycle that was found, with the first one repeated at the end, or an empty list.
    private(set) var cycle: [Int] = []
    private var states: [State]

    init(targets: [[Int]], predecessors: [Int?]) {
        self.targets = targets
        earlier = zip(targets, predecessors).map { ($1.map { [$0] } ?? []) + $0 }
        states = Array(repeating: .open, count: targets.count)
    }

    /// Places a service after all services that must come before it; returns `false` if there is a cycle.
    ///
    /// The function is not recursive, because a chain of services can be longer than the stack allows.
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
