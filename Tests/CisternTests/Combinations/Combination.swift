/// A combination of two operations on one key. The second operation meets the first, which is in progress, at a
/// suspension point. The cache kind and the initial situation of the key complete the combination.
struct Combination: Hashable, Sendable {
  /// The code that runs the second operation.
  enum Performer: Hashable, Sendable {
    /// A separate task.
    case anotherTask
    /// A callback that the first operation calls.
    case callback
  }

  let kind: CacheKind
  let operation: OperationInProgress
  let situation: Situation
  let point: SuspensionPoint
  let interference: Interference
  let performer: Performer

  /// All possible combinations.
  static let all: [Combination] = OperationInProgress.all.flatMap { operation in
    CacheKind.allCases.filter { operation.exists(in: $0) }.flatMap { kind in
      operation.situations(in: kind).flatMap { situation in
        operation.points(from: situation).flatMap { point in
          combinations(of: operation, in: kind, from: situation, at: point)
        }
      }
    }
  }

  private static func combinations(
    of operation: OperationInProgress, in kind: CacheKind, from situation: Situation, at point: SuspensionPoint
  ) -> [Combination] {
    guard point.exists(in: kind) else { return [] }
    var interferences = Interference.allCases.filter { $0.exists(in: kind) }
    // A value that only a pending edit shows has no tag yet.
    if case .edit = operation, situation == .absent { interferences.removeAll(where: \.removesTag) }
    return interferences.flatMap { interference -> [Combination] in
      performers(of: interference, at: point, in: kind).map { performer in
        Combination(
          kind: kind, operation: operation, situation: situation, point: point, interference: interference,
          performer: performer)
      }
    }
  }

  private static func performers(
    of interference: Interference, at point: SuspensionPoint, in kind: CacheKind
  ) -> [Performer] {
    let leavesKeyAlone = interference.leavesKeyAlone(in: kind)
    if point.forbidsWritingTheKey, point.isSynchronous {
      return interference.isSynchronous && leavesKeyAlone ? [.callback] : []
    }
    if point.isSynchronous { return interference.isSynchronous ? [.anotherTask] : [] }
    guard point.isCallback else { return [.anotherTask] }
    if point.forbidsWritingTheKey, !leavesKeyAlone { return [.anotherTask] }
    return [.anotherTask, .callback]
  }
}

extension Combination {
  /// Whether an operation writes two caches.
  var writesBoth: Bool {
    if case .both = operation { return true }
    return interference == .batchOfBoth || interference == .draftOfBoth
  }

  /// Whether the second operation only reads the key or does not use it.
  var leavesKeyAlone: Bool { interference.leavesKeyAlone(in: kind) }

  /// Whether an operation uses the other cache of the store.
  var usesBoth: Bool { writesBoth || interference == .removeByTagInStore }

  /// Whether an operation cancels a caller.
  var cancels: Bool { operation == .load(.leavingBulk) || interference.cancels }
}

extension Combination: CustomStringConvertible {
  var description: String {
    let place = performer == .callback ? "in the callback of" : "during"
    return "\(kind): \(interference) \(place) \(operation) of a key that was \(situation), at \(point)"
  }
}
