import ArgumentParser
import MynahProfiles
import MynahSupport

/// `mynah new`.
struct NewCommand: StagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Prints a commented profile to start from.",
        discussion: """
            mynah new heart-rate > strap.yaml

            Templates: \(ProfileTemplates.names.joined(separator: ", ")).
            """)

    @Argument(help: "The template.", completion: .list(ProfileTemplates.names))
    var template = "heart-rate"

    func validate() throws {
        guard ProfileTemplates.text(named: template) == nil else { return }
        let near = NearestName.of(template, among: ProfileTemplates.names).map { "; did you mean \"\($0)\"?" }
        let names = ProfileTemplates.names.joined(separator: ", ")
        throw ValidationError("there is no template \"\(template)\"\(near ?? ""); the templates are \(names)")
    }

    func play(in surroundings: Surroundings) {
        if let text = ProfileTemplates.text(named: template) { surroundings.print(text, terminator: "") }
    }
}
