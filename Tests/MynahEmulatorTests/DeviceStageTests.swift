import Testing

@testable import MynahEmulator

@Suite struct DeviceStageTests {
    @Test(arguments: [DeviceStage.Publication.missing, .foreign])
    func `missing or foreign services are published once, and again after a failure or a loss`(
        before: DeviceStage.Publication
    ) {
        for makeStage in [DeviceStage.starting, DeviceStage.running] {
            var stage = makeStage(before)
            #expect(stage.needsPublishing)
            #expect(stage.beginPublishing() == before)
            #expect(stage == makeStage(.done))
            #expect(!stage.needsPublishing)
            #expect(stage.beginPublishing() == nil)
            stage.published(before)
            #expect(stage.beginPublishing() == before)
        }
    }

    @Test(arguments: [DeviceStage.Publication.missing, .foreign, .done])
    func `a run goes from its start to its end with what the radio has`(publication: DeviceStage.Publication)
    {
        var stage = DeviceStage.starting(publication)
        #expect(!stage.isRunning)
        stage.started()
        #expect(stage == .running(publication))
        #expect(stage.isRunning)
        stage.started()
        #expect(stage == .running(publication))
    }

    @Test func `a run that has ended neither starts again nor publishes`() {
        var stage = DeviceStage.stopped
        stage.started()
        stage.published(.missing)
        #expect(stage == .stopped)
        #expect(!stage.isRunning && !stage.needsPublishing)
        #expect(stage.beginPublishing() == nil)
    }
}
