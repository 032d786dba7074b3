import CisternTesting

/// Whether some order of the operations, each within its own time, explains a history of a register that may forget at
/// any time, or not. Tries them all: for a handful of operations.
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
    // What never returned need never have happened.
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
      case .miss, .removal: next.value = nil  // A miss forgets, if there was something to forget.
      }
      if canFinish(from: next) { return true }
    }
    deadEnds.insert(position)
    return false
  }
}
