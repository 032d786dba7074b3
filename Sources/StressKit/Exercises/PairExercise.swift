import Cistern
import Synchronization

/// An exercise in which clients write pairs of keys, always together in a batch. The keys of a pair must have equal
/// values in every read, also after a restart.
final class PairExercise: Exercise {
  private struct Pair {
    let left: String
    let right: String
  }

  private static let pairs = (0..<32).map { Pair(left: "pair\($0)/left", right: "pair\($0)/right") }

  private let room = Room<String, UInt64>()
  private let numbers = Atomic<UInt64>(0)
  private let violations: ViolationLog

  init(violations: ViolationLog) {
    self.violations = violations
  }

  func open(in store: Store, isFirst: Bool) throws {
    room.move(to: try store.cache("pairs", of: UInt64.self, keyedBy: String.self))
    if isFirst { room.cache.removeAll() }
  }

  func perform(by client: Performer) async {
    let pair = Self.pairs[client.index(below: Self.pairs.count)]
    let way = client.index(below: 20)
    if way < 8 { return read(pair, client) }
    await client.measure {
      do {
        if way == 8 {
          try room.cache.batch { batch in
            batch.removeValue(forKey: pair.left)
            batch.removeValue(forKey: pair.right)
          }
        } else if way == 9 {
          try await room.cache.commitBatch { write(pair, to: &$0) }
        } else {
          try room.cache.batch { write(pair, to: &$0) }
        }
        return .batched
      } catch {
        return violations.judge(error, of: "\(pair.left): a batch")
      }
    }
  }

  private func write(_ pair: Pair, to batch: inout Batch<String, UInt64>) {
    let number = numbers.add(1, ordering: .relaxed).newValue
    batch.setValue(number, forKey: pair.left)
    batch.setValue(number, forKey: pair.right)
  }

  private func read(_ pair: Pair, _ client: Performer) {
    let cache = room.cache
    let start = Ticks.now()
    let first = cache.value(forKey: pair.left)
    let other = cache.value(forKey: pair.right)
    let again = cache.value(forKey: pair.left)
    client.tally.record(first == nil ? .missed : .memory, from: start, to: Ticks.now())
    report(PairRule.judge(first: first, other: other, firstAgain: again), pair)
  }

  func settle() async {
    for pair in Self.pairs {
      report(
        PairRule.judgeRest(room.cache.value(forKey: pair.left), room.cache.value(forKey: pair.right)), pair)
    }
  }

  private func report(_ wrong: String?, _ pair: Pair) {
    if let wrong { violations.report(.torn, "\(pair.left) and \(pair.right): \(wrong)") }
  }
}
