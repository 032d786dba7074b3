import Cistern
import CisternTesting
import Foundation
import Testing
import TestDirectories

@testable import StressKit

/// The signals of a user during a run.
@Suite struct InterruptTests {
  private let folder = TemporaryDirectory()

  @Test func `the first signal ends the run, and the second one removes its files and ends the process`() throws {
    let report = try folder.file("report.json.partial-1", "{")
    _ = try folder.file("run/store/data.mdb", "data")
    _ = try folder.file("run/cistern-stress-copy-1/data.mdb", "data")
    let remains = RunRemains(directory: folder.path + "/run", partialReport: report)
    let stop = StopSignal(.duration(.seconds(3_600)))
    var statuses: [Int32] = []
    InterruptWatch.respond(stop, removing: remains) { statuses.append($0) }
    #expect(stop.isInterrupted && stop.isRaised)
    #expect(statuses.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    InterruptWatch.respond(stop, removing: remains) { statuses.append($0) }
    #expect(statuses == [130])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test func `after a failure has ended the run, the first signal does not end the process`() {
    let remains = RunRemains(directory: folder.path, partialReport: nil)
    let stop = StopSignal(.duration(.seconds(3_600)))
    stop.end()
    #expect(stop.isRaised && !stop.isInterrupted)
    InterruptWatch.respond(stop, removing: remains) { _ in Issue.record("the process ended") }
    #expect(stop.isInterrupted)
    #expect(FileManager.default.fileExists(atPath: folder.path))
  }

  @Test func `a temporary store is in the directory that the run removes, and a store of the user is not`() throws {
    let own = try StoreDirectory(nil)
    #expect(own.path.hasPrefix(own.temporary + "/"))
    #expect(FileManager.default.fileExists(atPath: own.path))
    own.removeTemporary()
    #expect(!FileManager.default.fileExists(atPath: own.temporary))
    let given = try StoreDirectory(folder.path)
    #expect(given.path == folder.path && !FileManager.default.fileExists(atPath: given.temporary))
    given.removeTemporary()
    #expect(FileManager.default.fileExists(atPath: folder.path))
  }

  @Test func `the copies of a run are in its temporary directory`() async throws {
    let copies = folder.path + "/copies"
    let exercise = BackupExercise(violations: ViolationLog(), temporary: copies)
    let store = try Store(directory: folder.store, memoryLimit: .kibibytes(32), diskLimit: .mebibytes(16))
    try exercise.open(in: store, isFirst: true)
    let client = Performer(number: 0, tally: Tally(), generator: SeededGenerator(seed: 1, index: 0))
    // Each copy is removed, and the directory that it was made in stays.
    for _ in 0..<200 { await exercise.perform(by: client) }
    try await store.close()
    #expect(client.tally.count(of: .copied) > 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: copies) == [])
  }
}
