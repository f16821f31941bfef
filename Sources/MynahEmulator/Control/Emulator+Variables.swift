import MynahCore
package import MynahProfiles
import MynahSupport
import MynahValues

// Variables that a test sets.
extension Emulator {
    /// Sets a variable of a device until it is reset; values that read it change.
    package func setVariable(
        _ name: String, to value: VariableValue, in label: String
    ) throws(ControlRefusal) {
        let player = try player(named: label)
        var variables = player.table.variables
        guard variables[name] != nil else {
            throw .unknown("variable", name, of: label, among: variables.names)
        }
        guard hasMemory(player) else {
            throw .conflict(noProcess(player, "its variables exist only while it runs"))
        }
        _ = variables.set(name, to: value)
        do throws(LayoutProblem) {
            try player.reactions.take(variables)
        } catch {
            throw .invalid("a value that reads \(name) cannot be made: \(error.message)")
        }
    }
}
