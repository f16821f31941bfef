/// The stage of an emulator's run.
enum RunStage {
    case idle
    case starting
    case running
    case stopped
}
