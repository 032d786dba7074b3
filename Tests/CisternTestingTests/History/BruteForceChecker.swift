import CisternTesting

/// Decides by exhaustive search whether an order of the operations explains the history of a register. The register
/// may forget its value at any time if `forgets` is true. The search is feasible for a few operations.
struct BruteForceChecker {
  private struct Position: Hashable {
    var done: UInt32
    var value: Int?
  }

  private let history: [HistoryOperation<Int>]
  private let forgets: Bool
  private var deadEnds: Set<Position> = []

  static func isRight(_ history: [HistoryOperation<Int>], forgets: Bool = true) -> Bool {
    var checker = BruteForceChecker(history: history, forgets: forgets)
    return checker.canFinish(from: Position(done: 0, value: nil))
  }

  private init(history: [HistoryOperation<Int>], forgets: Bool) {
    precondition(history.count < 32)
    self.history = history
    self.forgets = forgets
  }

  private mutating func canFinish(from position: Position) -> Bool {
    let open = history.indices.filter { position.done & (1 << $0) == 0 }
    // An operation that never returned may not have taken effect.
    if open.allSatisfy({ history[$0].returned == .max }) { return true }
    if deadEnds.contains(position) { return false }
    for index in open {
      let operation = history[index]
      guard open.allSatisfy({ history[$0].returned >= operation.called }) else { continue }
      var next = Position(done: position.done | (1 << index), value: position.value)
      switch operation.kind {
      case .write(let value): next.value = value
      case .read(let value): if position.value != value { continue }
      case .miss where !forgets && position.value != nil: continue
      case .miss, .removal: next.value = nil  // A miss forgets the value, if there is one.
      }
      if canFinish(from: next) { return true }
    }
    deadEnds.insert(position)
    return false
  }
}
