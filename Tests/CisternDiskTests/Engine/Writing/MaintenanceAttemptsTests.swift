import Testing

@testable import CisternDisk

/// The attempts at maintenance without room, and the pauses for readers.
@Suite struct MaintenanceAttemptsTests {
  @Test func `attempts end in a pause, and begin anew after it`() {
    var attempts = MaintenanceAttempts()
    for round in 0..<2 {
      for number in 1...MaintenanceAttempts.most {
        let isAllowed = attempts.noteAttempt()
        #expect(isAllowed && attempts.count == number, "\(round)")
      }
      let isAllowed = attempts.noteAttempt()
      #expect(!isAllowed && attempts.count == 0)
    }
  }

  @Test func `each success takes one attempt away`() {
    var attempts = MaintenanceAttempts()
    for _ in 0..<2 { _ = attempts.noteAttempt() }
    attempts.noteSuccess()
    #expect(attempts.count == 1)
    for _ in 0..<2 { attempts.noteSuccess() }
    #expect(attempts.count == 0)
  }

  @Test func `pauses for a reader double up to their limits, and begin anew after a success`() {
    var attempts = MaintenanceAttempts()
    let milliseconds = (0..<13).map { _ in attempts.pauseForReader(atMost: .max) / 1_000_000 }
    #expect(milliseconds == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024])
    attempts.noteSuccess()
    #expect((0..<3).map { _ in attempts.pauseForReader(atMost: 3_000_000) } == [1_000_000, 2_000_000, 3_000_000])
    #expect(attempts.count == 0)
  }
}
