/// Lets others run until a condition holds; throws where the test's time limit ends it first.
package func until(_ condition: () async -> Bool) async throws {
    while await !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
