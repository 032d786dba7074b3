import Testing

@testable import CisternDisk

/// The order of the duties of the writer thread.
@Suite struct WriterStateTests {
  private func duty(_ state: inout WriterState, now: UInt64 = 0, stagedCount: Int = 1, interval: UInt64 = 10) -> String
  {
    switch state.takeDuty(now: now, stagedCount: stagedCount, interval: interval) {
    case .done(.commit): "commit"
    case .done(.maintenance): "maintenance"
    case .done(.retry): "retry"
    case .done(.stop): "stop"
    case .waiting(until: let time): "until \(time.map { "\($0)" } ?? "a change")"
    }
  }

  /// A condition that makes a commit due again after each commit.
  enum Demand: CaseIterable, Sendable {
    case asked, full, elapsed
  }

  @Test(arguments: Demand.allCases)
  func `maintenance has its turn among commits that are always due, and the commits continue`(demand: Demand) {
    var state = WriterState()
    var duties: [String] = []
    for _ in 0..<10 * (WriterState.commitsInSequence + 1) {
      // A commit and a part of the maintenance both find more to maintain.
      state.needsMaintenance = true
      switch demand {
      case .asked: state.isCommitRequested = true
      case .full: state.isFull = true
      case .elapsed: break
      }
      duties.append(duty(&state, interval: demand == .elapsed ? 0 : 10))
    }
    let turn = Array(repeating: "commit", count: WriterState.commitsInSequence) + ["maintenance"]
    #expect(duties == Array(repeatElement(turn, count: 10).joined()))
  }

  @Test func `a request for a commit outlasts the turn of maintenance`() {
    var state = WriterState()
    state.needsMaintenance = true
    for _ in 0..<WriterState.commitsInSequence {
      state.isCommitRequested = true
      #expect(duty(&state) == "commit")
    }
    state.isCommitRequested = true
    #expect(duty(&state) == "maintenance")
    #expect(duty(&state) == "commit")
    #expect(duty(&state) == "until 10")
  }

  @Test func `maintenance follows the commit, and staged writes wait for their interval`() {
    var state = WriterState()
    #expect(duty(&state, stagedCount: 0) == "until a change")
    #expect(duty(&state, now: 5) == "until 15")
    state.needsMaintenance = true
    #expect(duty(&state, now: 6) == "maintenance")
    #expect(duty(&state, now: 7) == "until 15")
    state.needsMaintenance = true
    #expect(duty(&state, now: 15) == "commit")
    #expect(duty(&state, now: 16, stagedCount: 0) == "maintenance")
    #expect(duty(&state, now: 17, interval: .max) == "until a change")
    state.retryAt = 30
    state.needsMaintenance = true
    #expect(duty(&state, now: 18) == "until 30")
    state.isCommitRequested = true
    #expect(duty(&state, now: 19) == "retry")
    #expect(duty(&state, now: 30) == "retry")
    state.life = .stopping
    #expect(duty(&state, now: 31) == "stop")
  }

  @Test func `maintenance without room pauses, and commits do not`() {
    var state = WriterState()
    state.needsMaintenance = true
    state.maintenancePausedUntil = 20
    #expect(duty(&state, now: 1, stagedCount: 0) == "until 20")
    #expect(state.awaitsWrite)
    #expect(duty(&state, now: 5) == "until 15")
    #expect(!state.awaitsWrite)
    #expect(duty(&state, now: 15) == "commit")
    state.isCommitRequested = true
    #expect(duty(&state, now: 16, stagedCount: 0) == "commit")
    // A later request does not end the pause.
    state.needsMaintenance = true
    #expect(duty(&state, now: 17, interval: .max) == "until 20")
    #expect(duty(&state, now: 20, interval: .max) == "maintenance")
    #expect(duty(&state, now: 21, interval: .max) == "until a change")
    state.needsMaintenance = true
    #expect(duty(&state, now: 22, interval: .max) == "maintenance")
  }

  @Test func `a repair of the file does not wait for the end of a pause, and ends no later one`() {
    var state = WriterState()
    state.needsMaintenance = true
    state.needsRepair = true
    state.maintenancePausedUntil = 20
    #expect(duty(&state, now: 1, stagedCount: 0) == "maintenance")
    state.needsMaintenance = true
    state.maintenancePausedUntil = 20
    #expect(duty(&state, now: 2, stagedCount: 0) == "until 20")
  }

  @Test func `maintenance has its turn among commits that are always due after its pause`() {
    var state = WriterState()
    state.needsMaintenance = true
    state.maintenancePausedUntil = 1000
    for time in 0..<100 {
      state.isCommitRequested = true
      #expect(duty(&state, now: UInt64(time)) == "commit")
    }
    for _ in 0..<WriterState.commitsInSequence {
      state.isCommitRequested = true
      #expect(duty(&state, now: 1000) == "commit")
    }
    state.isCommitRequested = true
    #expect(duty(&state, now: 1000) == "maintenance")
  }
}
