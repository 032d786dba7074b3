import CisternTesting
import Testing

struct HistoryCheckerTests {
  private typealias Operation = HistoryOperation<Int>

  private func kinds(_ history: [HistoryOperation<Int>]) -> [HistoryViolation<Int>.Kind] {
    HistoryChecker.violations(in: history).map(\.kind)
  }

  @Test func `an empty history is valid`() {
    #expect(kinds([]) == [])
  }

  @Test func `a read of a value that was never written is found`() {
    #expect(kinds([.init(.read(1), called: 0, returned: 1)]) == [.valueFromNowhere])
  }

  @Test func `a read that returned before its write was called is found`() {
    #expect(
      kinds([.init(.read(1), called: 0, returned: 1), .init(.write(1), called: 2, returned: 3)]) == [.readBeforeWrite])
  }

  @Test func `a value written twice is found`() {
    #expect(
      kinds([.init(.write(1), called: 0, returned: 1), .init(.write(1), called: 2, returned: 3)])
        == [.valueWrittenTwice])
  }

  @Test func `a stale read is found and explained by the operations that contradict it`() throws {
    let history: [Operation] = [
      .init(.write(1), called: 0, returned: 1), .init(.write(2), called: 2, returned: 3),
      .init(.read(1), called: 4, returned: 5),
    ]
    let violation = try #require(HistoryChecker.violations(in: history).first)
    #expect(violation.kind == .stale)
    #expect(violation.operations == history)
    #expect(violation.description.contains("write(2) [2, 3]"))
  }

  @Test func `a read of a removed value is found`() {
    #expect(
      kinds([
        .init(.write(1), called: 0, returned: 1), .init(.removal, called: 2, returned: 3),
        .init(.read(1), called: 4, returned: 5),
      ]) == [.resurrected])
  }

  @Test func `a miss between two reads of one value is found`() {
    #expect(
      kinds([
        .init(.write(1), called: 0, returned: 9), .init(.read(1), called: 1, returned: 2),
        .init(.miss, called: 3, returned: 4), .init(.read(1), called: 5, returned: 6),
      ]) == [.resurrected])
  }

  @Test func `concurrent operations may take effect in either order`() {
    #expect(
      kinds([
        .init(.write(1), called: 0, returned: 10), .init(.write(2), called: 0, returned: 10),
        .init(.read(2), called: 1, returned: 2), .init(.read(1), called: 3, returned: 4),
        .init(.removal, called: 5, returned: 12), .init(.miss, called: 13, returned: 14),
      ]) == [])
  }

  @Test func `a write with an unknown result may take effect late or never`() {
    #expect(
      kinds([
        .init(.write(1), called: 0), .init(.miss, called: 5, returned: 6), .init(.read(1), called: 7, returned: 8),
      ])
        == [])
    #expect(kinds([.init(.write(1), called: 0), .init(.miss, called: 5, returned: 6)]) == [])
  }

  @Test func `the checker agrees with exhaustive search on 60,000 random histories`() {
    var right = 0
    let seeds = SeededSchedule.seeds(60_000)
    for seed in seeds {
      var generator = SeededGenerator(seed: seed)
      let history =
        generator.next(below: 2) == 0
        ? RandomHistory.arbitrary(&generator) : RandomHistory.plausible(&generator, forgets: true)
      let isRight = BruteForceChecker.isRight(history)
      let violations = HistoryChecker.violations(in: history)
      guard violations.isEmpty == isRight else {
        Issue.record("seed \(seed): \(isRight ? "right" : "wrong"), but found \(violations) in \(history)")
        return
      }
      if isRight { right += 1 }
    }
    // The agreement is significant only if both valid and invalid histories are frequent.
    #expect(seeds.count < 1_000 || (right > seeds.count / 5 && right < seeds.count * 4 / 5))
  }
}
