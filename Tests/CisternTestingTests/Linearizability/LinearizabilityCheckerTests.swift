import CisternTesting
import Testing

struct LinearizabilityCheckerTests {
  private typealias Operation = TimedOperation<RegisterModel.Operation>

  private func isRight(_ history: [TimedOperation<RegisterModel.Operation>], forgets: Bool = false) -> Bool {
    LinearizabilityChecker.check(history, against: RegisterModel(forgets: forgets)).isLinearizable
  }

  @Test func `an empty history is linearizable`() {
    #expect(isRight([]))
  }

  @Test func `sequential operations are judged by the model`() {
    #expect(
      isRight([
        .init(.missed, called: 0, returned: 1), .init(.set(1), called: 2, returned: 3),
        .init(.found(1), called: 4, returned: 5), .init(.updated(from: 1, to: 2), called: 6, returned: 7),
        .init(.removed, called: 8, returned: 9), .init(.updated(from: nil, to: nil), called: 10, returned: 11),
      ]))
    #expect(!isRight([.init(.found(1), called: 0, returned: 1)]))
    #expect(!isRight([.init(.set(1), called: 0, returned: 1), .init(.missed, called: 2, returned: 3)]))
    #expect(isRight([.init(.set(1), called: 0, returned: 1), .init(.missed, called: 2, returned: 3)], forgets: true))
  }

  @Test func `a stale read is found with the longest explained prefix`() throws {
    let history: [Operation] = [
      .init(.set(1), called: 0, returned: 1), .init(.set(2), called: 2, returned: 3),
      .init(.found(1), called: 4, returned: 5),
    ]
    let verdict = LinearizabilityChecker.check(history, against: RegisterModel(forgets: true))
    guard case .contradiction(let contradiction) = verdict else {
      Issue.record("\(verdict)")
      return
    }
    #expect(contradiction.explained == Array(history.prefix(2)))
    #expect(contradiction.state == 2)
    #expect(contradiction.unexplained == [history[2]])
    #expect(verdict.description.contains("none of found(1) [4, 5] can come"))
  }

  @Test func `a lost update is found`() {
    #expect(
      !isRight([
        .init(.updated(from: nil, to: 1), called: 0, returned: 5),
        .init(.updated(from: nil, to: 2), called: 0, returned: 5),
      ]))
    #expect(
      isRight([
        .init(.updated(from: 2, to: 1), called: 0, returned: 5),
        .init(.updated(from: nil, to: 2), called: 0, returned: 5),
      ]))
  }

  @Test func `an operation that never returned may have taken effect late or never`() {
    #expect(isRight([.init(.set(1), called: 0), .init(.missed, called: 5, returned: 6)]))
    #expect(
      isRight([
        .init(.set(1), called: 0), .init(.missed, called: 5, returned: 6), .init(.found(1), called: 7, returned: 8),
      ]))
    #expect(
      !isRight([
        .init(.set(1), called: 0), .init(.found(1), called: 5, returned: 6), .init(.missed, called: 7, returned: 8),
      ]))
  }

  @Test func `operations whose times touch are concurrent`() {
    #expect(isRight([.init(.set(1), called: 5, returned: 9), .init(.found(1), called: 0, returned: 5)]))
    #expect(!isRight([.init(.set(1), called: 6, returned: 9), .init(.found(1), called: 0, returned: 5)]))
  }

  @Test func `a search that exceeds its step limit is undecided`() {
    let history: [Operation] =
      (1...12).map { .init(.set($0), called: 0, returned: 100) } + [.init(.found(99), called: 0, returned: 100)]
    let verdict = LinearizabilityChecker.check(history, against: RegisterModel(forgets: false), stepLimit: 500)
    guard case .undecided(500) = verdict else {
      Issue.record("\(verdict)")
      return
    }
  }

  @Test func `a long history of few callers takes a proportional number of steps`() {
    // Four callers with operations that always overlap.
    var history: [Operation] = []
    for number in 0..<20_000 {
      let called = UInt64(number * 4)
      history.append(.init(number % 2 == 0 ? .set(number) : .found(number - 1), called: called, returned: called + 15))
    }
    let verdict = LinearizabilityChecker.check(history, against: RegisterModel(forgets: false), stepLimit: 2_000_000)
    #expect(verdict.isLinearizable, "\(verdict)")
  }

  @Test func `with forgetting, the checker agrees with the history checker on 30,000 random histories`() {
    agree(seeds: SeededSchedule.seeds(30_000))
  }

  @Test func `without forgetting, the checker agrees with exhaustive search on 20,000 random histories`() {
    var right = 0
    let seeds = SeededSchedule.seeds(20_000)
    for seed in seeds {
      var generator = SeededGenerator(seed: seed)
      let history = RandomHistory.plausible(&generator, forgets: false)
      let isRight = BruteForceChecker.isRight(history, forgets: false)
      guard self.isRight(history.map(Self.operation)) == isRight else {
        Issue.record("seed \(seed): \(isRight ? "right" : "wrong"), but found otherwise: \(history)")
        return
      }
      if isRight { right += 1 }
    }
    #expect(seeds.count < 1_000 || (right > seeds.count / 10 && right < seeds.count * 9 / 10), "\(right)")
  }

  private func agree(seeds: some Collection<UInt64>) {
    for seed in seeds {
      var generator = SeededGenerator(seed: seed)
      let history =
        generator.next(below: 2) == 0
        ? RandomHistory.arbitrary(&generator) : RandomHistory.plausible(&generator, forgets: true)
      let violations = HistoryChecker.violations(in: history)
      guard violations.isEmpty == isRight(history.map(Self.operation), forgets: true) else {
        Issue.record("seed \(seed): found \(violations), but the other checker not, in \(history)")
        return
      }
    }
  }

  private static func operation(_ operation: HistoryOperation<Int>) -> TimedOperation<RegisterModel.Operation> {
    let kind: RegisterModel.Operation =
      switch operation.kind {
      case .write(let value): .set(value)
      case .read(let value): .found(value)
      case .miss: .missed
      case .removal: .removed
      }
    return TimedOperation(kind, called: operation.called, returned: operation.returned)
  }
}
