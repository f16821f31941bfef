/// How far the run of an emulator is.
enum RunStage {
    case idle
    case starting
    case running
    case stopped
}
