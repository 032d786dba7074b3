import CisternTesting
import Testing

@testable import StressKit

@Suite struct FetchLedgerTests {
  private let violations = ViolationLog()
  private let register: VersionRegister
  private let ledger: FetchLedger

  init() {
    register = VersionRegister(keyCount: 4, sample: HistorySample(keys: []), violations: violations)
    ledger = FetchLedger(register: register, violations: violations)
  }

  /// Runs `between` during a fetch of key 1, and then a second fetch of that key.
  private func overlap(
    cancelling: Bool = false, secondCalledAt: UInt64? = nil, _ between: () -> Void
  ) async throws {
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let (released, release) = AsyncStream.makeStream(of: Void.self)
    let first = Task {
      try await ledger.fetch(1, name: "one", calledAt: Ticks.now()) { _ in
        start.finish()
        for await _ in released {}
      }
    }
    for await _ in started {}
    between()
    if cancelling { first.cancel() }
    try await ledger.fetch(1, name: "one", calledAt: secondCalledAt ?? Ticks.now()) { _ in }
    release.finish()
    try await first.value
  }

  @Test func `two concurrent fetches of a key are a violation`() async throws {
    try await overlap {}
    #expect(violations.violations.map(\.rule) == [.fetchedTwice])
  }

  @Test func `a fetch may begin during one that lost its entry`() async throws {
    try await overlap { register.write(1, .nothing) { _ in } }
    try await overlap { register.clear {} }
    #expect(violations.count == 0)
  }

  @Test func `a fetch may begin while a cancelled one ends`() async throws {
    try await overlap(cancelling: true) {}
    #expect(violations.count == 0)
  }

  @Test func `the cancelled one of two fetches may have started last`() async throws {
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    try await ledger.fetch(1, name: "one", calledAt: Ticks.now()) { _ in
      let second = Task {
        try await ledger.fetch(1, name: "one", calledAt: Ticks.now()) { _ in
          start.finish()
          try await Task.sleep(for: .seconds(3600))
        }
      }
      for await _ in started {}
      second.cancel()
      _ = await second.result
    }
    #expect(violations.count == 0)
    #expect(ledger.count == 0)
  }

  @Test func `a flight that lost its entry may start last`() async throws {
    let early = Ticks.now()
    register.write(1, .value) { _ in }
    try await overlap(secondCalledAt: early) {}
    #expect(violations.count == 0)
  }

  @Test func `a write of another key excuses no second fetch`() async throws {
    try await overlap { register.write(2, .value) { _ in } }
    #expect(violations.count == 1)
  }

  @Test func `a write before the first fetch excuses no second fetch`() async throws {
    register.write(1, .value) { _ in }
    try await overlap {}
    #expect(violations.count == 1)
  }

  @Test func `fetches of different keys are independent`() async throws {
    try await ledger.fetch(1, name: "one", calledAt: Ticks.now()) { _ in
      try await ledger.fetch(2, name: "two", calledAt: Ticks.now()) { _ in }
    }
    #expect(violations.count == 0)
    #expect(ledger.count == 0)
  }
}
